//! The shortest words for a setting: a group that is routed alike in all its operations is named once.
//!
//! A setting made operation by operation may be the group's own, and whoever takes it over has to read and type it. Only
//! words change: every operation of the model keeps its route, which is looked up and compared.

use super::candidates::Shape;
use crate::engine::op::Op;
use crate::engine::routes::{Defaults, Plan, Routes, operations};
use crate::engine::side_routes::SideRoutes;
use std::collections::BTreeSet;

/// Routes of blocks in the fewest words.
#[must_use]
pub(super) fn shortest(shape: Shape<'_>, routes: &Routes) -> Routes {
    respelled(shape, Defaults::Verify, routes)
}

/// Routes of both sides in the fewest words.
#[must_use]
pub(super) fn shortest_pair(shape: Shape<'_>, routes: &SideRoutes) -> SideRoutes {
    let plain = respelled(shape, Defaults::Plain, &routes.plain);
    SideRoutes { block: shortest(shape, &routes.block), plain }
}

fn respelled(shape: Shape<'_>, defaults: Defaults, routes: &Routes) -> Routes {
    let words: BTreeSet<&str> = shape.all().filter_map(|(op, _)| op.group().word()).collect();
    let named = |routes: Routes, word: &&str| by_group(shape, defaults, &routes, word).unwrap_or(routes);
    words.iter().fold(routes.clone(), named)
}

/// The routes with one word for the group in the place of its operations, where that says the same.
fn by_group(shape: Shape<'_>, defaults: Defaults, routes: &Routes, word: &str) -> Option<Routes> {
    let members: Vec<Op> = operations(word).ok()?;
    let text = routes.to_string();
    let single = |part: &&str| {
        part.split_once('=').is_some_and(|(name, _)| members.iter().any(|op| op.name() == name))
    };
    let (singles, others): (Vec<&str>, Vec<&str>) = text.split(',').partition(single);
    let (_, route) = singles.first()?.split_once('=')?;
    // What singles all overrule is no part of the answer.
    let others = others.into_iter().filter(|part| part.split_once('=').is_none_or(|(name, _)| name != word));
    let short = others.map(str::to_owned).chain([format!("{word}={route}")]);
    let short: Routes = short.collect::<Vec<_>>().join(",").parse().ok()?;
    let plan = |routes: &Routes| Plan::new(defaults, routes, shape.layers.len());
    let (before, after) = (plan(routes), plan(&short));
    let same = shape.all().all(|(op, layer)| before.route(op, layer) == after.route(op, layer));
    (singles.len() > 1 && same).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::{Shape, shortest, shortest_pair};
    use crate::engine::op::Op;

    fn spelled(text: &str) -> String {
        let layers = [vec![Op::Delta, Op::GateProj, Op::DownProj], vec![Op::Attention, Op::GateProj]];
        shortest(Shape { layers: &layers, width: 8 }, &text.parse().unwrap()).to_string()
    }

    #[test]
    fn a_group_that_is_routed_alike_is_one_word() {
        assert_eq!(
            spelled("delta=chain,gate_proj=rows:4,down_proj=rows:4,lm_head=rows:4"),
            "delta=chain,linear=rows:4"
        );
        // An operation is left out, one is routed otherwise, a layer is, or there is one alone.
        for text in [
            "gate_proj=rows:4,down_proj=rows:4",
            "gate_proj=rows:4,down_proj=rows:4,lm_head=rows:3",
            "gate_proj=rows:4",
            "",
        ] {
            assert_eq!(spelled(text), text);
        }
        let but_one = "layer.1.gate_proj=rows:2,gate_proj=rows:4,down_proj=rows:4,lm_head=rows:4";
        assert_eq!(spelled(but_one), "layer.1.gate_proj=rows:2,linear=rows:4");
        let overruled = "linear=rows:7,gate_proj=rows:4,down_proj=rows:4,lm_head=rows:4";
        assert_eq!(spelled(overruled), "linear=rows:4");
    }

    #[test]
    fn both_sides_are_spelled_alike() {
        let layers = [vec![Op::Delta, Op::GateProj]];
        let text = "gate_proj=padded:8,lm_head=padded:8,plain.gate_proj=padded:8,plain.lm_head=padded:8";
        let pair = shortest_pair(Shape { layers: &layers, width: 8 }, &text.parse().unwrap());
        assert_eq!(pair.to_string(), "linear=padded:8,plain.linear=padded:8");
    }
}
