//! The judge of one arm: takes its lines one by one and keeps no more than each open sequence needs.
//!
//! A round is judged when the next line of its sequence arrives, because some laws are milder in the last round.
//! Answers are the same whether sequences are interleaved or one after another.

use super::Verdict;
use super::judgement::{ArmJudgement, Breach, Compared, SequenceJudgement, scene};
use super::laws::{EndAt, Facts, Fault, LAWS, Next, On, Outcome, RoundAt, State, TokenAt, TokenLine};
use super::ledger::{Ledger, Tally, When};
use super::sequence::Open;
use super::window::{Answer, Asked, Window};
use crate::algebra::laws::Question;
use crate::transcript::order::Order;
use crate::transcript::parse::Spare;
use crate::transcript::{Arm, ArmKind, Cut, Footer, Header, Line, LineFault, Round};
use std::collections::BTreeMap;

/// Judged rounds kept for reuse.
const MOST_SPARE: usize = 1 << 12;

type Checks<F> = Vec<(usize, F)>;

/// Judges one arm.
#[derive(Debug)]
pub struct Judge {
    arm: String,
    facts: Facts,
    order: Order,
    checks: CheckLists,
    open: BTreeMap<i64, Open>,
    ledgers: BTreeMap<i64, Ledger>,
    tally: Tally,
    window: Window,
    compared: Compared,
    incomplete: Option<Cut>,
    /// A server counted tokens; its sums can be judged without a stream.
    reported: bool,
    spare: Spare,
}

/// The registry, sorted by where a law is judged.
#[derive(Debug, Default)]
struct CheckLists {
    token: Checks<fn(&TokenAt) -> Outcome>,
    round: Checks<fn(&RoundAt) -> Outcome>,
    end: Checks<fn(&EndAt) -> Outcome>,
}

impl CheckLists {
    fn new() -> Self {
        let mut lists = Self::default();
        for (index, law) in LAWS.iter().enumerate() {
            for on in law.on {
                match on {
                    On::Token(check) => lists.token.push((index, *check)),
                    On::Round(check) => lists.round.push((index, *check)),
                    On::End(check) => lists.end.push((index, *check)),
                    On::BetweenArms => {}
                }
            }
        }
        lists
    }
}

/// Where in the file, and in which round, a law was judged.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    sequence: i64,
    ordinal: u64,
    line: Option<u64>,
    round: Option<&'a Round>,
}

/// Judges an arm that is in memory.
#[must_use]
pub fn judge_arm(arm: &Arm) -> ArmJudgement {
    let mut judge = Judge::new(&arm.header);
    for sequence in &arm.sequences {
        for line in sequence.lines() {
            judge.take(None, line);
        }
    }
    judge.finish(&arm.path.display().to_string(), arm.cut, 0)
}

impl Judge {
    /// Starts with the header, the first line of the file.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        let facts = Facts::new(header);
        let open = facts.prompts.keys().map(|sequence| (*sequence, Open::new(*sequence, &facts))).collect();
        Self {
            arm: header.arm.clone(),
            order: Order::after_header(),
            checks: CheckLists::new(),
            open,
            ledgers: BTreeMap::new(),
            tally: Tally::default(),
            window: Window::default(),
            compared: Compared::default(),
            incomplete: None,
            reported: false,
            spare: Vec::new(),
            facts,
        }
    }

    /// Takes the line with this number.
    ///
    /// # Errors
    /// When the line may not stand there; see [`Order`].
    pub fn line(&mut self, number: u64, line: Line) -> Result<(), LineFault> {
        self.order.check(number, &line)?;
        self.take(Some(number), line);
        Ok(())
    }

    /// Rounds that were judged, for whoever parses the next ones: a long run would otherwise spend a third of its
    /// time in the allocator.
    pub fn take_spare(&mut self) -> Spare {
        std::mem::take(&mut self.spare)
    }

    fn take(&mut self, number: Option<u64>, line: Line) {
        match line {
            Line::Header(_) => {}
            Line::Prefill(prefill) => {
                self.compared.rows += u64::from(prefill.row.is_some());
                self.token(prefill.sequence, number, TokenLine::Prefill(&prefill));
            }
            Line::Step(step) => {
                self.compared.rows += u64::from(step.row.is_some());
                self.token(step.sequence, number, TokenLine::Step(&step));
            }
            Line::Round(round) => {
                let mut open = self.open(round.sequence);
                self.release(&mut open, Next::More);
                open.hold(number, round);
                self.open.insert(open.state.sequence, open);
            }
            Line::Footer(footer) => self.footer(number, &footer),
        }
    }

    /// Takes a sequence out to work on it.
    fn open(&mut self, sequence: i64) -> Open {
        self.open.remove(&sequence).unwrap_or_else(|| Open::new(sequence, &self.facts))
    }

    fn token(&mut self, sequence: i64, number: Option<u64>, line: TokenLine) {
        let mut open = self.open(sequence);
        self.release(&mut open, Next::More);
        open.before_token(line);
        let place = Place { sequence, ordinal: open.next_ordinal(), line: number, round: None };
        for index in 0..self.checks.token.len() {
            let (law, check) = self.checks.token[index];
            let outcome = check(&TokenAt { facts: &self.facts, state: &open.state, line });
            self.enter(law, place, outcome);
        }
        open.after_token(line, &self.facts);
        self.open.insert(sequence, open);
    }

    /// Judges the round that waited to know what follows it.
    fn release(&mut self, open: &mut Open, next: Next) {
        let Some((number, round)) = open.release() else { return };
        let place = Place {
            sequence: round.sequence,
            ordinal: open.next_ordinal(),
            line: number,
            round: Some(&round),
        };
        for index in 0..self.checks.round.len() {
            let (law, check) = self.checks.round[index];
            let outcome = check(&RoundAt { facts: &self.facts, state: &open.state, round: &round, next });
            self.enter(law, place, outcome);
        }
        self.count(&round);
        if self.facts.shares_rounds() {
            let at = RoundAt { facts: &self.facts, state: &open.state, round: &round, next };
            let walk = if at.is_sane() { at.walk() } else { round.accepted };
            for asked in self.window.add(&round, walk) {
                self.answered(asked, Answer::Yes);
            }
        }
        open.after_round(&round, &self.facts);
        if self.spare.len() < MOST_SPARE {
            self.spare.push(round);
        }
    }

    fn footer(&mut self, number: Option<u64>, footer: &Footer) {
        let mut open = self.open(footer.sequence);
        self.release(&mut open, Next::Footer(footer));
        let place =
            Place { sequence: footer.sequence, ordinal: open.next_ordinal(), line: number, round: None };
        for index in 0..self.checks.end.len() {
            let (law, check) = self.checks.end[index];
            let outcome = check(&EndAt { facts: &self.facts, state: &open.state, footer });
            self.enter(law, place, outcome);
        }
        if !footer.complete && self.incomplete.is_none() {
            self.incomplete = Some(Cut::NotComplete { sequence: footer.sequence });
        }
        self.reported |= footer.usage.is_some_and(|usage| usage.completion_tokens > Some(0));
        let told = footer.tokens.as_ref().map(Vec::len);
        let recorded = || open.state.assembled().map(<[_]>::len);
        self.close(&open.state, told.or_else(recorded).or_else(|| spelled(footer)));
    }

    /// Counts a sequence whose last line was seen; its state is no longer needed.
    fn close(&mut self, state: &State, told: Option<usize>) {
        let tokens = told.or_else(|| state.assembled().map(<[_]>::len)).unwrap_or(0);
        self.compared.tokens += tokens as u64;
        self.compared.steps += state.steps.unsigned_abs();
        self.compared.sequences += 1;
        self.ledgers.entry(state.sequence).or_default();
    }

    fn count(&mut self, round: &Round) {
        let compared = &mut self.compared;
        let proposed = round.draft.len() as u64;
        compared.rounds += 1;
        compared.proposed += proposed;
        compared.accepted = compared.accepted.saturating_add(u64::try_from(round.accepted).unwrap_or(0));
        compared.rewinds +=
            u64::from(u64::try_from(round.accepted).is_ok_and(|accepted| accepted < proposed));
        compared.rows += round.rows.as_ref().map_or(0, Vec::len) as u64;
    }

    fn enter(&mut self, law: usize, place: Place, outcome: Outcome) {
        let when = (place.ordinal, law);
        match outcome {
            Outcome::Holds => self.tally.checked(law),
            Outcome::Silent => {}
            Outcome::Missing(keys) => self.tally.missing(law, keys),
            Outcome::Broken(fault) => {
                self.tally.checked(law);
                self.breach(when, place, *fault);
            }
            Outcome::Ask(asked) => {
                let (question, fault) = *asked;
                let Some(round) = place.round else { return };
                let scene = scene(round);
                let (sequence, line) = (place.sequence, place.line);
                let asked = Asked { sequence, round: round.round, when, question, fault, line, scene };
                if let Some((asked, answer)) = self.window.ask(asked) {
                    self.answered(asked, answer);
                }
            }
        }
    }

    /// A clamped window excuses what another row explains; a leak is proven by it.
    fn answered(&mut self, asked: Asked, answer: Answer) {
        let law = asked.when.1;
        match (&asked.question, answer) {
            (_, Answer::Unknown) => self.tally.missing(law, &["the other rows of the round"]),
            (Question::Clamped { known: false, .. }, Answer::Yes) => self.tally.missing(law, &["window"]),
            (Question::Clamped { .. }, Answer::Yes) | (Question::Leaked { .. }, Answer::No) => {
                self.tally.checked(law);
            }
            (Question::Clamped { .. }, Answer::No) | (Question::Leaked { .. }, Answer::Yes) => {
                self.tally.checked(law);
                let place = Place {
                    sequence: asked.sequence,
                    ordinal: asked.when.0,
                    line: asked.line,
                    round: Some(&asked.scene),
                };
                self.breach(asked.when, place, asked.fault);
            }
        }
    }

    fn breach(&mut self, when: When, place: Place, fault: Fault) {
        let law = &LAWS[when.1];
        let breach = Breach {
            law: law.name,
            round: place.round.map(|round| round.round),
            row: fault.row,
            expected: fault.expected,
            found: fault.found,
            says: fault.says,
            line: place.line,
            times: 1,
            scene: place.round.map(scene),
        };
        let severity = fault.severity.unwrap_or(law.severity);
        self.ledgers.entry(place.sequence).or_default().enter(when, severity, breach);
    }

    /// The judgement of the arm in `file`; `cut` says that the file ends in half a line.
    #[must_use]
    pub fn finish(mut self, file: &str, cut: Option<Cut>, bytes: u64) -> ArmJudgement {
        let open = std::mem::take(&mut self.open);
        let unfinished = open.keys().next().map(|sequence| Cut::NoFooter { sequence: *sequence });
        for (_, mut open) in open {
            self.release(&mut open, Next::Nothing);
            self.close(&open.state, None);
        }
        let cut = cut.or(unfinished);
        for (asked, answer) in self.window.close(cut.is_none()) {
            self.answered(asked, answer);
        }
        self.note_absent_lines();
        self.compared.bytes = bytes;
        self.settle(file, cut)
    }

    /// Laws that nothing was asked of because their lines are not there at all.
    fn note_absent_lines(&mut self) {
        let (line, wanted): (&[&str], fn(&On) -> bool) = match self.facts.kind {
            ArmKind::Speculative if self.compared.rounds == 0 => {
                (&["round"], |on| matches!(on, On::Round(_)))
            }
            ArmKind::Classic if self.compared.steps == 0 => (&["step"], |on| matches!(on, On::Token(_))),
            _ => return,
        };
        for (index, law) in LAWS.iter().enumerate() {
            if self.tally.is_untouched(index) && law.on.iter().any(wanted) {
                self.tally.missing(index, line);
            }
        }
    }

    fn settle(self, file: &str, cut: Option<Cut>) -> ArmJudgement {
        let cut = cut.or(self.incomplete);
        let (checked, not_checkable) = self.tally.settle();
        let ledgers = self.ledgers.into_iter();
        let sequences: Vec<SequenceJudgement> =
            ledgers.map(|(sequence, ledger)| ledger.settle(sequence)).collect();
        let verdict = match cut {
            _ if sequences.iter().any(|sequence| sequence.finding.is_some()) => Verdict::Inconsistent,
            Some(_) => Verdict::CutRun,
            // Laws about lengths and reasons hold of nothing too.
            None if checked.is_empty() || self.compared.is_nothing() && !self.reported => Verdict::Vacuous,
            None => Verdict::Consistent,
        };
        ArmJudgement {
            arm: self.arm,
            file: file.to_owned(),
            verdict,
            cut: cut.map(|cut| cut.to_string()),
            compared: self.compared,
            checked,
            not_checkable,
            sequences,
        }
    }
}

/// The length of a stream that a server told as strings or log-probabilities and not as ids. Usage is no stream.
fn spelled(footer: &Footer) -> Option<usize> {
    let strings = footer.token_strings.as_ref().map(Vec::len);
    strings.or_else(|| footer.logprobs.as_ref().map(Vec::len))
}
