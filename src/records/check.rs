//! Whether a record is what its data gives: first the data's digests, which name the file that was changed, then every
//! byte of what is made from it.

use super::error::RecordError;
use super::input;
use super::settings::{Datum, Stored};
use super::write::{Made, make, stale};
use std::path::{Path, PathBuf};

/// What does not agree, one sentence each; nothing where all does.
///
/// # Errors
/// When there is no record, or its data cannot be read.
pub fn check(record: &Path) -> Result<Vec<String>, RecordError> {
    let Some(stored) = Stored::read(record)? else {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(RecordError::Read { path: record.join(super::settings::FILE), source });
    };
    let settings = stored.settings();
    let folders = input::located(&settings.inputs, record)?;
    let changed = data(&stored, &folders, record)?;
    if !changed.is_empty() {
        return Ok(changed);
    }
    let made = make(&settings, record)?;
    Ok(outputs(&made, record))
}

/// Files that were changed, taken away or added since the record was made.
fn data(stored: &Stored, folders: &[PathBuf], record: &Path) -> Result<Vec<String>, RecordError> {
    let there = input::find(folders, record)?;
    let mut says = Vec::new();
    for Datum { file, sha256, .. } in &stored.data {
        match there.iter().find(|input| input.name == *file) {
            None => says.push(format!("{file}: is missing")),
            Some(input) if input.sha256 != *sha256 => {
                says.push(format!("{file}: its SHA-256 is not the one in the record"));
            }
            Some(_) => {}
        }
    }
    let new = there.iter().filter(|input| stored.data.iter().all(|datum| datum.file != input.name));
    says.extend(new.map(|input| format!("{}: is not in the record", input.name)));
    Ok(says)
}

/// Files of the record that are not what the data gives.
#[must_use]
pub fn outputs(made: &Made, record: &Path) -> Vec<String> {
    let mut says = Vec::new();
    for (name, expected) in &made.files {
        match std::fs::read(record.join(name)) {
            Err(error) => says.push(format!("{name}: {error}")),
            Ok(found) if found != *expected => {
                says.push(format!(
                    "{name}: differs from what its data gives, first in line {}",
                    line(&found, expected)
                ));
            }
            Ok(_) => {}
        }
    }
    says.extend(stale(made, record).iter().map(|name| format!("{name}: is no part of the record")));
    says
}

/// The first line in which two texts differ, counted from 1.
fn line(left: &[u8], right: &[u8]) -> usize {
    let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    left[..common].split(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(line(b"a\nb\nc", b"a\nx\nc"), 2);
        assert_eq!(line(b"a\n", b"a\nb"), 2);
    }
}
