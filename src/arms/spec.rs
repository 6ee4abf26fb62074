//! The arms that an experiment is made of, and the order in which they run.

/// Widths that `--all` runs.
pub const REGISTRY: [usize; 6] = [2, 3, 4, 6, 12, 16];

/// Widest block.
pub const WIDEST: usize = crate::engine::routes::WIDEST as usize;

/// One run of one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArmSpec {
    /// Block width, or `None` for plain decoding.
    pub width: Option<usize>,
    /// 0 for the arm's first run.
    pub repeat: u32,
}

impl ArmSpec {
    /// A run of plain decoding.
    #[must_use]
    pub const fn classic(repeat: u32) -> Self {
        Self { width: None, repeat }
    }

    /// The arm's label: `classic`, `w4`.
    #[must_use]
    pub fn label(&self) -> String {
        self.width.map_or_else(|| "classic".to_owned(), |width| format!("w{width}"))
    }

    /// The run's file: `w4.jsonl`, `classic.repeat1.jsonl`.
    #[must_use]
    pub fn file(&self) -> String {
        match self.repeat {
            0 => format!("{}.jsonl", self.label()),
            repeat => format!("{}.repeat{repeat}.jsonl", self.label()),
        }
    }
}

/// The runs of an experiment in order: plain decoding and its null arm, then each width `repeats` times, and with
/// `bracket` plain decoding once more, so that drift over the experiment shows. Without a width it is plain decoding that
/// runs `repeats` times, and at least twice.
#[must_use]
pub fn plan(widths: &[usize], repeats: u32, bracket: bool) -> Vec<ArmSpec> {
    let plain = if widths.is_empty() { repeats.max(2) } else { 2 };
    let mut arms: Vec<ArmSpec> = (0..plain).map(ArmSpec::classic).collect();
    for width in widths {
        arms.extend((0..repeats.max(1)).map(|repeat| ArmSpec { width: Some(*width), repeat }));
    }
    if bracket {
        arms.push(ArmSpec::classic(2));
    }
    arms
}

/// The runs of a measurement: plain decoding `repeats` times, the widths in turn `repeats` times, and plain decoding
/// again, so that whatever drifts, drifts over all widths alike and shows in plain decoding.
#[must_use]
pub fn bench_plan(widths: &[usize], repeats: u32) -> Vec<ArmSpec> {
    let mut arms: Vec<ArmSpec> = (0..repeats).map(ArmSpec::classic).collect();
    for repeat in 0..repeats {
        arms.extend(widths.iter().map(|width| ArmSpec { width: Some(*width), repeat }));
    }
    arms.extend((repeats..2 * repeats).map(ArmSpec::classic));
    arms
}

#[cfg(test)]
mod tests {
    use super::{ArmSpec, bench_plan, plan};

    #[test]
    fn an_experiment_begins_and_with_a_bracket_ends_plain() {
        let files: Vec<String> = plan(&[2, 4], 2, true).iter().map(ArmSpec::file).collect();
        let expected = [
            "classic.jsonl",
            "classic.repeat1.jsonl",
            "w2.jsonl",
            "w2.repeat1.jsonl",
            "w4.jsonl",
            "w4.repeat1.jsonl",
            "classic.repeat2.jsonl",
        ];
        assert_eq!(files, expected);
    }

    #[test]
    fn plain_decoding_alone_runs_as_often_as_asked_and_has_a_null_arm() {
        let runs = |repeats| plan(&[], repeats, false).iter().map(|arm| arm.repeat).collect::<Vec<_>>();
        assert_eq!((runs(1), runs(2), runs(4)), (vec![0, 1], vec![0, 1], vec![0, 1, 2, 3]));
    }

    #[test]
    fn a_measurement_takes_the_widths_in_turn_between_plain_runs() {
        let files: Vec<String> = bench_plan(&[2, 4], 2).iter().map(ArmSpec::file).collect();
        let expected = [
            "classic.jsonl",
            "classic.repeat1.jsonl",
            "w2.jsonl",
            "w4.jsonl",
            "w2.repeat1.jsonl",
            "w4.repeat1.jsonl",
            "classic.repeat2.jsonl",
            "classic.repeat3.jsonl",
        ];
        assert_eq!(files, expected);
    }
}
