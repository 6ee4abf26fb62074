//! What was ruled out, and by which runs; and what several arms say together. A negative result is a result.

use super::document::{Block, Section};
use crate::algebra::rows::RowsCompared;
use crate::records::experiment::Experiment;
use crate::records::gather::{From, Gathered};
use crate::records::planted;
use crate::results::bisect::Bisected;
use crate::results::stored::Arm;
use crate::results::{agreed, counted};

/// The most readings of one experiment.
const MOST_READINGS: usize = 12;

/// The section.
#[must_use]
pub fn section(all: &Gathered) -> Section {
    let mut items: Vec<String> = all.experiments.iter().flat_map(of).collect();
    items.extend(all.bisects.iter().filter_map(controlled));
    let mut blocks = vec![if items.is_empty() {
        Block::text("Nothing was ruled out by these inputs.")
    } else {
        Block::List { items }
    }];
    let readings = readings(all);
    if !readings.is_empty() {
        blocks.push(Block::text("What several arms say together:"));
        blocks.push(Block::List { items: readings });
    }
    Section::new("ruled-out", "What was ruled out, and by what", blocks)
}

/// The readings of several arms, by the words that `compare` has for them.
fn readings(all: &Gathered) -> Vec<String> {
    let own = all.experiments.iter().map(|one| (&one.folder, &one.judgement));
    let stored = all.judgements.iter().map(|one| (&one.file, &one.result));
    let told =
        own.chain(stored).flat_map(|(name, judgement)| {
            judgement.patterns.iter().take(MOST_READINGS).map(move |one| {
                format!("{name}: {}: {} ({}).", one.pattern, one.says, one.evidence.join("; "))
            })
        });
    told.collect()
}

/// The controls of a bisect, where all of them agree.
fn controlled(one: &From<Bisected>) -> Option<String> {
    let controls = &one.result.controls;
    let agree = !controls.is_empty() && controls.iter().all(|control| control.parts.is_none());
    let rows = controls.iter().fold(0, |sum: u64, control| sum.saturating_add(control.rows));
    agree.then(|| {
        format!(
            "{}: chance and watching: {} gave equal bytes in {}.",
            one.file,
            counted(controls.len(), "control"),
            counted(rows, "row")
        )
    })
}

fn of(one: &Experiment) -> Vec<String> {
    let folder = &one.folder;
    let mut items = Vec::new();
    let nulls: Vec<_> = one
        .runs
        .iter()
        .filter(|run| run.null.is_some_and(|(prompts, differing)| prompts > 0 && differing == 0))
        .collect();
    if !nulls.is_empty() {
        let labels: Vec<String> = nulls.iter().map(|run| run.label()).collect();
        items.push(format!(
            "{folder}: chance: {} gave the bytes of the run before, as far as recorded.",
            labels.join(", ")
        ));
    }
    let bookkept: Vec<&Arm> =
        one.judgement.arms.iter().filter(|arm| arm.compared.rounds > 0 && !broken(arm)).collect();
    let rounds: u64 = bookkept.iter().map(|arm| arm.compared.rounds).sum();
    if rounds > 0 {
        let laws = bookkept.iter().map(|arm| arm.checked.len()).min().unwrap_or(0);
        items.push(format!(
            "{folder}: bookkeeping: {} of {} {} the laws of accepting, emitting and rewinding ({}{} {} checkable).",
            counted(rounds, "round"),
            names(&bookkept),
            agreed(rounds, "keeps", "keep"),
            if bookkept.len() > 1 { "at least " } else { "" },
            counted(laws, "law"),
            agreed(laws, "was", "were")
        ));
    }
    let entering = |differs: bool| -> usize {
        let pairings =
            one.judgement.arms.iter().flat_map(|arm| &arm.sequences).filter_map(|one| one.against.as_ref());
        pairings.filter(|pairing| pairing.entering_state_differs == Some(differs)).count()
    };
    if entering(false) > 0 && entering(true) == 0 {
        items.push(format!(
            "{folder}: the state that enters round 0: equal digests in {}.",
            agreed(
                entering(false),
                "the one compared sequence".to_owned(),
                format!("all {} compared sequences", entering(false))
            )
        ));
    }
    // A fault was put into a planted arm, whatever it gave.
    let planted =
        |arm: &&Arm| one.runs.iter().any(|run| run.file == arm.file && !planted::of(&run.header).is_empty());
    let exact: Vec<&Arm> =
        one.judgement.arms.iter().filter(|arm| is_exact(arm)).filter(|arm| !planted(arm)).collect();
    if !exact.is_empty() {
        items.push(format!(
            "{folder}: a divergence of {} in these prompts: every recorded row has plain decoding's bytes.",
            names(&exact)
        ));
    }
    items
}

/// A law of its own is broken: what only parts from its reference keeps its books.
fn broken(arm: &Arm) -> bool {
    let between = crate::algebra::outcome::BETWEEN;
    arm.sequences
        .iter()
        .flat_map(|one| one.finding.iter().chain(&one.later))
        .any(|breach| !between.contains(&breach.law.as_str()))
}

fn is_exact(arm: &Arm) -> bool {
    if arm.compared.rounds > 0 && arm.compared.proposed == 0 {
        return false;
    }
    let mut pairings = arm.sequences.iter().filter_map(|one| one.against.as_ref()).peekable();
    pairings.peek().is_some()
        && pairings.all(|pairing| {
            pairing.verdict.exit_code() == 0 && pairing.rows.as_ref().is_some_and(RowsCompared::all_equal)
        })
}

fn names(arms: &[&Arm]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for arm in arms.iter().map(|arm| arm.arm.as_str()) {
        if !names.contains(&arm) {
            names.push(arm);
        }
    }
    names.join(", ")
}
