//! The transcripts of one folder: judged, compared, and boiled down to what a record shows of them.
//!
//! Plain decoding stays in memory while the arms come one after the other, each with its repeats, so that a record of
//! many arms needs the memory of two.

use super::error::RecordError;
use super::input::Input;
use super::marks::{self, RowLine};
use super::timeline::{self, Timeline};
use super::tried;
use crate::algebra::Verdict;
use crate::algebra::judgement::ArmJudgement;
use crate::algebra::outcome::strongest;
use crate::results::comparing::{Contestant, Field};
use crate::results::judgement::JUDGEMENT_VERSION;
use crate::results::outcomes::null_arms;
use crate::results::{Judgement, judging, stored};
use crate::transcript::digest::{sha256, stream_sha256};
use crate::transcript::read::Reader;
use crate::transcript::writer::rows_path;
use crate::transcript::{Arm, ArmKind, Header, Line, ReadError};

/// One folder of transcripts.
#[derive(Debug)]
pub struct Experiment {
    /// Its name.
    pub folder: String,
    /// What the judge says.
    pub judgement: stored::Judgement,
    /// The runs in the order in which they started.
    pub runs: Vec<Run>,
    /// There is plain decoding to compare with.
    pub has_reference: bool,
    /// What the verdict alone does not say.
    pub says: Vec<String>,
    /// Which rows differ, a line a sequence of an arm.
    pub lines: Vec<RowLine>,
    /// Some rounds of each arm.
    pub timelines: Vec<Timeline>,
}

/// One transcript, without its lines.
#[derive(Debug, Clone)]
pub struct Run {
    /// The file.
    pub file: String,
    /// What ran, without the prompts.
    pub header: Header,
    /// Prompts.
    pub prompts: usize,
    /// Ids of all prompts, where they are known.
    pub prompt_ids: Option<usize>,
    /// SHA-256 over all prompts.
    pub prompts_sha256: Option<String>,
    /// SHA-256 over all streams.
    pub stream: Option<String>,
    /// Prompts of a repeat, and those at which it differs from its run.
    pub null: Option<(usize, usize)>,
    /// Row bytes are kept beside it.
    pub keeps_bytes: bool,
}

impl Run {
    /// `w4`, `w4 repeat 1`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.header.repeat {
            None | Some(0) => self.header.arm.clone(),
            Some(repeat) => format!("{} repeat {repeat}", self.header.arm),
        }
    }

    fn of(arm: &Arm, file: &str) -> Self {
        let streams: Option<Vec<_>> = arm.sequences.iter().map(crate::transcript::Sequence::tokens).collect();
        let ids = arm.header.prompts.iter().map(|prompt| prompt.ids.as_ref().map(Vec::len));
        let header = Header { prompts: Vec::new(), ..arm.header.clone() };
        Self {
            file: file.to_owned(),
            header,
            prompts: arm.sequences.len(),
            prompt_ids: ids.sum(),
            prompts_sha256: serde_json::to_vec(&arm.header.prompts).ok().map(|prompts| sha256(&prompts)),
            stream: streams.filter(|all| !all.is_empty()).map(|all| stream_sha256(&all.concat())),
            null: None,
            keeps_bytes: rows_path(&arm.path).is_file(),
        }
    }
}

/// A transcript of which the header was read.
struct Headed<'a> {
    input: &'a Input,
    header: Header,
}

/// Judges the transcripts of one folder.
///
/// # Errors
/// When one of them is no transcript, or kept rows do not belong to it.
pub fn read(folder: &str, inputs: &[&Input]) -> Result<Experiment, RecordError> {
    let (headed, headless) = headers(inputs)?;
    let (classic, arms): (Vec<_>, Vec<_>) =
        headed.into_iter().partition(|one| one.header.kind == ArmKind::Classic);
    let mut gathered = Gathered::default();
    let references = gathered.load(&classic)?;
    let mut field = Field::new(references, None);
    for group in groups(arms) {
        let mut loaded = gathered.load(&group)?;
        gathered.look(&field, &loaded, &group);
        if classic.is_empty() {
            gathered.alone.extend(loaded.drain(..).map(|one| one.judged));
        }
        field.hold(loaded)?;
    }
    let mut judgement = gathered.judgement(field, headless);
    let says = tried::weigh(&mut judgement, &gathered.runs);
    let judgement = stored::of(&judgement).map_err(|error| RecordError::Form(error.to_string()))?;
    gathered.lines.retain(|line| was_compared(&judgement, line));
    gathered.runs.sort_by(|a, b| (&a.header.started, &a.file).cmp(&(&b.header.started, &b.file)));
    Ok(Experiment {
        folder: folder.to_owned(),
        judgement,
        runs: gathered.runs,
        has_reference: !classic.is_empty(),
        says,
        lines: gathered.lines,
        timelines: gathered.timelines,
    })
}

/// A sequence that was vacuous or not comparable has no row that was compared.
fn was_compared(judgement: &stored::Judgement, line: &RowLine) -> bool {
    judgement.pairings().any(|(arm, sequence, pairing)| {
        arm.file == line.file && sequence == line.sequence && pairing.compared()
    })
}

/// The headers, and the judgements of files that were cut before theirs ended.
fn headers<'a>(inputs: &[&'a Input]) -> Result<(Vec<Headed<'a>>, Vec<ArmJudgement>), RecordError> {
    let (mut whole, mut headless) = (Vec::new(), Vec::new());
    for &input in inputs {
        let mut reader = named(Reader::open(&input.path), &input.name)?;
        match named(reader.next().transpose(), &input.name)? {
            Some((_, Line::Header(header))) => {
                whole.push(Headed { input, header: Header { prompts: Vec::new(), ..*header } });
            }
            _ => headless.push(judged(input)?),
        }
    }
    Ok((whole, headless))
}

/// An arm's run and its repeats come together.
fn groups(mut arms: Vec<Headed<'_>>) -> Vec<Vec<Headed<'_>>> {
    arms.sort_by(|a, b| {
        (a.header.width, &a.header.arm, a.header.repeat).cmp(&(
            b.header.width,
            &b.header.arm,
            b.header.repeat,
        ))
    });
    let mut groups: Vec<Vec<Headed<'_>>> = Vec::new();
    for arm in arms {
        let same = |group: &Vec<Headed<'_>>| {
            group.last().is_some_and(|last| {
                (last.header.width, &last.header.arm) == (arm.header.width, &arm.header.arm)
            })
        };
        match groups.last_mut() {
            Some(group) if same(group) => group.push(arm),
            _ => groups.push(vec![arm]),
        }
    }
    groups
}

fn judged(input: &Input) -> Result<ArmJudgement, RecordError> {
    let mut judged = named(judging::judge_path(&input.path), &input.name)?;
    input.name.clone_into(&mut judged.file);
    Ok(judged)
}

/// Errors say the name that the record uses: it is the same on every machine.
pub(super) fn named<T>(result: Result<T, ReadError>, own: &str) -> Result<T, RecordError> {
    result.map_err(|error| {
        let name = own.to_owned();
        RecordError::Transcript(match error {
            ReadError::Io { source, .. } => ReadError::Io { name, source },
            ReadError::Headless { .. } => ReadError::Headless { name },
            ReadError::Line { line, fault, .. } => ReadError::Line { name, line, fault },
        })
    })
}

/// What is kept of the runs after their lines are gone.
#[derive(Default)]
struct Gathered {
    runs: Vec<Run>,
    alone: Vec<ArmJudgement>,
    lines: Vec<RowLine>,
    timelines: Vec<Timeline>,
}

impl Gathered {
    fn load(&mut self, group: &[Headed<'_>]) -> Result<Vec<Contestant>, RecordError> {
        let mut loaded = Vec::new();
        for headed in group {
            let arm = named(Arm::read(&headed.input.path), &headed.input.name)?;
            self.runs.push(Run::of(&arm, &headed.input.name));
            loaded.push(Contestant { arm, judged: judged(headed.input)? });
        }
        for null in null_arms(&loaded) {
            let repeat = self.runs.iter_mut().find(|run| run.file == null.file());
            if let Some(run) = repeat {
                run.null = Some(null.prompts());
            }
        }
        Ok(loaded)
    }

    /// Notes which rows differ, and some rounds, of the group's first run.
    fn look(&mut self, field: &Field, loaded: &[Contestant], group: &[Headed<'_>]) {
        let Some((first, headed)) = loaded.iter().zip(group).next() else { return };
        let lines = marks::of(field, &first.arm, &headed.input.name);
        let parted = lines.iter().find(|line| line.flip.is_some());
        self.timelines.extend(timeline::of(&first.arm, &headed.input.name, parted));
        self.lines.extend(lines.into_iter().filter(|line| !line.marks.is_empty()));
    }

    fn judgement(&mut self, field: Field, headless: Vec<ArmJudgement>) -> Judgement {
        let mut judgement = field.judgement();
        let compared = !judgement.arms.is_empty();
        judgement.arms.extend(self.alone.drain(..).chain(headless));
        let nulls: Vec<(usize, usize)> = self.runs.iter().filter_map(|run| run.null).collect();
        let all_plain = self.runs.iter().all(|run| run.header.kind == ArmKind::Classic)
            && judgement.arms.iter().all(|arm| arm.compared.rounds == 0);
        let repeated = nulls.iter().all(|(prompts, differing)| *prompts > 0 && *differing == 0);
        let verdicts = judgement.arms.iter().map(|arm| arm.verdict);
        if !compared || judgement.arms.iter().any(|arm| arm.verdict == Verdict::CutRun) {
            judgement.verdict = strongest(verdicts).unwrap_or(Verdict::NotRun);
        } else if all_plain && judgement.verdict == Verdict::Consistent && !nulls.is_empty() && repeated {
            judgement.verdict = Verdict::Identical;
        }
        Judgement { version: JUDGEMENT_VERSION, ..judgement }
    }
}
