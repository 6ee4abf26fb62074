//! Answers come over a network; the importer may refuse one, never panic on it.
#![no_main]

use exactness::transcript::import::{Extras, openai};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(answers) = openai::parse(&text) {
        let _ = answers.import(&Extras { width: Some(4), ..Extras::default() });
    }
});
