//! The chain: one row a forward, and what every operation gave for it.

use super::settings::Settings;
use crate::engine::Result;
use crate::engine::cache::Caches;
use crate::engine::model::{Logits, TextModel};
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use crate::engine::routes::{Defaults, Plan};
use crate::engine::tap::{Call, Kernels, Site, Tap};
use crate::transcript::TokenId;
use mlx_rs::Array;
use mlx_rs::ops::concatenate;
use std::collections::BTreeMap;

/// The chain's outputs, all rows of a site in one array.
pub(super) struct Truth {
    outputs: BTreeMap<Site, Array>,
}

impl Truth {
    /// Feeds `ids` one by one after what `caches` hold, as plain decoding does under `settings`.
    pub(super) fn walk(
        model: &TextModel,
        ids: &[TokenId],
        caches: &mut Caches,
        settings: &Settings,
    ) -> Result<Self> {
        let plan = Plan::new(Defaults::Plain, &settings.plain, model.config().layers.len());
        let mut kept = Kept { head: settings.wanted.has(Op::LmHead), rows: BTreeMap::new() };
        for id in ids {
            let mut pass = Pass::new(&plan, &mut kept);
            model.forward(&mut pass, &[*id], caches, (Logits::All, false))?;
            caches.evaluate()?;
        }
        let joined = kept.rows.into_iter().map(|(site, rows)| {
            let all = concatenate(&rows, site.op.row_axis())?;
            all.eval()?;
            Ok((site, all))
        });
        Ok(Self { outputs: joined.collect::<Result<_>>()? })
    }

    /// All rows of a site.
    pub(super) fn of(&self, site: Site) -> Option<&Array> {
        self.outputs.get(&site)
    }
}

struct Kept {
    /// The head is the widest matrix of a model; where nobody asked for it, its input stands in for its output.
    head: bool,
    rows: BTreeMap<Site, Vec<Array>>,
}

impl Tap for Kept {
    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        if call.site.op == Op::LmHead && !self.head {
            return Ok(call.inputs[0].clone());
        }
        kernels(call.inputs)
    }

    fn at(&mut self, site: Site, output: Array) -> Result<Array> {
        output.eval()?;
        self.rows.entry(site).or_default().push(output.clone());
        Ok(output)
    }
}
