//! What the record cannot show: laws that could not be asked, bytes that were not kept, and what its author adds.

use super::document::{Block, Section};
use crate::records::gather::Gathered;
use std::collections::BTreeMap;

/// The section; `notes` are the author's.
#[must_use]
pub fn section(all: &Gathered, notes: &[String]) -> Section {
    let mut items: Vec<String> = notes.to_vec();
    items.extend(bytes_not_kept(all));
    items.extend(lacking(all));
    items.extend(few_draws(all));
    if items.is_empty() {
        items.push(
            "No limit follows from the inputs alone; the sections above say what is missing.".to_owned(),
        );
    }
    Section::new("limits", "Limits", vec![Block::List { items }])
}

/// Without kept bytes a row can be called different, and not how far.
fn bytes_not_kept(all: &Gathered) -> Vec<String> {
    let lacks = |one: &&crate::records::experiment::Experiment| one.runs.iter().all(|run| !run.keeps_bytes);
    let folders: Vec<&str> = all.experiments.iter().filter(lacks).map(|one| one.folder.as_str()).collect();
    if folders.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "Row bytes were not kept in {}: rows are told apart by digest, and flips are judged from the noted entries alone (run-arm --rows keeps them).",
        folders.join(", ")
    )]
}

/// Laws that could not be judged somewhere, by what was missing.
fn lacking(all: &Gathered) -> Vec<String> {
    let mut wanted: BTreeMap<String, (Vec<&str>, usize)> = BTreeMap::new();
    for arm in all.experiments.iter().flat_map(|one| &one.judgement.arms) {
        for lack in &arm.not_checkable {
            let (laws, times) = wanted.entry(lack.missing.join(" or ")).or_default();
            if !laws.contains(&lack.law.as_str()) {
                laws.push(&lack.law);
            }
            *times += 1;
        }
    }
    let sentence = |(keys, (laws, _)): (String, (Vec<&str>, usize))| {
        format!("Not checkable somewhere for want of {keys}: {}.", laws.join(", "))
    };
    wanted.into_iter().map(sentence).collect()
}

/// Equal bytes speak of what was drawn.
fn few_draws(all: &Gathered) -> Option<String> {
    (!all.parities.is_empty()).then(|| {
        "Op parity speaks of the drawn inputs: bytes that part in one draw part; equal bytes say that these draws did not.".to_owned()
    })
}
