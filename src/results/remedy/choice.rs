//! What a remedy chose, as it is kept beside the gate's verdict and said to whoever takes it.

use super::answers::Measured;
use serde::{Deserialize, Serialize};

/// A setting to take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What `--routes` takes.
    pub routes: String,
    /// What `--plain-routes` takes; empty where plain decoding is as it is by default.
    pub plain: String,
    /// How fast it is, where that was measured.
    pub pace: Option<Pace>,
}

/// Routes as a sentence names them.
#[must_use]
pub fn or_defaults(routes: &str) -> &str {
    if routes.is_empty() { "the defaults" } else { routes }
}

/// Speed beside plain decoding as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Tokens a second over plain decoding's.
    pub ratio: f64,
    /// The ratio differs from 1 by more than the resolution floor.
    pub resolved: bool,
}

impl Pace {
    /// Of a measurement.
    #[must_use]
    pub const fn of(measured: &Measured) -> Self {
        Self { ratio: measured.ratio, resolved: measured.resolved }
    }

    /// Plain decoding is faster by more than the floor: not speculating is exact, too, and cheaper.
    #[must_use]
    pub fn loses(self) -> bool {
        self.resolved && self.ratio < 1.0
    }

    /// As said of a setting.
    #[must_use]
    pub fn says(self) -> String {
        let ratio = self.ratio;
        match (self.resolved, self.loses()) {
            (false, _) => format!("could not be told from plain decoding ({ratio:.2} ×)"),
            (true, true) => {
                format!(
                    "was slower than plain decoding ({ratio:.2} ×): declining the width is exact and cheaper"
                )
            }
            (true, false) => format!("was {ratio:.2} × plain decoding"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn only_what_is_told_apart_from_noise_wins_or_loses() {
        let says = |ratio, resolved| (Pace { ratio, resolved }.loses(), Pace { ratio, resolved }.says());
        assert_eq!(says(1.3, true), (false, "was 1.30 × plain decoding".to_owned()));
        assert_eq!(says(0.98, false), (false, "could not be told from plain decoding (0.98 ×)".to_owned()));
        let slow = "was slower than plain decoding (0.83 ×): declining the width is exact and cheaper";
        assert_eq!(says(0.83, true), (true, slow.to_owned()));
    }
}
