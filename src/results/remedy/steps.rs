//! The words of a remedy's trail: what it asks, and the names of its steps. The search writes them, a record of one that
//! was stopped reads them back.

use std::fmt::Display;

/// How the question of a remedy's trail begins; a bisect's has other words.
pub const QUESTION: &str = "remedy of ";
const PROBE: &str = "probe";
const RUN: &str = "run";

/// A proof of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Every position at every row of a block.
    Probe,
    /// The arm.
    Run,
}

/// The step that probes a setting.
#[must_use]
pub fn probe(width: usize, routes: &impl Display) -> String {
    format!("w{width} {PROBE}: {routes}")
}

/// The step that runs the arm under a setting.
#[must_use]
pub fn run(width: usize, routes: &impl Display) -> String {
    format!("w{width} {RUN}: {routes}")
}

/// The step that times the proven settings of a width in so many runs.
#[must_use]
pub fn time(width: usize, repeat: u32) -> String {
    format!("{}{repeat}", timed(width))
}

/// How the name of that step begins, whatever its runs.
#[must_use]
pub fn timed(width: usize) -> String {
    format!("w{width} time ×")
}

/// Width, proof and routes of a step that probes or runs.
#[must_use]
pub fn setting(step: &str) -> Option<(&str, Proof, &str)> {
    let (asked, routes) = step.split_once(": ")?;
    let (width, proof) = asked.strip_prefix('w')?.split_once(' ')?;
    let proof = match proof {
        PROBE => Proof::Probe,
        RUN => Proof::Run,
        _ => return None,
    };
    Some((width, proof, routes))
}

/// The width of a step that timed; older trails do not name its runs.
#[must_use]
pub fn timed_width(step: &str) -> Option<u32> {
    step.split_once(" time")?.0.strip_prefix('w')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Proof, probe, run, setting, time, timed, timed_width};

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(setting(&probe(6, &"linear=rows")), Some(("6", Proof::Probe, "linear=rows")));
        assert_eq!(setting(&run(12, &"")), Some(("12", Proof::Run, "")));
        assert_eq!(timed_width(&time(6, 3)), Some(6));
        assert!(time(6, 3).starts_with(&timed(6)));
    }

    #[test]
    fn steps_are_told_apart_by_their_names() {
        assert_eq!((timed_width("w6 time ×3"), timed_width("w12 time")), (Some(6), Some(12)));
        assert_eq!((timed_width("w6 run: linear=rows"), timed_width("w6 probe: ")), (None, None));
        assert_eq!(setting("w6 run: linear=rows"), Some(("6", Proof::Run, "linear=rows")));
        assert_eq!((setting("w6 time ×3"), setting("w6 names, input 1: linear=rows")), (None, None));
    }
}
