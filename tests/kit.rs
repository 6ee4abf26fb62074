//! Runs the program and builds small transcripts that keep the laws, so that a test breaks one thing and no other.

use exactness::transcript::digest::sha256;
use exactness::transcript::files::write_whole;
use exactness::transcript::{Header, Line, Prefill, Round, Row, Step, Writer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

pub(crate) fn exactness<I, A>(arguments: I) -> Ran
where
    I: IntoIterator<Item = A>,
    A: AsRef<std::ffi::OsStr>,
{
    let mut command = Command::new(env!("CARGO_BIN_EXE_exactness"));
    let output = command.args(arguments).env_remove("COLUMNS").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap() }
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

/// The comparison of arms with one reference, as JSON, with the exit code.
pub(crate) fn compare(arms: &[PathBuf], against: &[PathBuf]) -> (Value, i32) {
    let mut arguments = vec![PathBuf::from("compare")];
    arguments.extend_from_slice(arms);
    arguments.push("--against".into());
    arguments.extend_from_slice(against);
    arguments.extend(["--format".into(), "json".into()]);
    let ran = exactness(&arguments);
    (ran.json(), ran.code)
}

/// The comparison part of the first arm's first sequence.
pub(crate) fn against(judgement: &Value) -> &Value {
    &judgement["arms"][0]["sequences"][0]["against"]
}

/// A run to be written: its stream, how it was decoded and the rows behind its tokens.
pub(crate) struct Run<'a> {
    pub(crate) arm: &'a str,
    pub(crate) stream: Vec<i64>,
    /// 1 is plain decoding.
    pub(crate) width: usize,
    /// Accepted proposals of each round, again from the start when they run out.
    pub(crate) accepts: Vec<usize>,
    /// The logits behind a stream index.
    pub(crate) row: Option<&'a dyn Fn(usize) -> Vec<f32>>,
    /// Header keys beyond the usual ones.
    pub(crate) header: Value,
    /// Digest of the state that enters round 0.
    pub(crate) state: Option<&'a str>,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self {
            arm: "classic",
            stream: Vec::new(),
            width: 1,
            accepts: vec![0],
            row: None,
            header: json!({}),
            state: None,
        }
    }
}

const PROMPT: i64 = 10;

impl Run<'_> {
    /// Writes the run and returns its file.
    pub(crate) fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        let mut writer = Writer::create(&path, self.row.is_some()).unwrap();
        writer.line(&Line::Header(Box::new(self.header()))).unwrap();
        let row = self.keep(&mut writer, 0);
        let state = self.state.map(|state| sha256(state.as_bytes()));
        let prefill =
            Prefill { sequence: 0, token: self.stream[0], cache_len: Some(PROMPT), row, state_sha256: state };
        writer.line(&Line::Prefill(prefill)).unwrap();
        if self.width == 1 {
            self.steps(&mut writer);
        } else {
            self.rounds(&mut writer);
        }
        let footer =
            json!({"sequence": 0, "complete": true, "finish_reason": "length", "tokens": self.stream});
        writer.line(&Line::Footer(Box::new(serde_json::from_value(footer).unwrap()))).unwrap();
        path
    }

    fn header(&self) -> Header {
        let kind = if self.width == 1 { "classic" } else { "speculative" };
        let mut header = json!({
            "format": "exactness.transcript", "version": 1, "arm": self.arm, "kind": kind, "width": self.width,
            "max_tokens": self.stream.len(), "eos_ids": [-7], "ignore_eos": false,
            "prompts": [{"sequence": 0, "ids": (50..50 + PROMPT).collect::<Vec<_>>()}],
        });
        for (key, value) in self.header.as_object().unwrap() {
            header[key] = value.clone();
        }
        serde_json::from_value(header).unwrap()
    }

    fn keep(&self, writer: &mut Writer, index: usize) -> Option<Row> {
        let bytes: Vec<u8> = self.row?(index).iter().flat_map(|logit| logit.to_le_bytes()).collect();
        let place = i64::try_from(index).unwrap();
        let mut row = Row {
            index: Some(place),
            position: Some(PROMPT + place - 1),
            sha256: Some(sha256(&bytes)),
            dtype: Some("float32".to_owned()),
            ..Row::default()
        };
        writer.keep(&mut row, &bytes).unwrap();
        Some(row)
    }

    fn steps(&self, writer: &mut Writer) {
        for index in 1..self.stream.len() {
            let row = self.keep(writer, index);
            let place = i64::try_from(index).unwrap();
            let (input, token) = (self.stream[index - 1], self.stream[index]);
            let cache_len = Some(PROMPT + place);
            writer
                .line(&Line::Step(Step { index: place, input, token, cache_len, row, ..Step::default() }))
                .unwrap();
        }
    }

    fn rounds(&self, writer: &mut Writer) {
        let (mut index, mut number) = (1, 0);
        while index < self.stream.len() {
            let accepted =
                self.accepts[usize::try_from(number).unwrap() % self.accepts.len()].min(self.width - 1);
            let round = self.round(writer, index, number, accepted);
            index += round.emitted.len();
            number += 1;
            writer.line(&Line::Round(Box::new(round))).unwrap();
        }
    }

    fn round(&self, writer: &mut Writer, index: usize, number: i64, accepted: usize) -> Round {
        let proposals = self.width - 1;
        let next = |row: usize| self.stream.get(index + row).copied().unwrap_or(9_000);
        let target: Vec<i64> = (0..self.width).map(next).collect();
        let draft: Vec<i64> =
            (0..proposals).map(|row| if row < accepted { next(row) } else { 8_000 }).collect();
        let emitted: Vec<i64> = self.stream[index..].iter().take(accepted + 1).copied().collect();
        let before = PROMPT + i64::try_from(index).unwrap() - 1;
        let rows: Vec<Row> = (0..self.width)
            .filter_map(|row| {
                let kept = row < emitted.len();
                let position = Some(before + i64::try_from(row).unwrap());
                let rejected = || self.row.map(|_| Row { position, ..Row::default() });
                if kept { self.keep(writer, index + row) } else { rejected() }
            })
            .collect();
        let round = json!({
            "sequence": 0, "round": number, "width": self.width, "bonus": self.stream[index - 1], "draft": draft,
            "target": target, "accepted": accepted, "emitted": emitted, "cache_before": before,
            "cache_after": before + i64::try_from(emitted.len()).unwrap(),
        });
        let round: Round = serde_json::from_value(round).unwrap();
        Round { rows: self.row.map(|_| rows), ..round }
    }
}

/// Writes a file, over another when there is one.
pub(crate) fn rewrite(path: &Path, bytes: &[u8]) {
    write_whole(path, bytes).unwrap();
}

/// A stream of so many tokens without an end id.
pub(crate) fn stream(length: usize) -> Vec<i64> {
    (0..length).map(|index| i64::try_from(index * 7 % 90).unwrap() + 100).collect()
}

/// The same stream with another token from `index` on.
pub(crate) fn parted(stream: &[i64], index: usize) -> Vec<i64> {
    let mut parted = stream.to_vec();
    parted[index..].iter_mut().for_each(|token| *token += 1);
    parted
}
