//! A remedy of which the trail has lost its first line: what was asked and proven is not known, so that nothing beside
//! it is judged. Its runs are of settings that were only tried, and would look like arms that fail.

use super::error::RecordError;
use super::gather::whole;
use super::input::Input;
use super::interrupted::{belongs, folders, set_runs_aside};
use super::kind::Kind;
use crate::results::bisect::{Trail, TrailError};
use crate::results::remedy::steps::{QUESTION, setting};
use serde_json::Value;
use std::collections::BTreeSet;

/// A search whose trail cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The trail.
    pub file: String,
    /// What is wrong with it, without a full stop.
    pub why: String,
    /// Its transcripts, which are not judged.
    pub runs: usize,
}

/// Finds trails that have lost their beginning; of those of a remedy that has no result, the runs are set aside.
///
/// # Errors
/// When a trail cannot be read from the disk.
pub(super) fn set_aside(inputs: &mut [Input]) -> Result<Vec<Unreadable>, RecordError> {
    let done: BTreeSet<String> = folders(inputs, &[Kind::Remedy, Kind::Bisect]);
    let mut found = Vec::new();
    for place in 0..inputs.len() {
        if inputs[place].kind != Kind::Trail {
            continue;
        }
        let bytes = whole(&inputs[place])?;
        let Some(why) = beheaded(&bytes) else { continue };
        inputs[place].kind = Kind::Unreadable;
        let (folder, file) = (inputs[place].folder().to_owned(), inputs[place].name.clone());
        let of_remedy = inputs.iter().any(|input| belongs(input, &folder)) || names_remedy(&bytes);
        if !done.contains(&folder) && of_remedy {
            found.push(Unreadable { file, why, runs: set_runs_aside(inputs, &folder) });
        }
    }
    Ok(found)
}

/// Why a trail has no beginning; nothing where it has one, whatever else is wrong.
fn beheaded(bytes: &[u8]) -> Option<String> {
    match Trail::parse(bytes) {
        Ok(None) => Some("it ends in its first line, which says what was asked".to_owned()),
        Err(TrailError::Foreign) => {
            Some("its first line, which says what was asked, is missing or damaged".to_owned())
        }
        Err(error @ TrailError::Line { line: 1, .. }) => Some(error.to_string()),
        _ => None,
    }
}

/// What is left of the text has a remedy's words.
fn names_remedy(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let step = |line: &str| Some(serde_json::from_str::<Value>(line).ok()?["step"].as_str()?.to_owned());
    text.contains(QUESTION) || text.lines().filter_map(step).any(|step| setting(&step).is_some())
}
