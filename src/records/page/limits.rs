//! What the record cannot show: laws that could not be asked, bytes that were not kept, and what its author adds.

use super::document::{Block, Section};
use crate::records::experiment::{Experiment, Run};
use crate::records::gather::Gathered;
use crate::results::stored::Arm;
use crate::transcript::ArmKind;
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
    let lacks = |one: &&Experiment| one.runs.iter().all(|run| !run.keeps_bytes);
    let folders: Vec<&str> = all.experiments.iter().filter(lacks).map(|one| one.folder.as_str()).collect();
    if folders.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "Row bytes were not kept in {}: rows are told apart by digest, and flips are judged from the noted entries alone (run-arm --rows keeps them).",
        folders.join(", ")
    )]
}

/// Laws that could not be judged, by what was missing, each with the files in which that is so: in the others it was.
fn lacking(all: &Gathered) -> Vec<String> {
    let mut wanted: BTreeMap<String, Vec<(&str, Vec<&str>)>> = BTreeMap::new();
    for arm in all.experiments.iter().flat_map(|one| &one.judgement.arms) {
        for lack in &arm.not_checkable {
            let laws = wanted.entry(lack.missing.join(" or ")).or_default();
            match laws.iter_mut().find(|(law, _)| *law == lack.law) {
                Some((_, files)) => files.push(&arm.file),
                None => laws.push((&lack.law, vec![&arm.file])),
            }
        }
    }
    let sentence = |(keys, laws): (String, Vec<(&str, Vec<&str>)>)| {
        let told: Vec<String> = alike(laws)
            .into_iter()
            .map(|(laws, files)| format!("{} ({})", laws.join(", "), whose(all, &files)))
            .collect();
        format!("Not checkable for want of {keys}: {}.", told.join("; "))
    };
    wanted.into_iter().map(sentence).collect()
}

/// Laws that could not be judged in the same files.
fn alike<'a>(laws: Vec<(&'a str, Vec<&'a str>)>) -> Vec<(Vec<&'a str>, Vec<&'a str>)> {
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (law, files) in laws {
        match groups.iter_mut().find(|(_, known)| *known == files) {
            Some((laws, _)) => laws.push(law),
            None => groups.push((vec![law], files)),
        }
    }
    groups
}

/// `all files`, `all speculative arms`, or folder by folder.
fn whose(all: &Gathered, files: &[&str]) -> String {
    let arms = || all.experiments.iter().flat_map(|one| one.judgement.arms.iter().map(move |arm| (one, arm)));
    let has = |arm: &Arm| files.contains(&arm.file.as_str());
    if let Some(kind) = one_kind(&arms().collect::<Vec<_>>(), has) {
        return format!("all {kind}");
    }
    let told = all.experiments.iter().filter(|one| one.judgement.arms.iter().any(has)).map(|one| {
        let arms: Vec<_> = one.judgement.arms.iter().map(|arm| (one, arm)).collect();
        if let Some(kind) = one_kind(&arms, has) {
            return format!("all {kind} of {}", one.folder);
        }
        let labels: Vec<String> =
            arms.iter().filter(|(_, arm)| has(arm)).map(|(one, arm)| label(one, arm)).collect();
        format!("{} in {}", labels.join(", "), one.folder)
    });
    told.collect::<Vec<_>>().join("; ")
}

/// What several files are that are all of their kind; nothing for another choice of them.
fn one_kind(arms: &[(&Experiment, &Arm)], has: impl Fn(&Arm) -> bool) -> Option<&'static str> {
    let kind = |one: &Experiment, arm: &Arm| run(one, arm).map(|run| run.header.kind);
    if arms.iter().all(|(_, arm)| has(arm)) {
        return Some("files");
    }
    let kinds = [(ArmKind::Speculative, "speculative arms"), (ArmKind::Classic, "runs of plain decoding")];
    let all_of = |wanted: ArmKind| arms.iter().all(|(one, arm)| has(arm) == (kind(one, arm) == Some(wanted)));
    kinds.into_iter().find(|(wanted, _)| all_of(*wanted)).map(|(_, says)| says)
}

fn run<'a>(one: &'a Experiment, arm: &Arm) -> Option<&'a Run> {
    one.runs.iter().find(|run| run.file == arm.file)
}

/// An arm's label with its repeat; a file without a header has its name alone.
fn label(one: &Experiment, arm: &Arm) -> String {
    run(one, arm).map_or_else(|| arm.file.clone(), Run::label)
}

/// Equal bytes speak of what was drawn.
fn few_draws(all: &Gathered) -> Option<String> {
    (!all.parities.is_empty()).then(|| {
        "Op parity speaks of the drawn inputs: bytes that part in one draw part; equal bytes say that these draws did not.".to_owned()
    })
}
