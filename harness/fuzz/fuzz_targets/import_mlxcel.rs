//! Server logs hold whatever a model said; the importer may refuse a log, never panic on it.
#![no_main]

use exactness::transcript::import::{Extras, mlxcel};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(bursts) = mlxcel::parse(&text) {
        let _ = mlxcel::import(bursts, &Extras::default(), &[]).map(|imported| imported.summary());
    }
});
