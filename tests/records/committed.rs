//! The repository's own records are what their data gives.

use super::{check, repository};
use std::fs;

#[test]
fn every_committed_record_is_what_its_data_gives() {
    let folders = fs::read_dir(repository("reports")).unwrap().map(|entry| entry.unwrap().path());
    let records: Vec<_> = folders.filter(|folder| folder.join("record.json").is_file()).collect();
    assert!(records.len() >= 2, "{records:?}");
    for record in records {
        let found = check(&record);
        assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    }
}
