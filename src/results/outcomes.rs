//! How each run of an experiment came out, and how they come out together.
//!
//! A reference is not compared with anything, a repeat is compared with its own first run, and only an arm is compared
//! with plain decoding. One column of verdicts for all three would say less than it seems to.

use super::Judgement;
use super::arms::ArmRun;
use super::comparing::{Contestant, side};
use super::{agreed, counted};
use crate::algebra::between::{self, Answer};
use crate::algebra::pairing::{self, Terms};
use crate::algebra::states::{FirstState, StatesCompared};
use crate::algebra::{Pairing, Side, Verdict};
use serde::Serialize;
use std::convert::Infallible;
use std::iter::Sum;

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Plain decoding, which arms are compared with.
    Reference,
    /// A repeat, compared with the first run of its own arm.
    NullArm,
    /// A speculative arm, compared with plain decoding.
    Arm,
}

/// How one run came out.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// `classic`, `w4`.
    pub arm: String,
    /// 0 for the arm's first run.
    pub repeat: u32,
    /// What it is for.
    pub role: Role,
    /// How it ended.
    pub verdict: Verdict,
    /// Prompts with the same text as what it is compared with.
    pub identical: usize,
    /// Prompts compared.
    pub prompts: usize,
    /// Where prompts part, in order of the prompts.
    pub first_differences: Vec<PartedAt>,
    /// Logit rows, counted apart from the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Counted>,
    /// Where the first of the rows with other bytes stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_row: Option<PartedAt>,
    /// What is kept after a round, where it was digested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<Counted>,
    /// The first of the states with other bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_state: Option<StateAt>,
    /// Rounds that rejected a proposal.
    pub rewinds: u64,
}

/// A state with other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StateAt {
    /// The prompt's number.
    pub prompt: i64,
    /// The round that left it behind.
    pub round: Option<i64>,
    /// Positions that it holds.
    pub positions: i64,
}

/// Where one prompt's streams or rows part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PartedAt {
    /// The prompt's number.
    pub prompt: i64,
    /// Stream index of the first token, or of the token whose row, differs.
    pub token: usize,
}

/// Rows or states compared, and those with other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Recorded on both sides, up to the first difference.
    pub compared: usize,
    /// With other bytes.
    pub differ: usize,
}

/// What a repeat showed about its arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NullArm {
    file: String,
    prompts: usize,
    differing: usize,
    rows: Option<Counted>,
    states: Option<Counted>,
}

impl NullArm {
    /// The repeat's file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Prompts, and those of them at which the repeat differs from its run.
    #[must_use]
    pub const fn prompts(&self) -> (usize, usize) {
        (self.prompts, self.differing)
    }
}

/// Holds every repeat against the first run of its arm, by the law `null-arm`.
#[must_use]
pub fn null_arms(contestants: &[Contestant]) -> Vec<NullArm> {
    let repeats = contestants.iter().filter(|one| one.arm.header.repeat.unwrap_or(0) > 0);
    repeats.map(|repeat| null_arm(contestants, repeat)).collect()
}

fn null_arm(contestants: &[Contestant], repeat: &Contestant) -> NullArm {
    let first = contestants.iter().find(|one| {
        let (first, repeat) = (&one.arm.header, &repeat.arm.header);
        first.repeat.unwrap_or(0) == 0 && first.arm == repeat.arm
    });
    let mut found = NullArm {
        file: repeat.judged.file.clone(),
        prompts: repeat.arm.sequences.len(),
        differing: 0,
        rows: None,
        states: None,
    };
    for sequence in &repeat.arm.sequences {
        let before =
            first.and_then(|first| first.arm.sequences.iter().find(|one| one.sequence == sequence.sequence));
        // A sequence without a partner was not shown to be equal.
        let Some(before) = before else {
            found.differing += 1;
            continue;
        };
        found.differing += usize::from(between::null_arm(&side(before), &side(sequence)) != Answer::Holds);
        found.count(&side(before), &side(sequence));
    }
    found
}

impl NullArm {
    /// Adds the rows and states that a sequence and its repeat both recorded, by their digests.
    fn count(&mut self, first: &Side<'_>, repeat: &Side<'_>) {
        let terms = Terms { prompt: between::prompt_length(None, first), ..Terms::default() };
        let Ok(pairing) = pairing::compare(repeat, first, terms, |_| Ok::<_, Infallible>(None));
        add(&mut self.rows, pairing.rows.map(|rows| (rows.rows, rows.bytes_differ)));
        add(&mut self.states, pairing.states.map(|states| (states.states, states.differ())));
    }
}

/// Adds what one sequence has to the sum, if it has any.
fn add(sum: &mut Option<Counted>, more: Option<(usize, usize)>) {
    let more = more.map(|(compared, differ)| Counted { compared, differ });
    if more.is_some() {
        *sum = Some([*sum, more].into_iter().flatten().sum());
    }
}

impl Sum for Counted {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self { compared: 0, differ: 0 }, |sum, one| Self {
            compared: sum.compared + one.compared,
            differ: sum.differ + one.differ,
        })
    }
}

impl PartedAt {
    /// `12`, and with several prompts `prompt 3, 12`.
    #[must_use]
    pub fn place(&self, prompts: usize) -> String {
        if prompts > 1 { format!("prompt {}, {}", self.prompt, self.token) } else { self.token.to_string() }
    }

    /// `prompt 3, token 12`.
    fn named(self) -> String {
        format!("prompt {}, token {}", self.prompt, self.token)
    }
}

impl Outcome {
    /// Looks a run up in what was judged.
    #[must_use]
    pub fn of(run: &ArmRun, judgement: &Judgement, nulls: &[NullArm]) -> Self {
        let judged = judgement.arms.iter().find(|arm| arm.file == run.file);
        let mut outcome = Self {
            arm: run.arm.clone(),
            repeat: run.repeat,
            role: if run.width.is_some() { Role::Arm } else { Role::Reference },
            verdict: judged.map_or(Verdict::NotRun, |arm| arm.verdict),
            identical: 0,
            prompts: 0,
            first_differences: Vec::new(),
            rows: None,
            first_row: None,
            states: None,
            first_state: None,
            rewinds: judged.map_or(0, |arm| arm.compared.rewinds),
        };
        if run.width.is_some() && run.drafted == 0 && outcome.verdict == Verdict::Identical {
            outcome.verdict = Verdict::Vacuous;
        }
        if let Some(null) = nulls.iter().find(|null| null.file == run.file) {
            outcome.take_null(null);
        } else if let Some(arm) = judged {
            let sequences = arm.sequences.iter();
            outcome.take_pairings(sequences.filter_map(|one| Some((one.sequence, one.against.as_deref()?))));
        }
        outcome
    }

    fn take_null(&mut self, null: &NullArm) {
        self.role = Role::NullArm;
        (self.rows, self.states) = (null.rows, null.states);
        self.prompts = null.prompts;
        self.identical = null.prompts - null.differing;
        if self.verdict == Verdict::Consistent {
            self.verdict = if null.differing == 0 { Verdict::Identical } else { Verdict::NotComparable };
        }
    }

    fn take_pairings<'a>(&mut self, pairings: impl Iterator<Item = (i64, &'a Pairing)>) {
        for (prompt, pairing) in pairings {
            self.prompts += 1;
            self.identical += usize::from(pairing.verdict == Verdict::Identical);
            let first = pairing.first.as_ref();
            self.first_differences.extend(first.map(|first| PartedAt { prompt, token: first.index }));
            if let Some(rows) = &pairing.rows {
                add(&mut self.rows, Some((rows.rows, rows.bytes_differ)));
                let first = rows.first.as_ref().map(|first| PartedAt { prompt, token: first.index });
                self.first_row = self.first_row.or(first);
            }
            if let Some(states) = &pairing.states {
                self.take_states(prompt, states);
            }
        }
    }

    fn take_states(&mut self, prompt: i64, states: &StatesCompared) {
        add(&mut self.states, Some((states.states, states.differ())));
        let place = |first: &FirstState| StateAt { prompt, round: first.round, positions: first.positions };
        self.first_state = self.first_state.or(states.first.as_ref().map(place));
    }

    /// `classic`, `w4 repeat 1`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.repeat {
            0 => self.arm.clone(),
            repeat => format!("{} repeat {repeat}", self.arm),
        }
    }

    /// Some row or state has other bytes.
    fn bytes_differ(&self) -> bool {
        [self.rows, self.states].into_iter().flatten().any(|counted| counted.differ > 0)
    }

    /// The cell of the table.
    #[must_use]
    pub fn word(&self) -> String {
        match (self.role, self.verdict) {
            (Role::Reference, Verdict::Consistent) => "reference".to_owned(),
            (Role::NullArm, Verdict::NotComparable) => "null arm: differs".to_owned(),
            (Role::NullArm, verdict) => format!("null arm: {verdict}"),
            (_, verdict) => verdict.to_string(),
        }
    }
}

/// How the experiment ends.
///
/// The judge's word stands, but for three cases that it cannot see from one arm at a time: where plain decoding's
/// logits are no numbers its text is none either, speculative arms of which none proposed a token have not tried
/// speculation, and plain decoding alone was compared with its repeat.
#[must_use]
pub fn verdict(runs: &[ArmRun], outcomes: &[Outcome], judged: Verdict) -> Verdict {
    if judged.exit_code() != 0 {
        return judged;
    }
    if blank_rows(runs) > 0 {
        return Verdict::Vacuous;
    }
    let arms: Vec<&ArmRun> = runs.iter().filter(|run| run.width.is_some()).collect();
    if !arms.is_empty() {
        return if arms.iter().all(|run| run.drafted == 0) { Verdict::Vacuous } else { judged };
    }
    let mut nulls = outcomes.iter().filter(|outcome| outcome.role == Role::NullArm).peekable();
    let compared = nulls.peek().is_some();
    if compared && nulls.all(|null| null.verdict == Verdict::Identical) { Verdict::Identical } else { judged }
}

/// Rows of plain decoding without a finite best entry.
fn blank_rows(runs: &[ArmRun]) -> u64 {
    runs.iter().filter(|run| run.width.is_none()).map(|run| run.blank_rows).sum()
}

/// What the verdict alone does not say, one sentence a fact.
#[must_use]
pub fn sentences(runs: &[ArmRun], outcomes: &[Outcome], verdict: Verdict) -> Vec<String> {
    let arms = || outcomes.iter().filter(|outcome| outcome.role == Role::Arm);
    let mut says: Vec<String> = arms().filter_map(of_prompts).chain(arms().filter_map(of_rows)).collect();
    says.extend(arms().filter_map(of_states));
    if arms().any(|arm| arm.verdict == Verdict::Identical && arm.bytes_differ()) {
        let what = if arms().any(|arm| arm.states.is_some()) { "rows and states" } else { "rows" };
        says.push(format!("The verdict is about the text; {what} are counted apart."));
    }
    let silent = runs.iter().filter(|run| run.width.is_some()).all(|run| run.drafted == 0);
    if verdict == Verdict::Vacuous && silent {
        says.push(
            "No arm proposed a token, so nothing was speculated; equal text says nothing about it."
                .to_owned(),
        );
    } else if arms().any(|arm| arm.verdict == Verdict::Vacuous) {
        says.push(
            "Where an arm proposed nothing, equal text says nothing: give it more tokens, or a drafter that proposes \
             there, as --drafter oracle or cycle:1,2."
                .to_owned(),
        );
    }
    if let blank @ 1.. = blank_rows(runs) {
        says.push(format!(
            "{} of plain decoding {} no finite best logit, so its text says nothing: see to the weights or the --dtype.",
            counted(blank, "row"),
            agreed(blank, "has", "have")
        ));
    }
    says
}

/// `N of M prompts identical` and the distribution of first differences.
fn of_prompts(outcome: &Outcome) -> Option<String> {
    if outcome.first_differences.is_empty() || outcome.prompts < 2 {
        return None;
    }
    let Outcome { identical, prompts, .. } = outcome;
    let mut tokens: Vec<usize> = outcome.first_differences.iter().map(|first| first.token).collect();
    tokens.sort_unstable();
    Some(format!(
        "{}: {identical} of {prompts} prompts identical; {}.",
        outcome.label(),
        distribution(&tokens)
    ))
}

/// Few first differences one by one, many by their quartiles; `tokens` is sorted.
fn distribution(tokens: &[usize]) -> String {
    let listed = |tokens: &[usize]| tokens.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match tokens {
        [token] => format!("the other parts at token {token}"),
        few if few.len() <= 8 => format!("the others part at tokens {}", listed(few)),
        many => {
            let end = many.len() - 1;
            let quartiles = [many[end / 4], many[end / 2], many[end * 3 / 4]];
            let (least, greatest) = (many[0], many[end]);
            format!(
                "{} part, the first at token {least}, the last at {greatest}, quartiles {}",
                many.len(),
                listed(&quartiles)
            )
        }
    }
}

/// Rows with other bytes than plain decoding's.
fn of_rows(outcome: &Outcome) -> Option<String> {
    let Counted { compared, differ } = outcome.rows.filter(|rows| rows.differ > 0)?;
    let rows = if compared == 1 { "row has" } else { "rows have" };
    let tokens = if outcome.first_differences.is_empty() {
        "all tokens are equal"
    } else {
        "rows are compared up to each prompt's first difference"
    };
    let place = outcome.first_row.map(|first| format!(", the first at {}", first.named()));
    Some(format!(
        "{}: {differ} of {compared} {rows} other bytes than plain decoding's{}; {tokens}.",
        outcome.label(),
        place.unwrap_or_default()
    ))
}

/// States with other bytes than plain decoding's.
fn of_states(outcome: &Outcome) -> Option<String> {
    let Counted { compared, differ } = outcome.states.filter(|states| states.differ > 0)?;
    let states = if compared == 1 { "state has" } else { "states have" };
    let place = outcome.first_state.map(|first| {
        let round = first.round.map_or_else(String::new, |round| format!("after round {round}, "));
        format!(", the first of prompt {} {round}with {} positions", first.prompt, first.positions)
    });
    Some(format!(
        "{}: {differ} of {compared} {states} other bytes than plain decoding's at the same position{}.",
        outcome.label(),
        place.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::{Counted, Outcome, PartedAt, Role, StateAt};
    use super::{distribution, of_prompts, of_rows, of_states, sentences, verdict};
    use crate::algebra::{Difference, Verdict};
    use crate::results::arms::ArmRun;
    use std::path::Path;

    fn outcome(parted: &[usize], prompts: usize) -> Outcome {
        let first =
            |(prompt, token): (usize, &usize)| PartedAt { prompt: prompt.try_into().unwrap(), token: *token };
        Outcome {
            arm: "w4".to_owned(),
            repeat: 0,
            role: Role::Arm,
            verdict: Verdict::Identical,
            identical: prompts - parted.len(),
            prompts,
            first_differences: parted.iter().enumerate().map(first).collect(),
            rows: None,
            first_row: None,
            states: None,
            first_state: None,
            rewinds: 0,
        }
    }

    fn run(width: Option<usize>, drafted: u64) -> ArmRun {
        ArmRun { drafted, ..ArmRun::new("x".to_owned(), 0, width, Path::new("x.jsonl")) }
    }

    #[test]
    fn few_differences_are_listed_and_many_summed_up() {
        let one = of_prompts(&outcome(&[57], 4)).unwrap();
        insta::assert_snapshot!(one, @"w4: 3 of 4 prompts identical; the other parts at token 57.");
        let few = of_prompts(&outcome(&[57, 3], 4)).unwrap();
        insta::assert_snapshot!(few, @"w4: 2 of 4 prompts identical; the others part at tokens 3, 57.");
        assert!(of_prompts(&outcome(&[], 4)).is_none() && of_prompts(&outcome(&[5], 1)).is_none());
        let many: Vec<usize> = (1..=9).collect();
        insta::assert_snapshot!(distribution(&many), @"9 part, the first at token 1, the last at 9, quartiles 3, 5, 7");
    }

    #[test]
    fn rows_are_said_apart_from_the_text() {
        let rows = Some(Counted { compared: 256, differ: 252 });
        let first_row = Some(PartedAt { prompt: 2, token: 4 });
        let equal = of_rows(&Outcome { rows, first_row, ..outcome(&[], 4) }).unwrap();
        insta::assert_snapshot!(equal, @"w4: 252 of 256 rows have other bytes than plain decoding's, the first at prompt 2, token 4; all tokens are equal.");
        let first_state = Some(StateAt { prompt: 2, round: Some(7), positions: 71 });
        let states = Some(Counted { compared: 64, differ: 3 });
        let states = of_states(&Outcome { states, first_state, ..outcome(&[], 4) }).unwrap();
        insta::assert_snapshot!(states, @"w4: 3 of 64 states have other bytes than plain decoding's at the same position, the first of prompt 2 after round 7, with 71 positions.");
        let parted = of_rows(&Outcome { rows, ..outcome(&[5], 4) }).unwrap();
        assert!(!parted.contains("all tokens are equal"), "{parted}");
        assert!(
            of_rows(&Outcome { rows: Some(Counted { compared: 9, differ: 0 }), ..outcome(&[], 1) }).is_none()
        );
    }

    #[test]
    fn an_experiment_without_a_proposal_is_vacuous() {
        let judged = |runs: &[ArmRun]| verdict(runs, &[], Verdict::Identical);
        assert_eq!(judged(&[run(None, 0), run(Some(1), 0)]), Verdict::Vacuous);
        assert_eq!(judged(&[run(None, 0), run(Some(1), 0), run(Some(4), 3)]), Verdict::Identical);
        let differs = Verdict::Differs(Difference::Undecided);
        assert_eq!(verdict(&[run(None, 0), run(Some(1), 0)], &[], differs), differs);
    }

    #[test]
    fn text_chosen_from_no_numbers_is_vacuous() {
        let runs = [ArmRun { blank_rows: 2, ..run(None, 0) }, run(Some(4), 3)];
        assert_eq!(verdict(&runs, &[], Verdict::Identical), Verdict::Vacuous);
        let says = sentences(&runs, &[], Verdict::Vacuous);
        assert!(says.iter().any(|one| one.starts_with("2 rows of plain decoding")), "{says:?}");
        // What a planted or overflowing block computes is for the comparison to find.
        let runs = [run(None, 0), ArmRun { blank_rows: 2, ..run(Some(4), 3) }];
        assert_eq!(verdict(&runs, &[], Verdict::Identical), Verdict::Identical);
    }

    #[test]
    fn plain_decoding_alone_is_identical_when_its_repeats_are() {
        let null = |verdict| Outcome { role: Role::NullArm, verdict, ..outcome(&[], 1) };
        let ended = |outcomes: &[Outcome]| verdict(&[run(None, 0)], outcomes, Verdict::Consistent);
        assert_eq!(ended(&[null(Verdict::Identical)]), Verdict::Identical);
        assert_eq!(ended(&[null(Verdict::Identical), null(Verdict::NotComparable)]), Verdict::Consistent);
        assert_eq!(ended(&[]), Verdict::Consistent);
    }
}
