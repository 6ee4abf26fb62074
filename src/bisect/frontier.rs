//! From what differs where to what came first. Pure: it sees answers and no arrays.
//!
//! Rows come before layers: whatever a row reads was computed by an earlier operation of the same row or left by an
//! earlier row. So the first entry that differs, in the order of rows and then of computation, is the one place whose
//! inputs can be equal; everything else that differs may have inherited it.

use crate::results::bisect::{LayerLine, OpLine, SiteRows, SiteWalk};

/// The first place that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontier {
    /// Row of the block.
    pub row: usize,
    /// Its place in the order of computation.
    pub order: usize,
    /// The state that it leaves differs and its output does not.
    pub in_state: bool,
    /// Inputs that differ: then the difference was inherited from outside of what was looked at.
    pub inherited: Vec<String>,
}

/// The first place of a looked-at round that differs, or none when nothing does.
#[must_use]
pub fn frontier(walk: &SiteWalk) -> Option<Frontier> {
    let rows = usize::try_from(walk.rows).unwrap_or(0);
    let places = (0..rows).flat_map(|row| walk.sites.iter().enumerate().map(move |site| (row, site)));
    places.into_iter().find_map(|(row, (order, site))| {
        let (output, state) = (at(&site.output, row), at(&site.state, row));
        (output || state).then(|| Frontier { row, order, in_state: !output, inherited: inherited(site, row) })
    })
}

/// Every place of a round with equal inputs and another output, in the order of rows and then of computation.
#[must_use]
pub fn local(walk: &SiteWalk) -> Vec<(usize, usize)> {
    let rows = usize::try_from(walk.rows).unwrap_or(0);
    let places = (0..rows).flat_map(|row| walk.sites.iter().enumerate().map(move |site| (row, site)));
    let differs = |row, site: &SiteRows| at(&site.output, row) || at(&site.state, row);
    let found = places.into_iter().filter(|(row, (_, site))| differs(*row, site));
    let equal = found.filter(|(row, (_, site))| inherited(site, *row).is_empty());
    equal.map(|(row, (order, _))| (row, order)).collect()
}

fn inherited(site: &SiteRows, row: usize) -> Vec<String> {
    let differing = site.inputs.iter().filter(|input| at(&input.differs, row));
    differing.map(|input| input.name.clone()).collect()
}

fn at(flags: &[bool], row: usize) -> bool {
    flags.get(row).copied().unwrap_or(false)
}

/// The layers on one row: what went in, what earlier rows left, what came out.
///
/// `mixers` are the layers' kinds, in order.
#[must_use]
pub fn layers(walk: &SiteWalk, row: usize, mixers: &[&str]) -> Vec<LayerLine> {
    let line = |(layer, mixer): (u64, &&str)| {
        let sites: Vec<&SiteRows> = walk.sites.iter().filter(|site| site.layer == Some(layer)).collect();
        let state = sites.iter().flat_map(|site| &site.inputs);
        // The state of earlier rows, for a row: what is named so, or positions before its own.
        let state = state.filter(|input| is_state(&input.name)).any(|input| at(&input.differs, row));
        let (first, last) = (sites.first(), sites.last());
        LayerLine {
            layer,
            mixer: (*mixer).to_owned(),
            input: first.is_some_and(|site| !inherited(site, row).is_empty()),
            state,
            output: last.is_some_and(|site| at(&site.output, row))
                || sites.iter().any(|site| at(&site.state, row)),
        }
    };
    (0..).zip(mixers).map(line).collect()
}

/// The operations of one layer, or those outside the layers, on one row.
#[must_use]
pub fn operations(walk: &SiteWalk, row: usize, layer: Option<u64>) -> Vec<OpLine> {
    let sites = walk.sites.iter().filter(|site| site.layer == layer);
    let line = |site: &SiteRows| OpLine {
        site: site.site.clone(),
        inputs: inherited(site, row),
        output: at(&site.output, row),
        state: at(&site.state, row),
    };
    sites.map(line).collect()
}

fn is_state(input: &str) -> bool {
    matches!(input, "state" | "window before" | "keys before" | "values before")
}

#[cfg(test)]
mod tests {
    use super::{Frontier, frontier, layers, local};
    use crate::results::bisect::{InputRows, SiteRows, SiteWalk};
    use proptest::prelude::*;

    fn site(layer: u64, op: &str, input: &[bool], output: &[bool]) -> SiteRows {
        SiteRows {
            site: format!("layer.{layer}.{op}"),
            layer: Some(layer),
            op: op.to_owned(),
            inputs: vec![InputRows { name: "x".to_owned(), differs: input.to_vec() }],
            output: output.to_vec(),
            state: Vec::new(),
        }
    }

    fn walk(rows: u64, sites: Vec<SiteRows>) -> SiteWalk {
        SiteWalk { round: 0, rows, valid: true, sites }
    }

    #[test]
    fn rows_come_before_layers() {
        // Row 1 differs early on, row 0 in the last layer alone.
        let sites = vec![
            site(0, "input_norm", &[false, false], &[false, true]),
            site(1, "input_norm", &[false, true], &[true, true]),
        ];
        let found = frontier(&walk(2, sites.clone())).unwrap();
        assert_eq!(found, Frontier { row: 0, order: 1, in_state: false, inherited: vec![] });
        assert_eq!(local(&walk(2, sites)), [(0, 1), (1, 0)]);
    }

    #[test]
    fn one_that_inherited_its_difference_says_so() {
        let inherited = frontier(&walk(1, vec![site(3, "o_proj", &[true], &[true])])).unwrap();
        assert_eq!(inherited.inherited, ["x"]);
        assert!(local(&walk(1, vec![site(3, "o_proj", &[true], &[true])])).is_empty());
    }

    #[test]
    fn layers_say_what_went_in_and_came_out() {
        let mut delta = site(0, "delta", &[false], &[false]);
        delta.state = vec![true];
        let sites = vec![
            site(0, "input_norm", &[false], &[false]),
            delta,
            site(0, "mlp_residual", &[false], &[false]),
            site(1, "input_norm", &[false], &[true]),
            site(1, "mlp_residual", &[true], &[true]),
        ];
        let lines = layers(&walk(1, sites), 0, &["delta net", "attention"]);
        let flags: Vec<_> = lines.iter().map(|line| (line.input, line.state, line.output)).collect();
        assert_eq!(flags, [(false, false, true), (false, false, true)]);
    }

    proptest! {
        /// A program of operations that read the one before and, from the row before, any of the operations up to
        /// themselves: faults anywhere, and the frontier is the first of them that reaches its output.
        #[test]
        fn the_first_fault_is_found_and_nothing_that_inherited_it(
            (rows, ops, faults) in (1usize..5, 1usize..7).prop_flat_map(|(rows, ops)| {
                (Just(rows), Just(ops), prop::collection::vec(prop::bool::weighted(0.2), rows * ops))
            })
        ) {
            let mut output = vec![vec![false; rows]; ops];
            let mut input = vec![vec![false; rows]; ops];
            for row in 0..rows {
                for op in 0..ops {
                    let above = op > 0 && output[op - 1][row];
                    let before = row > 0 && output[op][row - 1];
                    input[op][row] = above || before;
                    output[op][row] = input[op][row] || faults[row * ops + op];
                }
            }
            let sites = (0..ops).map(|op| site(0, &op.to_string(), &input[op], &output[op])).collect();
            let expected = faults.iter().position(|fault| *fault).map(|place| (place / ops, place % ops));
            let found = frontier(&walk(rows as u64, sites));
            prop_assert_eq!(found.as_ref().map(|found| (found.row, found.order)), expected);
            prop_assert!(found.is_none_or(|found| found.inherited.is_empty()));
        }
    }
}
