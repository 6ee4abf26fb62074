//! The rounds of a live arm: it is run once with its drafter, and its own lines are what both sides are driven over.

use super::script::{Script, ScriptError};
use super::side::{Kind, Stage};
use crate::engine::Result;
use crate::engine::drafter::{DrafterSpec, Ground};
use crate::engine::round;
use crate::engine::session::{Recorder, Request, Session};
use crate::transcript::{Arm, Line, Round, TokenId};

/// A speculative arm to run.
pub struct Live<'a> {
    /// Rows of a block.
    pub width: usize,
    /// Who proposes.
    pub drafter: &'a DrafterSpec,
    /// The transcript that the drafter repeats, when it does.
    pub recording: Option<&'a Arm>,
    /// Tokens to decode, the prompt's own first one included.
    pub tokens: usize,
    /// Ids that end a text.
    pub end_ids: &'a [TokenId],
}

/// Keeps the rounds.
#[derive(Default)]
struct Rounds(Vec<Round>);

impl Recorder for Rounds {
    fn line(&mut self, line: Line) -> Result<()> {
        if let Line::Round(round) = line {
            self.0.push(*round);
        }
        Ok(())
    }
}

impl Live<'_> {
    /// Runs the arm over a prompt and gives its script.
    ///
    /// # Errors
    /// When the prompt is not one, or MLX refuses; inside, when the arm ran no round.
    pub fn script(
        &self,
        stage: &Stage<'_>,
        (sequence, prompt): (i64, &[TokenId]),
    ) -> Result<std::result::Result<Script, ScriptError>> {
        // Only drafters that know plain decoding's stream look at it; it costs no more than the walk that follows.
        let reference = match self.drafter {
            DrafterSpec::Oracle | DrafterSpec::Wrong | DrafterSpec::Cycle(_) => {
                stage.decode(prompt, self.tokens + self.width)?
            }
            _ => Vec::new(),
        };
        let vocabulary = stage.block.config().vocab_size;
        let ground = Ground { sequence, reference: &reference, vocabulary };
        let mut drafter = self.drafter.build(&ground, self.recording);
        let mut options = stage.options();
        if stage.banned.is_empty() {
            self.end_ids.clone_into(&mut options.end_ids);
        }
        let mut tap = stage.planted(Kind::Block);
        let mut session = Session::new(stage.block, &options, &mut tap)?;
        let request = Request { sequence, prompt, max_tokens: self.tokens };
        let mut rounds = Rounds::default();
        round::decode(&mut session, &request, (self.width, drafter.as_mut()), &mut rounds)?;
        Ok(Script::recorded(prompt.to_vec(), &rounds.0))
    }
}
