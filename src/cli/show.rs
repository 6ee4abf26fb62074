//! `exactness show`: a transcript for eyes.

use super::exit::Failure;
use super::spell::Speller;
use super::{console, draw, settings};
use crate::algebra::Side;
use crate::algebra::between::prompt_length;
use crate::results::comparing::side;
use crate::results::{Table, shown};
use crate::transcript::{Arm, TokenId};
use std::path::PathBuf;

/// Shows a transcript's rounds: accepted runs, rejected proposals, rewinds, cache lengths and text.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// The transcript, or - for standard input
    file: PathBuf,
    /// One round, row by row
    #[arg(long, value_name = "N")]
    round: Option<i64>,
    /// One sequence
    #[arg(long, value_name = "N")]
    sequence: Option<i64>,
    /// tokenizer.json, or the folder that holds it, to spell ids as text
    #[arg(long, value_name = "PATH")]
    tokenizer: Option<PathBuf>,
}

impl Show {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the transcript or the tokenizer cannot be read, or there is no such sequence or round.
    pub fn run(&self) -> anyhow::Result<u8> {
        let speller = Speller::open(self.tokenizer.as_deref())?;
        let arm = Arm::read(&self.file).map_err(Failure::from)?;
        let chosen = |number: i64| self.sequence.is_none_or(|wanted| wanted == number);
        let sequences: Vec<Side<'_>> =
            arm.sequences.iter().filter(|sequence| chosen(sequence.sequence)).map(side).collect();
        if sequences.is_empty() {
            return Err(Failure::usage(format!("{} has no such sequence", self.file.display())).into());
        }
        let mut found = false;
        for side in &sequences {
            let prompt = prompt_length(arm.prompt(side.sequence), side);
            found |= self.sequence(side, prompt, &speller);
        }
        if !found {
            let says = format!("{} has no round {}", self.file.display(), self.round.unwrap_or(0));
            return Err(Failure::usage(says).into());
        }
        if let Some(cut) = arm.cut {
            console::out(&format!("cut run: {cut}"));
        }
        Ok(0)
    }

    /// Prints one sequence; false when the round asked for is not in it.
    fn sequence(&self, side: &Side<'_>, prompt: Option<usize>, speller: &Speller) -> bool {
        let strings = side.strings();
        let spell = |index: Option<usize>, id: TokenId| {
            let told = index.and_then(|index| strings?.get(index)).cloned();
            told.unwrap_or_else(|| speller.spell(id))
        };
        let print = |table: &Table| console::out(&table.terminal(settings::columns()));
        if let Some(wanted) = self.round {
            let found: Vec<_> = side.rounds.iter().filter(|round| round.round == wanted).collect();
            for round in &found {
                console::out(&format!(
                    "sequence {}, round {wanted}\n\n{}\n",
                    side.sequence,
                    draw::round(round, None)
                ));
                print(&shown::rows(side, round, prompt, &spell));
            }
            return !found.is_empty();
        }
        if side.rounds.is_empty() {
            print(&shown::steps(side, &spell));
        } else {
            print(&shown::rounds(side, &spell));
        }
        console::out(&format!("{}\n", shown::summary(side)));
        true
    }
}
