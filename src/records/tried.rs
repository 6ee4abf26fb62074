//! Whether the runs of a folder tried what they are there for: arms of which none proposed a token have not tried
//! speculation, and a planted fault that shows nowhere was no control. Their equal texts are no evidence.

use super::experiment::Run;
use super::planted;
use crate::algebra::judgement::ArmJudgement;
use crate::algebra::{Pairing, Verdict};
use crate::results::Judgement;
use crate::transcript::ArmKind;

/// Puts the verdicts right, and says why.
pub(super) fn weigh(judgement: &mut Judgement, runs: &[Run]) -> Vec<String> {
    let mut says = silent(judgement);
    says.extend(ineffective(judgement, runs));
    says
}

/// Arms that verified rounds and proposed nothing in any.
fn silent(judgement: &mut Judgement) -> Vec<String> {
    let is_silent = |arm: &&mut ArmJudgement| {
        arm.compared.rounds > 0 && arm.compared.proposed == 0 && arm.verdict.exit_code() == 0
    };
    let mut says = Vec::new();
    for arm in judgement.arms.iter_mut().filter(is_silent) {
        arm.verdict = Verdict::Vacuous;
        says.push(format!("{}: no round proposed a token, so that equal text says nothing.", arm.file));
    }
    let speculative = || judgement.arms.iter().filter(|arm| arm.compared.rounds > 0);
    let all = speculative().count() > 0 && speculative().all(|arm| arm.compared.proposed == 0);
    if all && judgement.verdict.exit_code() == 0 {
        judgement.verdict = Verdict::Vacuous;
    }
    says
}

/// Planted faults that show nowhere in what was compared. Transcripts do not say whether a fault struck.
fn ineffective(judgement: &mut Judgement, runs: &[Run]) -> Vec<String> {
    let planted =
        |run: &&Run| run.header.kind == ArmKind::Speculative && !planted::of(&run.header).is_empty();
    let files: Vec<&str> = runs.iter().filter(planted).map(|run| run.file.as_str()).collect();
    let mut arms = judgement.arms.iter().filter(|arm| files.contains(&arm.file.as_str())).peekable();
    if arms.peek().is_none() || !arms.all(shows_nothing) || judgement.verdict.exit_code() != 0 {
        return Vec::new();
    }
    judgement.verdict = Verdict::NotRun;
    vec![
        "The planted fault shows nowhere in what was recorded: it came to no row that it names, or was rounded away. \
         Equal bytes are no evidence then."
            .to_owned(),
    ]
}

fn shows_nothing(arm: &ArmJudgement) -> bool {
    let equal = |pairing: &Pairing| {
        pairing.verdict.exit_code() == 0
            && pairing.rows.as_ref().is_none_or(|rows| rows.bytes_differ == 0)
            && pairing.states.as_ref().is_none_or(|states| states.differ() == 0)
    };
    arm.sequences
        .iter()
        .all(|sequence| sequence.finding.is_none() && sequence.against.as_deref().is_none_or(equal))
}
