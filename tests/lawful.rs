//! Makes lawful runs, with every key that laws use, for tests that break one thing in them.
//!
//! Every id of a stream occurs once, and wrong proposals come from a range of their own, so that a change made by a
//! test means what the test says and nothing else.

use exactness::algebra::Judge;
use exactness::algebra::judgement::ArmJudgement;
use exactness::transcript::format::{
    ArmKind, Counters, Drafter, DrafterCache, FinishReason, Footer, Header, Prompt, Usage, Window,
};
use exactness::transcript::{Line, Prefill, Round, Row, Step};

pub(crate) const VOCABULARY: i64 = 100_000;
/// Never chosen, never proposed.
pub(crate) const STRANGER: i64 = 99_999;

/// What to make.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) kind: ArmKind,
    pub(crate) width: i64,
    pub(crate) sequences: i64,
    pub(crate) tokens: i64,
    pub(crate) window: Window,
    pub(crate) drafter: DrafterCache,
    pub(crate) interleaved: bool,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            kind: ArmKind::Speculative,
            width: 4,
            sequences: 1,
            tokens: 24,
            window: Window::PerRow,
            drafter: DrafterCache::Autoregressive,
            interleaved: true,
        }
    }
}

/// A small generator of numbers; the quality does not matter, the repeatability does.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33).cast_signed() % bound
    }
}

/// The lines of a lawful run.
pub(crate) fn run(plan: &Plan) -> Vec<Line> {
    let mut numbers = Numbers::new(plan.seed);
    let mut lines = vec![Line::Header(Box::new(header(plan)))];
    let mut walkers: Vec<Walker> = (0..plan.sequences).map(|sequence| Walker::new(sequence, plan)).collect();
    let mut bodies: Vec<Vec<Line>> = walkers.iter().map(|walker| vec![walker.prefill()]).collect();
    loop {
        let live: Vec<usize> = (0..walkers.len()).filter(|index| !walkers[*index].is_done(plan)).collect();
        if live.is_empty() {
            break;
        }
        let walks: Vec<i64> = live.iter().map(|_| numbers.below(plan.width)).collect();
        let least = walks.iter().copied().min().unwrap_or(0);
        for (index, walk) in live.iter().zip(&walks) {
            let commit = if plan.window == Window::Clamp { least } else { *walk };
            bodies[*index].push(walkers[*index].next(plan, *walk, commit, &mut numbers));
        }
    }
    for (walker, body) in walkers.iter().zip(&mut bodies) {
        body.push(walker.footer(plan));
    }
    lines.extend(if plan.interleaved { interleave(&bodies) } else { bodies.concat() });
    lines
}

fn interleave(bodies: &[Vec<Line>]) -> Vec<Line> {
    let longest = bodies.iter().map(Vec::len).max().unwrap_or(0);
    let at =
        |place: usize| bodies.iter().filter_map(move |body| body.get(place).cloned()).collect::<Vec<_>>();
    (0..longest).flat_map(at).collect()
}

fn header(plan: &Plan) -> Header {
    let ids = |sequence: i64| (0..7).map(|place| 50_000 + sequence * 10 + place).collect();
    let prompt = |sequence| Prompt { sequence, ids: Some(ids(sequence)), text: None };
    Header {
        format: "exactness.transcript".to_owned(),
        version: 1,
        arm: "lawful".to_owned(),
        kind: plan.kind,
        prompts: (0..plan.sequences).map(prompt).collect(),
        width: Some(plan.width),
        drafter: Some(Drafter { name: None, cache: Some(plan.drafter) }),
        window: Some(plan.window),
        max_tokens: Some(plan.tokens),
        eos_ids: Some(vec![2]),
        ignore_eos: Some(false),
        stop: None,
        vocab_size: Some(VOCABULARY),
        model: None,
        routes: None,
        host: None,
        backend: None,
        program: None,
        command: None,
        started: None,
        seed: None,
        repeat: None,
        source: None,
    }
}

/// One sequence under way.
struct Walker {
    sequence: i64,
    stream: Vec<i64>,
    rounds: i64,
    slot: i64,
    drafted: i64,
    accepted: i64,
    per_position: Vec<i64>,
}

impl Walker {
    fn new(sequence: i64, plan: &Plan) -> Self {
        let per_position = vec![0; usize::try_from(plan.width - 1).unwrap()];
        let stream = vec![token(sequence, 0)];
        Self { sequence, stream, rounds: 0, slot: 0, drafted: 0, accepted: 0, per_position }
    }

    fn is_done(&self, plan: &Plan) -> bool {
        self.len() >= plan.tokens
    }

    fn len(&self) -> i64 {
        i64::try_from(self.stream.len()).unwrap()
    }

    fn prefill(&self) -> Line {
        let row = Some(row(Some(0), 6, self.stream[0]));
        Line::Prefill(Prefill {
            sequence: self.sequence,
            token: self.stream[0],
            cache_len: Some(7),
            row,
            state_sha256: None,
        })
    }

    fn next(&mut self, plan: &Plan, walk: i64, commit: i64, numbers: &mut Numbers) -> Line {
        match plan.kind {
            ArmKind::Classic => self.step(),
            ArmKind::Speculative => self.round(plan, walk, commit, numbers),
        }
    }

    fn step(&mut self) -> Line {
        let (index, input) = (self.len(), self.stream[self.stream.len() - 1]);
        let token = token(self.sequence, index);
        self.stream.push(token);
        let row = Some(row(Some(index), 6 + index, token));
        let (sequence, cache_len) = (self.sequence, Some(7 + index));
        let state_sha256 = (index % 2 == 0).then(|| "5e".repeat(32));
        Line::Step(Step { sequence, index, input, token, cache_len, row, state_sha256 })
    }

    fn round(&mut self, plan: &Plan, walk: i64, commit: i64, numbers: &mut Numbers) -> Line {
        let (start, before, bonus) = (self.len(), 6 + self.len(), self.stream[self.stream.len() - 1]);
        let wrong = |numbers: &mut Numbers| 60_000 + numbers.below(10_000);
        let target: Vec<i64> = (0..plan.width)
            .map(|row| if row <= walk { token(self.sequence, start + row) } else { wrong(numbers) })
            .collect();
        let right = |row: i64| target[usize::try_from(row).unwrap()];
        let draft: Vec<i64> = (0..plan.width - 1)
            .map(|row| if row < walk { right(row) } else { 70_000 + numbers.below(10_000) })
            .collect();
        let room = plan.tokens - start;
        let emitted: Vec<i64> = (0..=commit).take_while(|row| *row < room).map(right).collect();
        let rows = (0..plan.width)
            .map(|place| {
                row((place <= commit && place < room).then_some(start + place), before + place, right(place))
            })
            .collect();
        let behind = i64::from(plan.drafter == DrafterCache::Autoregressive && commit == plan.width - 1);
        let line = Round {
            sequence: self.sequence,
            round: self.rounds,
            width: plan.width,
            bonus,
            accepted: commit,
            walked: (commit < walk).then_some(walk),
            cache_before: Some(before),
            cache_after: Some(before + commit + 1),
            draft_cache_after: Some(before + commit + 1 - behind),
            shared_cache: (plan.drafter == DrafterCache::Shared).then_some(before),
            state_kept: Some(commit + 1),
            state_read: Some(self.slot),
            state_committed: Some(commit),
            state_sha256: (self.rounds % 2 == 0).then(|| "5e".repeat(32)),
            rows: Some(rows),
            micros: None,
            draft,
            target,
            emitted: emitted.clone(),
        };
        self.stream.extend(emitted);
        self.slot = commit;
        self.rounds += 1;
        self.drafted += plan.width - 1;
        self.accepted += walk;
        for position in 0..usize::try_from(walk).unwrap() {
            self.per_position[position] += 1;
        }
        Line::Round(Box::new(line))
    }

    fn footer(&self, plan: &Plan) -> Line {
        let counters = Counters {
            rounds: Some(self.rounds),
            drafted: Some(self.drafted),
            accepted: Some(self.accepted),
            per_position: Some(self.per_position.clone()),
        };
        let usage = Usage {
            prompt_tokens: Some(7),
            completion_tokens: Some(self.len()),
            reasoning_tokens: Some(0),
            total_tokens: Some(7 + self.len()),
        };
        Line::Footer(Box::new(Footer {
            sequence: self.sequence,
            complete: true,
            finish_reason: Some(FinishReason::Length),
            tokens: Some(self.stream.clone()),
            token_strings: None,
            text: None,
            logprobs: Some(
                std::iter::successors(Some(0.0), |last| Some(last - 0.125))
                    .map(Some)
                    .take(self.stream.len())
                    .collect(),
            ),
            usage: Some(usage),
            counters: (plan.kind == ArmKind::Speculative).then_some(counters),
        }))
    }
}

fn token(sequence: i64, index: i64) -> i64 {
    100 + sequence * 5_000 + index
}

fn row(index: Option<i64>, position: i64, best: i64) -> Row {
    let top = Some(vec![(best, Some(17.5)), (3, Some(17.25))]);
    Row { index, position: Some(position), sha256: Some("0".repeat(64)), dtype: None, top, at: None }
}

/// Judges lines as if they stood in a file.
pub(crate) fn judged(lines: &[Line]) -> ArmJudgement {
    let Some(Line::Header(header)) = lines.first() else { panic!("a run begins with its header") };
    let mut judge = Judge::new(header);
    for (number, line) in lines.iter().enumerate().skip(1) {
        judge.line(number as u64 + 1, line.clone()).unwrap();
    }
    judge.finish("lawful.jsonl", None, 0)
}

/// The finding of a sequence: its law and its round.
pub(crate) fn finding(judgement: &ArmJudgement, sequence: i64) -> Option<(&'static str, Option<i64>)> {
    let judged = judgement.sequences.iter().find(|judged| judged.sequence == sequence)?;
    judged.finding.as_ref().map(|breach| (breach.law, breach.round))
}

/// The laws that only warn.
pub(crate) fn warnings(judgement: &ArmJudgement) -> Vec<&'static str> {
    judgement.sequences.iter().flat_map(|sequence| &sequence.warnings).map(|breach| breach.law).collect()
}
