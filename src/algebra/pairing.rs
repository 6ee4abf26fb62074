//! One sequence of an arm against the same sequence of its reference: what was compared, where they part, and how
//! the flip is judged. Rows come through a closure, so that this stays free of files.

use super::between::{self, Answer, Broken};
use super::divergence::{self, Compared, Unit};
use super::near_tie::{Judged, Margin};
use super::quantum::{self, Drift};
use super::rows::{BytePair, RowPair, RowsCompared, Scan};
use super::side::Side;
use super::states::{self, StatesCompared};
use super::{Difference, Verdict};
use serde::Serialize;

/// Raw bytes of a row pair: the reference's and the arm's.
pub type RawPair = Option<(Vec<u8>, Vec<u8>)>;

/// What comparing one sequence gave.
#[derive(Debug, Clone, Serialize)]
pub struct Pairing {
    /// How it ended.
    pub verdict: Verdict,
    /// What was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Equal ids, strings or bytes from the start.
    pub equal: usize,
    /// Tokens past the prompt that were compared: up to and with the first difference.
    pub past_prompt: usize,
    /// Length of the arm's stream.
    pub arm: usize,
    /// Length of the reference's stream.
    pub reference: usize,
    /// Where they part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
    /// The rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsCompared>,
    /// The states after steps and rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<StatesCompared>,
    /// Reported log-probabilities before the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The flip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flip: Option<Judged>,
    /// The margin that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Margin>,
    /// The state entering round 0 differs, where both are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entering_state_differs: Option<bool>,
    /// The arm is the reference's own repeat.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub null_arm: bool,
    /// Remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Laws between arms that do not hold.
    #[serde(skip)]
    pub broken: Vec<Broken>,
    /// Laws between arms that could not be asked, and the key they lacked.
    #[serde(skip)]
    pub missing: Vec<(&'static str, &'static str)>,
}

/// The first difference of two streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct First {
    /// Stream index.
    pub index: usize,
    /// Absolute position of the query row that chose the token.
    pub position: Option<i64>,
    /// Its round.
    pub round: Option<i64>,
    /// Its row.
    pub row: Option<i64>,
    /// `bonus row` or `draft row`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_kind: Option<&'static str>,
    /// The reference's token.
    pub expected: Option<String>,
    /// The arm's token.
    pub found: Option<String>,
}

/// What both sides bring besides their streams.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    /// The arm is meant to speculate.
    pub speculates: bool,
    /// The prompt's length.
    pub prompt: Option<usize>,
    /// The margin asked for.
    pub margin: Option<f64>,
}

/// Compares one sequence; the prompt and the null arms were asked before.
///
/// # Errors
/// When kept rows cannot be read back.
pub fn compare<E>(
    arm: &Side<'_>,
    reference: &Side<'_>,
    terms: Terms,
    read: impl FnMut(&RowPair<'_>) -> Result<RawPair, E>,
) -> Result<Pairing, E> {
    let compared = divergence::streams(arm, reference);
    let mut pairing = Pairing::new(arm, reference, compared.as_ref());
    let proven = match between::vacuous(arm, terms.speculates, compared.as_ref()) {
        Answer::Broken(broken) => {
            pairing.broken.push(broken);
            pairing.verdict = Verdict::Vacuous;
            pairing.past_prompt = 0;
            return Ok(pairing);
        }
        Answer::Missing(key) => {
            pairing.missing.push(("vacuous", key));
            false
        }
        Answer::Holds => true,
    };
    let Some(compared) = compared else { return Ok(pairing) };
    let scan = scan(arm, reference, &compared, read)?;
    pairing.take(arm, reference, terms, &compared, scan);
    if !proven && pairing.verdict == Verdict::Identical {
        pairing.verdict = Verdict::NotRun;
        pairing.notes.push(
            "the streams are equal, but nothing in the arm shows that it speculated (no rounds, no counters)"
                .to_owned(),
        );
    }
    Ok(pairing)
}

/// A comparison that was ended before any stream was looked at.
#[must_use]
pub fn ended(broken: Option<Broken>, note: Option<String>) -> Pairing {
    let mut pairing = Pairing::empty();
    pairing.verdict = Verdict::NotComparable;
    pairing.broken.extend(broken);
    pairing.notes.extend(note);
    pairing
}

fn scan<E>(
    arm: &Side<'_>,
    reference: &Side<'_>,
    compared: &Compared,
    mut read: impl FnMut(&RowPair<'_>) -> Result<RawPair, E>,
) -> Result<Scan, E> {
    let flip =
        compared.parting.as_ref().filter(|parting| !parting.length_only && compared.unit != Unit::Bytes);
    let contested = || {
        let (left, right) = (reference.ids()?, arm.ids()?);
        Some((*left.get(compared.common)?, *right.get(compared.common)?))
    };
    let mut scan = Scan::new(flip.map(|parting| (parting.index, contested())));
    if compared.unit == Unit::Bytes {
        return Ok(scan);
    }
    let last = flip.map_or(compared.common.saturating_sub(1), |parting| parting.index);
    // Only a flip is weighed.
    let widths = flip.map(|_| arm.widths()).unwrap_or_default();
    let flip_width = flip.and_then(|parting| widths.get(parting.index).copied().flatten());
    let pairs = reference.rows(last).into_iter().zip(arm.rows(last)).enumerate();
    for (index, pair) in pairs {
        let (Some(left), Some(right)) = pair else { continue };
        let narrower = widths.get(index).copied().flatten() < flip_width;
        let rows = RowPair { reference: left, arm: right, narrower };
        let raw = if scan.wants_bytes(index, &rows) { read(&rows)? } else { None };
        let bytes = raw.as_ref().map(|(left, right)| BytePair { reference: left, arm: right });
        let is_first = scan.add(index, &rows, bytes).is_some();
        if is_first {
            scan.place_first(arm.place(index));
        }
    }
    Ok(scan)
}

impl Pairing {
    /// The prompts could not be held against each other: equal streams are then no proof, because nothing shows that
    /// they answer the same question. A difference stays one.
    pub fn without_prompt(&mut self, key: &'static str) {
        self.missing.push(("prompt", key));
        if self.verdict == Verdict::Identical {
            self.verdict = Verdict::NotRun;
            self.notes.push(
                "the streams are equal, but the prompts are not known on both sides (importers take --prompt-ids)"
                    .to_owned(),
            );
        }
    }

    fn empty() -> Self {
        Self {
            verdict: Verdict::Identical,
            unit: None,
            equal: 0,
            past_prompt: 0,
            arm: 0,
            reference: 0,
            first: None,
            rows: None,
            states: None,
            drift: None,
            flip: None,
            margin: None,
            entering_state_differs: None,
            null_arm: false,
            notes: Vec::new(),
            broken: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn new(arm: &Side<'_>, reference: &Side<'_>, compared: Option<&Compared>) -> Self {
        let mut pairing = Self::empty();
        let states = arm.entering_state().zip(reference.entering_state());
        pairing.entering_state_differs = states.map(|(left, right)| left != right);
        if pairing.entering_state_differs == Some(true) {
            pairing.notes.push("the state after the prompt has other bytes than the reference's".to_owned());
        }
        let Some(compared) = compared else { return pairing };
        pairing.unit = Some(compared.unit);
        (pairing.equal, pairing.arm, pairing.reference) = (compared.common, compared.arm, compared.reference);
        let flipped = compared.parting.as_ref().is_some_and(|parting| !parting.length_only);
        pairing.past_prompt = compared.common + usize::from(flipped);
        match compared.unit {
            Unit::Ids => {}
            Unit::Strings => {
                pairing.notes.push("ids are not known on both sides: token strings compared by position; two ids can share a string".to_owned());
            }
            Unit::Bytes => {
                pairing.notes.push(
                    "neither ids nor token strings are known on both sides: texts compared byte by byte"
                        .to_owned(),
                );
            }
        }
        pairing
    }

    fn take(
        &mut self,
        arm: &Side<'_>,
        reference: &Side<'_>,
        terms: Terms,
        compared: &Compared,
        mut scan: Scan,
    ) {
        self.notes.extend(scan.trouble.clone());
        if scan.found.recorded() > 0 {
            self.rows = Some(scan.found.clone());
        }
        self.states =
            terms.prompt.and_then(|prompt| states::compare(arm, reference, (prompt, compared.common)));
        self.drift = self.log_probabilities(arm, reference, compared.common, &mut scan);
        let Some(parting) = &compared.parting else { return };
        let (place, position) = divergence::locate(arm, terms.prompt, parting.index);
        self.first = Some(First {
            index: parting.index,
            position,
            round: place.map(|place| place.round),
            row: place.map(|place| place.row),
            row_kind: place.map(|place| place.row_kind()),
            expected: parting.expected.clone(),
            found: parting.found.clone(),
        });
        if let Answer::Broken(broken) = between::stream(arm, terms.prompt, compared) {
            self.broken.push(broken);
        }
        if parting.length_only {
            self.verdict = Verdict::Differs(Difference::Length);
            return;
        }
        self.judge(terms, &scan);
    }

    /// The reported log-probabilities of the tokens that both arms chose, and the quantum and gap they show.
    fn log_probabilities(
        &self,
        arm: &Side<'_>,
        reference: &Side<'_>,
        index: usize,
        scan: &mut Scan,
    ) -> Option<Drift> {
        let (left, right) = (arm.logprobs()?, reference.logprobs()?);
        if self.unit == Some(Unit::Bytes) {
            return None;
        }
        let reported: Vec<f64> = left.iter().chain(right).flatten().copied().collect();
        scan.flip.quantum = quantum::detect(&reported);
        let at = |side: &[Option<f64>]| side.get(index).copied().flatten();
        scan.flip.reported_gap = at(left).zip(at(right)).map(|(left, right)| (left - right).abs());
        Some(quantum::drift(left, right, index, scan.flip.quantum))
    }

    fn judge(&mut self, terms: Terms, scan: &Scan) {
        let mut judged = scan.flip.judge();
        if judged.verdict == Verdict::Differs(Difference::Selection) {
            judged.says.push_str(&self.tie(&scan.tied));
        }
        self.verdict = judged.verdict;
        self.margin = terms.margin.map(|margin| Margin::hold(margin, scan.flip.gap()));
        self.flip = Some(judged);
    }

    /// Equal bytes and two choices: say who did not take the lowest of the best ids.
    fn tie(&self, tied: &[i64]) -> String {
        let Some(lowest) = tied.iter().min().map(ToString::to_string) else { return String::new() };
        let Some(first) = &self.first else { return String::new() };
        let broken = |token: &Option<String>| token.as_ref().is_some_and(|token| *token != lowest);
        let who: Vec<&str> = [("the reference", &first.expected), ("the arm", &first.found)]
            .into_iter()
            .filter(|(_, token)| broken(token))
            .map(|(who, _)| who)
            .collect();
        let what = if tied.len() > 1 { format!("a tie of {}", tied.len()) } else { "one best id".to_owned() };
        format!("; {what}, and {} broke the rule \"lowest id\" ({lowest})", who.join(" and "))
    }
}
