//! Reader, laws and both parsers on arbitrary bytes: nothing panics, and the quick parser never takes what the full
//! one refuses.
#![no_main]

use exactness::cli::judging::judge_input;
use exactness::transcript::parse::{parse_for_laws, parse_line};
use exactness::transcript::{Arm, Reader};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let judged = judge_input("fuzz", bytes);
    let loaded = Arm::load(Path::new("fuzz"), Reader::new("fuzz", bytes));
    if let (Ok(judged), Ok(loaded)) = (&judged, &loaded) {
        assert_eq!(judged.cut.is_some(), loaded.cut.is_some());
    }
    let mut spare = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        assert_eq!(parse_for_laws(line, &mut spare).err(), parse_line(line).err());
    }
});
