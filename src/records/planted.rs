//! The faults that a run's command line planted, and those of them that its kind of run comes by: a fault of verify
//! blocks does nothing to plain decoding, whose header has the same command line.

use crate::transcript::{ArmKind, Header};

/// The faults that act in the run, as its command line has them.
#[must_use]
pub fn of(header: &Header) -> Vec<String> {
    let all = given(header.command.as_deref().unwrap_or_default());
    all.into_iter().filter(|plant| acts(plant, header.kind)).collect()
}

/// Whether a fault acts in runs of this kind: `side=both` in all of them, `side=chain` in plain decoding alone, and
/// everything else in verify blocks or the prompts of speculative arms.
#[must_use]
pub fn acts(plant: &str, kind: ArmKind) -> bool {
    let parts = plant.split(',').filter_map(|part| part.split_once('='));
    let side = parts.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == "side");
    match side.map(|(_, side)| side) {
        Some("both") => true,
        Some("chain") => kind == ArmKind::Classic,
        _ => kind == ArmKind::Speculative,
    }
}

/// The faults that a command line plants.
fn given(command: &[String]) -> Vec<String> {
    let mut plants = Vec::new();
    for (index, word) in command.iter().enumerate() {
        if let Some(plant) = word.strip_prefix("--plant=") {
            plants.push(plant.to_owned());
        } else if word == "--plant" {
            plants.extend(command.get(index + 1).cloned());
        }
    }
    plants
}

#[cfg(test)]
mod tests {
    use super::given;

    #[test]
    fn plants_are_read_off_the_command_line() {
        let words: Vec<String> =
            ["exactness", "run-arm", "--plant", "op=o_proj", "--plant=op=rope"].map(str::to_owned).to_vec();
        assert_eq!(given(&words), ["op=o_proj", "op=rope"]);
    }
}
