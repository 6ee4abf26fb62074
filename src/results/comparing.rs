//! Comparing arms with their reference: who is whose repeat, which laws end a comparison, and the readings.
//!
//! This is where the pure judgement meets the side files: two rows are in memory at a time, whatever the length of
//! the run.

use super::judgement::{ArmJudgement, JUDGEMENT_VERSION, Judgement, Pattern};
use crate::algebra::between::{self, Answer};
use crate::algebra::divergence;
use crate::algebra::outcome::{BETWEEN, strongest};
use crate::algebra::pairing::{self, Terms};
use crate::algebra::readings::{self, Observation, Parted};
use crate::algebra::rows::RowPair;
use crate::algebra::{Pairing, Side, Verdict};
use crate::transcript::format::FinishReason;
use crate::transcript::kept::KeptError;
use crate::transcript::{Arm, Kept, Sequence};
use std::collections::BTreeSet;

/// An arm that was read and judged by its own laws.
#[derive(Debug, Clone)]
pub struct Contestant {
    /// What was read.
    pub arm: Arm,
    /// What its own laws said.
    pub judged: ArmJudgement,
}

/// The lines of a sequence as the comparing side takes them.
#[must_use]
pub fn side(sequence: &Sequence) -> Side<'_> {
    Side {
        sequence: sequence.sequence,
        prefill: sequence.prefill.as_ref(),
        steps: &sequence.steps,
        rounds: &sequence.rounds,
        footer: sequence.footer.as_ref(),
    }
}

/// Compares every arm with the reference of its prompt.
///
/// # Errors
/// When kept rows cannot be read back.
pub fn compare(
    arms: Vec<Contestant>,
    mut references: Vec<Contestant>,
    margin: Option<f64>,
) -> Result<Judgement, KeptError> {
    let arms = without_repeats_of(&mut references, arms);
    let mut field = Field::new(references, margin);
    field.hold(arms)?;
    Ok(field.judgement())
}

/// The arms; a repeat of a reference goes to its run, whose null arm it is, unless nothing else is to be compared.
fn without_repeats_of(references: &mut Vec<Contestant>, arms: Vec<Contestant>) -> Vec<Contestant> {
    let (repeats, others): (Vec<_>, Vec<_>) =
        arms.into_iter().partition(|one| run_of(references, &one.arm).is_some());
    if others.is_empty() {
        return repeats;
    }
    references.extend(repeats);
    others
}

/// References, and what is found as arms are held against them, one after the other where memory is short.
#[derive(Debug)]
pub struct Field {
    references: Vec<Contestant>,
    broken: Vec<Null>,
    margin: Option<f64>,
    judged: Vec<(ArmJudgement, Heard)>,
    observed: Vec<(i64, Observation)>,
}

/// Whether an arm's verdict counts even if it says nothing of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Always,
    IfItSpeaks,
}

impl Field {
    /// Holds the references' repeats against their runs, before any arm.
    #[must_use]
    pub fn new(mut references: Vec<Contestant>, margin: Option<f64>) -> Self {
        let broken = null_arms(&mut references);
        // A repeat is no reference: from here on only its judgement counts, and a run may be as large as memory.
        references
            .iter_mut()
            .filter(|one| is_repeat(&one.arm))
            .for_each(|one| one.arm.sequences = Vec::new());
        Self { references, broken, margin, judged: Vec::new(), observed: Vec::new() }
    }

    /// The reference of one sequence of an arm.
    #[must_use]
    pub fn reference(&self, arm: &Arm, sequence: i64) -> Option<&Sequence> {
        let against = Against { references: &self.references, broken: &self.broken, margin: self.margin };
        against.reference(arm, sequence).map(|reference| reference.sequence)
    }

    /// Compares arms with their references. A run and its repeats have to come together.
    ///
    /// # Errors
    /// When kept rows cannot be read back.
    pub fn hold(&mut self, mut arms: Vec<Contestant>) -> Result<(), KeptError> {
        let own = null_arms(&mut arms);
        let repeats: Vec<bool> =
            arms.iter().map(|contestant| run_of(&arms, &contestant.arm).is_some()).collect();
        for (index, mut contestant) in arms.into_iter().enumerate() {
            let heard = if repeats[index] { Heard::IfItSpeaks } else { Heard::Always };
            if heard == Heard::Always {
                let against =
                    Against { references: &self.references, broken: &self.broken, margin: self.margin };
                let broken: Vec<&Null> = own.iter().filter(|null| null.run == index).collect();
                against.compare(&mut contestant, &broken, &mut self.observed)?;
                self.note_null_arm(&mut contestant);
            }
            self.judged.push((contestant.judged, heard));
        }
        Ok(())
    }

    /// A repeat that was held against its own run: the law was asked of both.
    fn note_null_arm(&mut self, repeat: &mut Contestant) {
        let Some(run) = run_of(&self.references, &repeat.arm) else { return };
        for judged in [&mut repeat.judged, &mut self.references[run].judged] {
            judged.not_checkable.retain(|lack| lack.law != "null-arm");
            judged.ask("null-arm");
        }
    }

    /// Everything that was held against the references, then the references.
    #[must_use]
    pub fn judgement(self) -> Judgement {
        let references = self.references.into_iter().map(|one| (one.judged, Heard::IfItSpeaks));
        let all: Vec<(ArmJudgement, Heard)> = self.judged.into_iter().chain(references).collect();
        let heard = all.iter().filter(|(arm, heard)| *heard == Heard::Always || speaks(arm));
        let verdict = strongest(heard.map(|(arm, _)| arm.verdict)).unwrap_or(Verdict::NotRun);
        let arms = all.into_iter().map(|(arm, _)| arm).collect();
        Judgement { version: JUDGEMENT_VERSION, verdict, arms, patterns: patterns(&self.observed) }
    }
}

/// A reference or a repeat of which only the footer is known has nothing to check by itself, and need not. An arm that
/// should have been compared always speaks: one without a sequence was compared with nothing.
fn speaks(arm: &ArmJudgement) -> bool {
    arm.verdict != Verdict::Vacuous || arm.sequences.iter().any(|sequence| sequence.against.is_some())
}

fn is_repeat(arm: &Arm) -> bool {
    arm.header.repeat.unwrap_or(0) > 0
}

/// The run that this repeat repeats. A repeat whose run was not given is an arm like any other: left out of the
/// comparison, it would be called right without being looked at.
fn run_of(all: &[Contestant], repeat: &Arm) -> Option<usize> {
    let is_run = |other: &Contestant| !is_repeat(&other.arm) && same_arm(&other.arm, repeat);
    if is_repeat(repeat) { all.iter().position(is_run) } else { None }
}

/// A repeat that is not equal to its run.
#[derive(Debug)]
struct Null {
    /// The run.
    run: usize,
    sequence: i64,
}

/// Holds every repeat against its run.
fn null_arms(all: &mut [Contestant]) -> Vec<Null> {
    let mut found: Vec<(usize, i64, Answer)> = Vec::new();
    for repeat in all.iter().filter(|contestant| is_repeat(&contestant.arm)) {
        let Some(run) = run_of(all, &repeat.arm) else { continue };
        for sequence in &repeat.arm.sequences {
            let first = all[run].arm.sequences.iter().find(|first| first.sequence == sequence.sequence);
            let answer = first.map_or(Answer::Missing("sequence"), |first| {
                between::null_arm(&side(first), &side(sequence))
            });
            found.push((run, sequence.sequence, answer));
        }
    }
    let asked: BTreeSet<usize> = found.iter().map(|(run, ..)| *run).collect();
    for (index, contestant) in
        all.iter_mut().enumerate().filter(|(_, contestant)| !is_repeat(&contestant.arm))
    {
        if asked.contains(&index) {
            contestant.judged.ask("null-arm");
        } else {
            contestant.judged.lack("null-arm", "a run with `repeat` 1");
        }
    }
    found
        .into_iter()
        .filter_map(|(run, sequence, answer)| note_null(&mut all[run], run, sequence, answer))
        .collect()
}

fn note_null(contestant: &mut Contestant, run: usize, sequence: i64, answer: Answer) -> Option<Null> {
    match answer {
        Answer::Holds => None,
        Answer::Missing(key) => {
            contestant.judged.lack("null-arm", key);
            None
        }
        Answer::Broken(broken) => {
            let lines = contestant.arm.sequences.iter().find(|first| first.sequence == sequence)?;
            contestant.judged.break_law(&side(lines), &broken);
            contestant.judged.verdict = strongest([contestant.judged.verdict, Verdict::NotComparable])
                .unwrap_or(Verdict::NotComparable);
            Some(Null { run, sequence })
        }
    }
}

/// Same arm, same prompts: a run and its repeat.
fn same_arm(run: &Arm, repeat: &Arm) -> bool {
    let (left, right) = (&run.header, &repeat.header);
    left.arm == right.arm
        && left.kind == right.kind
        && left.width == right.width
        && left.prompts == right.prompts
}

/// What an arm is compared against.
struct Against<'a> {
    references: &'a [Contestant],
    broken: &'a [Null],
    margin: Option<f64>,
}

/// The reference of one sequence.
struct Reference<'a> {
    index: usize,
    arm: &'a Arm,
    sequence: &'a Sequence,
}

impl<'a> Against<'a> {
    fn compare(
        &self,
        contestant: &mut Contestant,
        nulls: &[&Null],
        observed: &mut Vec<(i64, Observation)>,
    ) -> Result<(), KeptError> {
        let Contestant { arm, judged } = contestant;
        judged.ask("prompt");
        for sequence in &arm.sequences {
            let lines = side(sequence);
            let differs_from_itself = nulls.iter().any(|null| null.sequence == sequence.sequence);
            let pairing = self.pairing(arm, sequence, differs_from_itself)?;
            if pairing.verdict != Verdict::NotComparable {
                BETWEEN.iter().skip(2).for_each(|law| judged.ask(law));
            }
            observed.push((sequence.sequence, observe(arm, &lines, &pairing, differs_from_itself)));
            judged.add_pairing(&lines, pairing);
        }
        judged
            .checked
            .retain(|law| !judged.not_checkable.iter().any(|lack| lack.law == *law && BETWEEN.contains(law)));
        Ok(())
    }

    fn pairing(
        &self,
        arm: &Arm,
        sequence: &Sequence,
        differs_from_itself: bool,
    ) -> Result<Pairing, KeptError> {
        let number = sequence.sequence;
        let Some(reference) = self.reference(arm, number) else {
            // Of a repeat only its prompts are still there.
            let has = |one: &Contestant| one.arm.header.prompts.iter().any(|one| one.sequence == number);
            let note = match self.references.iter().find(|one| is_repeat(&one.arm) && has(one)) {
                Some(repeat) => format!("{} is a repeat: name the run that it repeats", repeat.judged.file),
                None => format!("no reference has a sequence {number}"),
            };
            return Ok(pairing::ended(None, Some(note)));
        };
        let answer = between::prompt(arm.prompt(number), reference.arm.prompt(number));
        if let Answer::Broken(broken) = answer {
            return Ok(pairing::ended(Some(broken), None));
        }
        if let Some(rival) = self.rival(&reference, number) {
            let note = format!(
                "the references {} and {rival} answer this prompt with other tokens: name the one that is plain decoding",
                self.references[reference.index].judged.file
            );
            return Ok(pairing::ended(None, Some(note)));
        }
        if differs_from_itself {
            return Ok(pairing::ended(
                None,
                Some("the arm differs from its own repeat: not compared".to_owned()),
            ));
        }
        if self.broken.iter().any(|null| null.run == reference.index && null.sequence == number) {
            let note = "the reference differs from its own repeat: not compared".to_owned();
            return Ok(pairing::ended(None, Some(note)));
        }
        let mut pairing = self.streams(arm, sequence, &reference)?;
        if is_repeat(arm) && same_arm(reference.arm, arm) {
            as_null_arm(&mut pairing, reference.sequence, sequence);
        }
        if let Answer::Missing(key) = answer {
            pairing.without_prompt(key);
        }
        if aborted(sequence) && aborted(reference.sequence) {
            pairing.notes.push("both runs were aborted: they are compared as far as they go".to_owned());
        }
        if speculated(reference.arm, &side(reference.sequence)) {
            let note = "the reference speculates itself: a fault of both sides does not show; compare with plain decoding";
            pairing.notes.push(note.to_owned());
        }
        Ok(pairing)
    }

    fn streams(
        &self,
        arm: &Arm,
        sequence: &Sequence,
        reference: &Reference<'a>,
    ) -> Result<Pairing, KeptError> {
        let lines = side(sequence);
        let terms = Terms {
            speculates: speculated(arm, &lines),
            prompt: between::prompt_length(arm.prompt(sequence.sequence), &lines),
            margin: self.margin,
        };
        let (mut left, mut right) = (Kept::beside(&reference.arm.path), Kept::beside(&arm.path));
        pairing::compare(&lines, &side(reference.sequence), terms, |rows: &RowPair<'_>| {
            if !left.has(rows.reference) || !right.has(rows.arm) {
                return Ok(None);
            }
            Ok(left.bytes(rows.reference)?.zip(right.bytes(rows.arm)?))
        })
    }

    /// Another reference of the same prompt whose stream is another: the verdict would follow from which is named
    /// first.
    fn rival(&self, reference: &Reference<'a>, number: i64) -> Option<&str> {
        let parts = |other: &Sequence| {
            let compared = divergence::streams(&side(other), &side(reference.sequence));
            compared.is_some_and(|compared| compared.parting.is_some())
        };
        let others = self.references.iter().enumerate().filter(|(index, one)| {
            *index != reference.index
                && !is_repeat(&one.arm)
                && between::prompt(one.arm.prompt(number), reference.arm.prompt(number)) == Answer::Holds
        });
        let mut rivals = others.filter(|(_, one)| {
            one.arm.sequences.iter().any(|sequence| sequence.sequence == number && parts(sequence))
        });
        rivals.next().map(|(_, one)| one.judged.file.as_str())
    }

    /// The first reference with the same prompt, else the first that has the sequence at all.
    fn reference(&self, arm: &Arm, number: i64) -> Option<Reference<'a>> {
        let runs = self.references.iter().enumerate().filter(|(_, contestant)| !is_repeat(&contestant.arm));
        let having = runs.filter_map(|(index, contestant)| {
            let sequence = contestant.arm.sequences.iter().find(|sequence| sequence.sequence == number)?;
            Some(Reference { index, arm: &contestant.arm, sequence })
        });
        let mut having: Vec<Reference<'a>> = having.collect();
        let same = |candidate: &Reference<'_>| {
            between::prompt(arm.prompt(number), candidate.arm.prompt(number)) == Answer::Holds
        };
        let place = having.iter().position(same).unwrap_or(0);
        (!having.is_empty()).then(|| having.swap_remove(place))
    }
}

/// A repeat that is compared with its own run alone. Where they part is told as of any arm, but it is no effect of
/// speculation, and a run that differs from its repeat is comparable with nothing.
fn as_null_arm(pairing: &mut Pairing, first: &Sequence, repeat: &Sequence) {
    pairing.null_arm = true;
    if let Answer::Broken(broken) = between::null_arm(&side(first), &side(repeat)) {
        pairing.broken = vec![broken];
        pairing.verdict = Verdict::NotComparable;
    }
}

fn aborted(sequence: &Sequence) -> bool {
    let reason = sequence.footer.as_ref().and_then(|footer| footer.finish_reason);
    reason == Some(FinishReason::Aborted)
}

/// By its header, or because a round verified more than one row whatever the header says.
fn speculated(arm: &Arm, lines: &Side<'_>) -> bool {
    between::speculates(arm.header.width, arm.header.kind) || lines.rounds.iter().any(|round| round.width > 1)
}

fn observe(arm: &Arm, lines: &Side<'_>, pairing: &Pairing, differs_from_itself: bool) -> Observation {
    let recorded = lines.rounds.iter().map(|round| round.width).max();
    let parted = pairing.first.as_ref().map(|first| Parted {
        index: first.index,
        round: first.round,
        row: first.row,
        after_rewind: lines.after_first_rewind(),
        entering_state_differs: pairing.entering_state_differs,
    });
    Observation {
        arm: arm.header.arm.clone(),
        width: arm.header.width.or(recorded).unwrap_or(1),
        differs_from_itself,
        parted,
        comparable: pairing.verdict != Verdict::NotComparable && pairing.verdict != Verdict::Vacuous,
    }
}

/// The readings, sequence by sequence: an index moves with the width only over one prompt.
fn patterns(observed: &[(i64, Observation)]) -> Vec<Pattern> {
    let sequences: BTreeSet<i64> = observed.iter().map(|(sequence, _)| *sequence).collect();
    let several = sequences.len() > 1;
    let mut patterns = Vec::new();
    for sequence in sequences {
        let of_sequence = observed.iter().filter(|(number, _)| *number == sequence);
        let arms: Vec<Observation> = of_sequence.map(|(_, observation)| observation.clone()).collect();
        for reading in readings::read(&arms) {
            let prefix = if several { format!("sequence {sequence}: ") } else { String::new() };
            patterns.push(Pattern {
                pattern: reading.word.to_owned(),
                says: prefix + &reading.says,
                evidence: reading.evidence,
            });
        }
    }
    patterns
}
