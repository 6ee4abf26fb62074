//! What a named operation bears: the most rows of one call that still agree, or another of its routes.
//!
//! Each question is one pass over the tokens with every input made equal, and answers for all operations at once, so
//! operations share their questions and none costs a probe.

use super::name::{Parities, Part, Parts, parting};
use super::run::RemedyError;
use crate::bisect::script::Script;
use crate::bisect::search::{Answer, Border, first_yes};
use crate::bisect::side::Stage;
use crate::engine::op::Op;
use crate::engine::routes::{Defaults, Plan, Route};
use crate::engine::side_routes::SideRoutes;
use crate::results::remedy::Named;
use std::collections::BTreeMap;

/// Routes of attention, cheapest first.
const ATTENTION: [Route; 4] = [Route::Block, Route::Materialised, Route::PerPosition, Route::Contiguous];

/// What is asked about.
pub(super) struct Bearing<'a, 'm> {
    /// Blocks under the routes that part.
    pub(super) stage: &'a Stage<'m>,
    /// Those in which something parts.
    pub(super) scripts: &'a [Script],
    /// The operations of each layer.
    pub(super) layers: &'a [Vec<Op>],
    /// Rows of a block.
    pub(super) width: usize,
    /// Where op parity differs.
    pub(super) parities: &'a Parities,
}

/// Passes that were made: what parts when the operations take a route.
#[derive(Default)]
struct Asked {
    parts: BTreeMap<String, Parts>,
    looks: u64,
}

impl Bearing<'_, '_> {
    /// What each of the operations bears; also the passes over the tokens.
    pub(super) fn named(&self, parts: &BTreeMap<String, Part>) -> Result<(Vec<Named>, u64), RemedyError> {
        let ops: Vec<Op> = Op::all()
            .filter(|op| parts.contains_key(op.name()) || self.parities.contains_key(op.name()))
            .collect();
        let (mut asked, mut all) = (Asked::default(), Vec::new());
        for op in &ops {
            let part = parts.get(op.name()).cloned().unwrap_or_default();
            all.push(self.one(*op, &ops, part, &mut asked)?);
        }
        Ok((all, asked.looks))
    }

    fn one(&self, op: Op, ops: &[Op], part: Part, asked: &mut Asked) -> Result<Named, RemedyError> {
        let of = self.layers.iter().filter(|ops| ops.contains(&op)).count();
        let mut named = Named {
            op: op.name().to_owned(),
            layers: part.layers.into_iter().collect(),
            of: u16::try_from(of).unwrap_or(u16::MAX),
            rows: part.rows,
            parity: self.parities.get(op.name()).copied(),
            ..Named::default()
        };
        let equal = match op {
            Op::Attention => self.among(op, &ATTENTION, &mut named, asked)?,
            Op::Delta => self.among(op, &[Route::Chain], &mut named, asked)?,
            _ => self.rows(op, ops, &mut named, asked)?,
        };
        named.equal = equal.iter().map(Route::to_string).collect();
        Ok(named)
    }

    /// The routes that it parts under now, in any layer.
    fn now(&self, op: Op) -> Vec<Route> {
        let plan = Plan::new(Defaults::Verify, &self.stage.routes.block, self.layers.len());
        let layers = self.layers.iter().enumerate().filter(|(_, ops)| ops.contains(&op));
        let inside: Vec<Route> = layers.map(|(layer, _)| plan.route(op, Some(layer))).collect();
        if inside.is_empty() { vec![plan.route(op, None)] } else { inside }
    }

    /// Which of an operation's other routes agree.
    fn among(
        &self,
        op: Op,
        routes: &[Route],
        named: &mut Named,
        asked: &mut Asked,
    ) -> Result<Vec<Route>, RemedyError> {
        let (now, mut equal) = (self.now(op), Vec::new());
        named.unequal.extend(now.first().map(Route::to_string));
        for route in routes.iter().filter(|route| !now.contains(route)) {
            if self.parts(&[op], *route, asked)?.ops.contains_key(op.name()) {
                named.unequal.push(route.to_string());
            } else {
                equal.push(*route);
            }
        }
        Ok(equal)
    }

    /// The most rows a call that agree, and one row a call where that is fewer.
    fn rows(
        &self,
        op: Op,
        ops: &[Op],
        named: &mut Named,
        asked: &mut Asked,
    ) -> Result<Vec<Route>, RemedyError> {
        let split: Vec<Op> =
            ops.iter().copied().filter(|op| !matches!(op, Op::Attention | Op::Delta)).collect();
        let now = self.now(op);
        let padded = now.iter().find(|route| matches!(route, Route::Padded(_))).copied();
        let largest = now.iter().map(|route| route.widest(self.width)).max().unwrap_or(self.width);
        // What parts in padded calls may agree in calls of as many rows as the block has.
        let parting = if padded.is_some() { self.width + 1 } else { largest };
        // Op parity says nothing of calls without the padding.
        let parity = named.parity.filter(|_| padded.is_none());
        let border = first_yes(parting, |index| {
            let rows = u16::try_from(index + 1).unwrap_or(u16::MAX);
            if parity.is_some_and(|least| u32::from(rows) >= least) {
                return Ok(Answer::Yes);
            }
            Ok::<_, RemedyError>(match self.parts(&split, Route::Rows(rows), asked) {
                Ok(parts) if parts.ops.contains_key(op.name()) => Answer::Yes,
                Ok(_) => Answer::No,
                // What the library refuses is neither; a proof has to do without that number.
                Err(RemedyError::Engine(_)) => Answer::Unknown,
                Err(other) => return Err(other),
            })
        })?;
        let safe = safe(&border);
        named.unknown = border.unknown.iter().map(|index| *index as u64 + 1).collect();
        let differs = Route::Rows(u16::try_from(border.first + 1).unwrap_or(u16::MAX));
        named.unequal.push(padded.filter(|_| border.first == self.width).unwrap_or(differs).to_string());
        let mut equal = self.as_plain(op, asked)?;
        equal.extend([safe, 1].into_iter().filter(|rows| (1..=safe).contains(rows)).map(Route::Rows));
        equal.dedup();
        Ok(equal)
    }

    /// Plain decoding's own route, where that pads and the block agrees by it.
    fn as_plain(&self, op: Op, asked: &mut Asked) -> Result<Vec<Route>, RemedyError> {
        let plan = Plan::new(Defaults::Plain, &self.stage.routes.plain, self.layers.len());
        let layer = self.layers.iter().position(|ops| ops.contains(&op));
        let route = plan.route(op, layer);
        if !matches!(route, Route::Padded(_)) || self.now(op).contains(&route) {
            return Ok(Vec::new());
        }
        let parts = self.parts(&[op], route, asked)?.ops.contains_key(op.name());
        Ok(if parts { Vec::new() } else { vec![route] })
    }

    /// What parts when `ops` take `route`; asked once.
    fn parts<'p>(&self, ops: &[Op], route: Route, asked: &'p mut Asked) -> Result<&'p Parts, RemedyError> {
        let key = format!("{} {}", route, ops.iter().map(|op| op.name()).collect::<Vec<_>>().join(" "));
        if !asked.parts.contains_key(&key) {
            let SideRoutes { block, plain } = &self.stage.routes;
            let block = ops.iter().fold(block.clone(), |routes, op| routes.with(*op, None, route));
            let routes = SideRoutes { block, plain: plain.clone() };
            let found = parting(&Stage { routes, ..self.stage.clone() }, self.scripts)?;
            asked.looks += found.looks;
            asked.parts.insert(key.clone(), found);
        }
        Ok(&asked.parts[&key])
    }
}

/// The most rows that are known to agree: those right below the border that could not be judged do not count.
fn safe(border: &Border) -> u16 {
    u16::try_from(border.first - border.unknown.len()).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::safe;
    use crate::bisect::search::{Answer, first_yes};
    use std::convert::Infallible;

    #[test]
    fn the_most_rows_lie_right_below_what_parts_or_is_unknown() {
        for width in 1..=16 {
            for least in 1..=width {
                for unknown in 0..=width {
                    let border = first_yes(width, |index| {
                        Ok::<_, Infallible>(match index + 1 {
                            rows if rows == unknown => Answer::Unknown,
                            rows if rows >= least => Answer::Yes,
                            _ => Answer::No,
                        })
                    });
                    let hidden = usize::from(unknown + 1 == least);
                    let expected = (least - 1).saturating_sub(hidden);
                    assert_eq!(usize::from(safe(&border.unwrap())), expected, "{width} {least} {unknown}");
                }
            }
        }
    }
}
