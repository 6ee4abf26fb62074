//! Which settings are worth a proof, from what each named operation bears. Pure: it sees names and counts.
//!
//! The least change comes first: each named operation over all layers, then in the layers where it was seen to part,
//! then dearer ones, so that the cost of the cheap one has something to stand beside.

use super::spelling::shortest;
use crate::engine::op::Op;
use crate::engine::routes::{Defaults, Plan, Route, Routes};
use crate::engine::side_routes::SideRoutes;
use crate::results::remedy::Kind;
use std::collections::BTreeMap;

/// What a named operation bears.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cure {
    /// Layers in which it was seen to part; empty where that is not known or it is outside the layers.
    pub layers: Vec<u16>,
    /// Routes of the block that make it agree, cheapest first.
    pub equal: Vec<Route>,
}

/// The operations that are treated.
pub type Cures = BTreeMap<Op, Cure>;

/// The model's operations by layer, and the rows of a block.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    /// As in [`inventory::layers`](crate::engine::inventory::layers).
    pub layers: &'a [Vec<Op>],
    /// Rows.
    pub width: usize,
}

impl Shape<'_> {
    /// Calls of kernels that a block makes under these routes.
    #[must_use]
    pub fn calls(&self, routes: &Routes) -> u64 {
        let plan = Plan::new(Defaults::Verify, routes, self.layers.len());
        self.all().map(|(op, layer)| cost(plan.route(op, layer), self.width)).sum()
    }

    /// Every operation with its layer; those outside the layers have none.
    pub fn all(&self) -> impl Iterator<Item = (Op, Option<usize>)> {
        let inside = self.layers.iter().enumerate();
        let inside = inside.flat_map(|(layer, ops)| ops.iter().map(move |op| (*op, Some(layer))));
        inside.chain(Op::all().filter(|op| op.block().is_none()).map(|op| (op, None)))
    }

    fn has(&self, op: Op) -> usize {
        self.layers.iter().filter(|ops| ops.contains(&op)).count()
    }
}

/// Calls that a route makes for `width` rows; copies and explicit products count as calls.
#[must_use]
pub fn cost(route: Route, width: usize) -> u64 {
    let calls = match route {
        Route::Whole | Route::Block | Route::Chunked | Route::Padded(_) => 1,
        Route::Rows(rows) => width.div_ceil(usize::from(rows)),
        Route::Materialised => 3,
        Route::PerPosition | Route::Chain => width,
        Route::Contiguous => 2 * width,
    };
    calls as u64
}

/// The least change over all layers: the first route of each operation.
#[must_use]
pub fn by_operation(requested: &Routes, cures: &Cures) -> Routes {
    dearer(requested, cures, 0)
}

/// All settings worth a proof, each once, the least change first.
#[must_use]
pub fn candidates(shape: Shape<'_>, requested: &Routes, cures: &Cures) -> Vec<(Kind, Routes)> {
    let mut all = vec![(Kind::ByOperation, by_operation(requested, cures))];
    all.extend(by_layer(shape, requested, cures).map(|routes| (Kind::ByLayer, routes)));
    let most = cures.values().map(|cure| cure.equal.len()).max().unwrap_or(0);
    all.extend((1..most).map(|place| (Kind::Dearer, dearer(requested, cures, place))));
    all.extend(by_group(requested, cures).map(|routes| (Kind::Group, routes)));
    let mut once: Vec<(Kind, Routes)> = Vec::new();
    for (kind, routes) in all {
        let routes = shortest(shape, &routes);
        if routes != *requested && !once.iter().any(|(_, known)| *known == routes) {
            once.push((kind, routes));
        }
    }
    once
}

/// The last resort: every operation as plain decoding computes it, one row a call, padded where plain decoding pads.
#[must_use]
pub fn everything(requested: &SideRoutes, shape: Shape<'_>) -> Routes {
    let plain = Plan::new(Defaults::Plain, &requested.plain, shape.layers.len());
    let here = |op: &Op| op.block().is_none() || shape.has(*op) > 0;
    let layer = |op| shape.layers.iter().position(|ops| ops.contains(&op));
    let set = |routes: Routes, op| match plain.route(op, layer(op)) {
        padded @ Route::Padded(_) => routes.with(op, None, padded),
        _ => routes.with(op, None, Route::by_single_rows(op)),
    };
    Op::all().filter(here).fold(requested.block.clone(), set)
}

/// The setting of both sides: every named operation whose rows can be padded takes as many rows in a step of plain decoding
/// as in a block, and the others the block's cheapest route that agrees.
///
/// # Errors
/// With why there is none.
pub fn both_sides(width: usize, requested: &SideRoutes, cures: &Cures) -> Result<SideRoutes, String> {
    let padded = u16::try_from(width).map_or(Route::Padded(u16::MAX), Route::Padded);
    let (wide, other): (Vec<_>, Vec<_>) = cures.iter().partition(|(op, _)| padded.fits(**op));
    if let Some((op, _)) = other.iter().find(|(_, cure)| cure.equal.is_empty()) {
        return Err(format!("{} has no route that agrees, and no rows that can be padded", op.name()));
    }
    if wide.is_empty() || width < 2 {
        return Err("nothing that differs has rows that can be padded".to_owned());
    }
    let others: Cures = other.into_iter().map(|(op, cure)| (*op, cure.clone())).collect();
    let start = SideRoutes { block: by_operation(&requested.block, &others), plain: requested.plain.clone() };
    let pad = |routes: SideRoutes, (op, _): (&Op, &Cure)| SideRoutes {
        block: routes.block.with(*op, None, padded),
        plain: routes.plain.with(*op, None, padded),
    };
    Ok(wide.into_iter().fold(start, pad))
}

/// Only the layers that part, where some do not.
fn by_layer(shape: Shape<'_>, requested: &Routes, cures: &Cures) -> Option<Routes> {
    let some = |(op, cure): (&Op, &Cure)| !cure.layers.is_empty() && cure.layers.len() < shape.has(*op);
    if !cures.iter().any(some) {
        return None;
    }
    let set = |routes: Routes, (op, cure): (&Op, &Cure)| match (cure.equal.first(), some((op, cure))) {
        (Some(route), true) => {
            cure.layers.iter().fold(routes, |routes, layer| routes.with(*op, Some(*layer), *route))
        }
        (Some(route), false) => routes.with(*op, None, *route),
        (None, _) => routes,
    };
    Some(cures.iter().fold(requested.clone(), set))
}

/// Each operation by its route at `place`, or by its last one.
fn dearer(requested: &Routes, cures: &Cures, place: usize) -> Routes {
    let set = |routes: Routes, (op, cure): (&Op, &Cure)| match cure.equal.get(place).or(cure.equal.last()) {
        Some(route) => routes.with(*op, None, *route),
        None => routes,
    };
    cures.iter().fold(requested.clone(), set)
}

/// Every operation of the named ones' groups, by the fewest rows a call that one of them bears.
fn by_group(requested: &Routes, cures: &Cures) -> Option<Routes> {
    let mut words: Vec<(&str, u16)> = Vec::new();
    for (op, cure) in cures {
        let rows = cure.equal.first().and_then(|route| route.rows());
        let (Some(word), Some(rows)) = (op.group().word(), rows) else { continue };
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, least)) => *least = rows.min(*least),
            None => words.push((word, rows)),
        }
    }
    if words.is_empty() {
        return None;
    }
    let others = cures.iter().filter(|(op, _)| op.group().word().is_none());
    let base = by_operation(requested, &others.map(|(op, cure)| (*op, cure.clone())).collect());
    let groups = words.iter().map(|(word, rows)| format!("{word}={}", Route::Rows(*rows)));
    let parts = std::iter::once(base.to_string()).chain(groups).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(",").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Cure, Cures, Shape, candidates, cost, everything};
    use crate::engine::op::Op;
    use crate::engine::routes::{Route, Routes};
    use crate::engine::side_routes::SideRoutes;
    use crate::results::remedy::Kind;

    fn layers() -> Vec<Vec<Op>> {
        vec![vec![Op::Delta, Op::GateProj, Op::DownProj], vec![Op::Attention, Op::GateProj, Op::DownProj]]
    }

    fn cure(layers: &[u16], equal: &[Route]) -> Cure {
        Cure { layers: layers.to_vec(), equal: equal.to_vec() }
    }

    fn listed(requested: &str, cures: &Cures) -> Vec<(Kind, String)> {
        let layers = layers();
        let all = candidates(Shape { layers: &layers, width: 8 }, &requested.parse().unwrap(), cures);
        all.into_iter().map(|(kind, routes)| (kind, routes.to_string())).collect()
    }

    #[test]
    fn the_least_change_comes_first() {
        let rows = [Route::Rows(4), Route::Rows(1)];
        let cures = Cures::from([(Op::GateProj, cure(&[0, 1], &rows))]);
        let expected = [
            (Kind::ByOperation, "gate_proj=rows:4".to_owned()),
            (Kind::Dearer, "gate_proj=rows".to_owned()),
            (Kind::Group, "linear=rows:4".to_owned()),
        ];
        assert_eq!(listed("", &cures), expected);
    }

    #[test]
    fn a_layer_that_does_not_part_may_stay_as_it_is() {
        let cures = Cures::from([
            (Op::GateProj, cure(&[1], &[Route::Rows(4)])),
            (Op::Delta, cure(&[0], &[Route::Chain])),
        ]);
        let expected = [
            (Kind::ByOperation, "delta=chain,gate_proj=rows:4".to_owned()),
            (Kind::ByLayer, "delta=chain,layer.1.gate_proj=rows:4".to_owned()),
            (Kind::Group, "delta=chain,linear=rows:4".to_owned()),
        ];
        assert_eq!(listed("delta=chunked", &cures), expected);
    }

    #[test]
    fn an_operation_that_nothing_cures_is_left_out() {
        let cures = Cures::from([(Op::GateProj, cure(&[0, 1], &[]))]);
        assert_eq!(listed("", &cures), []);
    }

    #[test]
    fn both_sides_pad_what_can_be_padded() {
        let found = |cures: &Cures| {
            let both = super::both_sides(8, &"delta=chunked,plain.norm=rows".parse().unwrap(), cures);
            both.map(|routes| routes.to_string())
        };
        let cures = Cures::from([
            (Op::GateProj, cure(&[1], &[])),
            (Op::LmHead, cure(&[], &[Route::Rows(4)])),
            (Op::Delta, cure(&[0], &[Route::Chain])),
        ]);
        let expected = "delta=chain,gate_proj=padded:8,lm_head=padded:8,plain.norm=rows,\
                        plain.gate_proj=padded:8,plain.lm_head=padded:8";
        assert_eq!(found(&cures).as_deref(), Ok(expected));
        let alone = Cures::from([(Op::Delta, cure(&[0], &[Route::Chain]))]);
        assert!(found(&alone).unwrap_err().starts_with("nothing that differs"));
        let uncured = Cures::from([(Op::GateProj, cure(&[1], &[])), (Op::Attention, cure(&[1], &[]))]);
        assert!(found(&uncured).unwrap_err().starts_with("attention has no route that agrees"));
    }

    #[test]
    fn calls_are_counted_over_all_layers() {
        let layers = layers();
        let shape = Shape { layers: &layers, width: 8 };
        let calls = |text: &str| shape.calls(&text.parse::<Routes>().unwrap());
        // Embedding, final norm and head; two layers of two products; attention and delta a row a call.
        assert_eq!(calls(""), 3 + 4 + 16);
        assert_eq!(calls("gate_proj=rows:4"), 3 + 6 + 16);
        assert_eq!(calls("layer.1.gate_proj=rows:3"), 3 + 6 + 16);
        assert_eq!(calls("delta=chunked,attention=block"), 3 + 4 + 2);
        assert_eq!(shape.calls(&everything(&SideRoutes::default(), shape)), 8 * (3 + 4 + 2));
        let padded = "plain.linear=padded:9".parse().unwrap();
        assert_eq!(shape.calls(&everything(&padded, shape)), 8 * (2 + 2) + 1 + 4);
        assert_eq!((cost(Route::Rows(5), 8), cost(Route::Contiguous, 8)), (2, 16));
    }
}
