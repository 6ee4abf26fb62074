//! The second level: what every operation of every layer read and gave in the round in which something first differs.
//!
//! Both sides are driven again up to that round, so that whatever depends on what came before (a stale buffer, a
//! fault that counts) happens again, and the looked-at round must give the logits that the row walk saw.

use super::compare::equal;
use super::frontier::frontier;
use super::held;
use super::instrument::{Look, Looks};
use super::lockstep::{FirstRound, Pair};
use super::script::Script;
use super::side::{Stage, Start};
use crate::engine::Result;
use crate::engine::cache::Caches;
use crate::engine::op::Op;
use crate::engine::tap::Site;
use crate::results::bisect::{HeatRow, SiteWalk};
use std::collections::BTreeSet;

/// Rounds after the first differing one that the heat map goes on for.
const HEATED_ROUNDS: usize = 32;

/// A looked-at round.
pub(super) struct Looked {
    pub(super) walk: SiteWalk,
    /// One a kept row.
    pub(super) chain: Vec<Look>,
    pub(super) block: Look,
    /// What the block left after its rewind.
    pub(super) after: Caches,
    /// What it had before the round.
    pub(super) before: Caches,
    pub(super) heat: Vec<HeatRow>,
    /// Tokens that went in: chain, block.
    pub(super) fed: (u64, u64),
}

/// Looks at a round, and with `heat` at the layers of the rounds after it; `seen` is what the row walk saw of it.
///
/// # Errors
/// When MLX refuses.
pub(super) fn look(
    (stage, script): (&Stage<'_>, &Script),
    start: &Start,
    (number, seen): (usize, Option<&FirstRound>),
    handed: &BTreeSet<Site>,
    heat: bool,
) -> Result<Looked> {
    let mut pair = Pair::treated(stage, start, handed);
    for round in &script.rounds[..number] {
        pair.round(round)?;
    }
    pair.look(&Looks::Everywhere);
    let before = pair.right.caches.clone();
    let round = &script.rounds[number];
    let turn = pair.round(round)?;
    let (chain, mut blocks) = turn.looks;
    let block = blocks.pop().unwrap_or_default();
    let valid = match seen {
        Some(seen) => equal(&turn.left.logits, &seen.left)? && equal(&turn.right.logits, &seen.right)?,
        None => true,
    };
    let sites = held::sites(&chain, &block)?;
    let walk = SiteWalk { round: number as u64, rows: round.kept as u64, valid, sites };
    let after = pair.right.caches.clone();
    let mut rows = Vec::new();
    if heat {
        rows.extend(heated(script, number, (&chain, &block))?);
        pair.look(&Looks::Layers);
        for number in (number + 1..script.rounds.len()).take(HEATED_ROUNDS) {
            let turn = pair.round(&script.rounds[number])?;
            if let Some(block) = turn.looks.1.last() {
                rows.extend(heated(script, number, (&turn.looks.0, block))?);
            }
        }
    }
    let fed = (pair.left.fed, pair.right.fed);
    Ok(Looked { walk, chain, block, after, before, heat: rows, fed })
}

/// How much of each layer's output, and of the logits, differs on each kept row of a round.
fn heated(script: &Script, number: usize, (chain, block): (&[Look], &Look)) -> Result<Vec<HeatRow>> {
    let differing = |site: Site| -> Result<(Vec<u64>, u64)> {
        let theirs = block.of(site);
        theirs.map_or(Ok((Vec::new(), 0)), |ours| held::differing_output(&held::of_rows(chain, site)?, ours))
    };
    let outputs = block.seen.iter().filter(|seen| seen.site.op == Op::MlpResidual);
    let layers = outputs.map(|seen| differing(seen.site)).collect::<Result<Vec<_>>>()?;
    let (logits, logit_bytes) = differing(Site::outside(Op::LmHead))?;
    let row = |row: usize| HeatRow {
        round: number as u64,
        row: row as u64,
        position: script.position(number, row),
        layers: layers.iter().map(|(counts, _)| counts.get(row).copied().unwrap_or(0)).collect(),
        layer_bytes: layers.first().map_or(0, |(_, bytes)| *bytes),
        logits: logits.get(row).copied().unwrap_or(0),
        logit_bytes,
    };
    Ok((0..script.rounds[number].kept).map(row).collect())
}

/// A place in the order in which things are computed: rounds, then rows, then operations, then the rewind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) round: usize,
    /// Row and operation, or none for the rewind after them.
    pub(super) within: Within,
    /// The operation's name.
    pub(super) site: Option<String>,
}

/// Where in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Within {
    /// A row, and the operation's place in the order of computation.
    Row(usize, usize),
    /// After the rows.
    Rewind,
}

impl Place {
    /// The first place of a looked-at round that differs.
    pub(super) fn of(walk: &SiteWalk) -> Self {
        let round = usize::try_from(walk.round).unwrap_or(0);
        match frontier(walk) {
            Some(found) => Self {
                round,
                within: Within::Row(found.row, found.order),
                site: walk.sites.get(found.order).map(|site| site.site.clone()),
            },
            None => Self { round, within: Within::Rewind, site: None },
        }
    }

    /// In words.
    pub(super) fn says(&self) -> String {
        match (self.within, &self.site) {
            (Within::Row(row, _), Some(site)) => format!("round {}, row {row}, {site}", self.round),
            (Within::Row(row, _), None) => format!("round {}, row {row}", self.round),
            (Within::Rewind, _) => format!("after round {}", self.round),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::look;
    use crate::bisect::lockstep::{Pair, Until, walk};
    use crate::bisect::row::prefill;
    use crate::bisect::script::Script;
    use crate::bisect::side::{Kind, Stage};
    use crate::engine::cache::Rewind;
    use crate::engine::model::TextModel;
    use crate::engine::synth::{Geometry, Storage, Synth, resized};
    use mlx_rs::Dtype;
    use std::collections::BTreeSet;

    const SMALL: [(&str, usize); 5] = [
        ("hidden_size", 64),
        ("intermediate_size", 128),
        ("vocab_size", 256),
        ("linear_num_key_heads", 1),
        ("linear_num_value_heads", 2),
    ];

    /// The looked-at round has to give what the row walk saw; the logits of another round are a stale capture.
    #[test]
    fn a_stale_capture_is_no_valid_one() {
        let what = Synth { geometry: Geometry::Tiny, storage: Storage::Sixteen, seed: 0 };
        let checkpoint = resized(&what, "sample", &SMALL).unwrap();
        let model = TextModel::load(&checkpoint, Dtype::Float32).unwrap();
        let stage = Stage {
            chain: &model,
            block: &model,
            routes: "delta=chunked".parse().unwrap(),
            rewind: Rewind::KeepStates,
            prefill_chunk: 512,
            banned: Vec::new(),
            plants: Vec::new(),
        };
        let stream = stage.decode(&[5, 6, 7], 7).unwrap();
        let script = Script::pattern(vec![5, 6, 7], &stream, (&[2], 3), 256).unwrap();
        let start = prefill(&stage, &script.prompt).unwrap().start;
        let mut pair = Pair::new(&stage, (Kind::Chain, Kind::Block), &start);
        let first = walk(&mut pair, &script, Until::Difference).unwrap().first.unwrap();
        let valid = |round| {
            let seen = (round, Some(&first));
            look((&stage, &script), &start, seen, &BTreeSet::new(), false).unwrap().walk.valid
        };
        assert_eq!((first.round, valid(0), valid(1)), (0, true, false));
    }
}
