//! How each operation is computed: defaults, and overrides by operation and layer, in one text grammar.
//!
//! A route is a value that is handed in, never a switch read deep inside, so that an experiment can say what it
//! changed by printing it. `linear=rows:6,attention=per-position,rope=rows,layer.5.o_proj=single` is the same
//! text in a flag, a settings file and a transcript's header.

use super::op::{GROUPS, Group, OPS, Op};
use std::fmt;
use std::str::FromStr;

impl FromStr for Op {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let found = OPS.iter().find(|entry| entry.1 == text).map(|entry| entry.0);
        found.ok_or_else(|| RouteError::UnknownOperation(text.to_owned()))
    }
}

/// How one operation is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// All rows in one call.
    Whole,
    /// At most this many rows a call; 1 is one row a call.
    Rows(u16),
    /// All rows in one call of at least this many, which is 2 or more: rows of zeros are put after them, and what those
    /// give is dropped.
    Padded(u16),
    /// Attention: one fused call over all rows, causal mask.
    Block,
    /// Attention: one fused call a row over a slice of the cache, no mask.
    PerPosition,
    /// Attention: like per-position, over contiguous copies of the slices.
    Contiguous,
    /// Attention: explicit products and softmax over all rows.
    Materialised,
    /// Delta rule: one recurrence step a row.
    Chain,
    /// Delta rule: the chunked form, another order of arithmetic.
    Chunked,
}

impl Route {
    /// Rows a call, when the operation is split by rows.
    #[must_use]
    pub const fn rows(self) -> Option<u16> {
        match self {
            Self::Rows(rows) => Some(rows),
            _ => None,
        }
    }

    /// Rows of the largest call that it makes over `rows` rows.
    #[must_use]
    pub fn widest(self, rows: usize) -> usize {
        match self {
            Self::Rows(most) => rows.min(usize::from(most)),
            Self::Padded(least) => rows.max(usize::from(least)),
            Self::PerPosition | Self::Contiguous | Self::Chain => rows.min(1),
            Self::Whole | Self::Block | Self::Materialised | Self::Chunked => rows,
        }
    }

    /// The route by which a block computes `op` one row at a time, as plain decoding does.
    #[must_use]
    pub const fn by_single_rows(op: Op) -> Self {
        match op {
            Op::Attention => Self::PerPosition,
            Op::Delta => Self::Chain,
            _ => Self::Rows(1),
        }
    }

    /// True for the routes that `op` has.
    #[must_use]
    pub fn fits(self, op: Op) -> bool {
        match self {
            Self::Whole | Self::Rows(_) => !matches!(op, Op::Attention | Op::Delta),
            // The convolution's rows reach back into a window that has no row past the block's last one.
            Self::Padded(_) => !matches!(op, Op::Attention | Op::Delta | Op::Conv),
            Self::Block | Self::PerPosition | Self::Contiguous | Self::Materialised => op == Op::Attention,
            Self::Chain | Self::Chunked => op == Op::Delta,
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Whole => "whole",
            Self::Rows(1) => "rows",
            Self::Rows(rows) => return write!(formatter, "rows:{rows}"),
            Self::Padded(rows) => return write!(formatter, "padded:{rows}"),
            Self::Block => "block",
            Self::PerPosition => "per-position",
            Self::Contiguous => "contiguous",
            Self::Materialised => "materialised",
            Self::Chain => "chain",
            Self::Chunked => "chunked",
        })
    }
}

impl FromStr for Route {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        Ok(match text {
            // The convolution's only whole form sums its taps in a fixed order, so both words name it.
            "whole" | "taps" => Self::Whole,
            "rows" | "single" => Self::Rows(1),
            "block" => Self::Block,
            "per-position" => Self::PerPosition,
            "contiguous" => Self::Contiguous,
            "materialised" => Self::Materialised,
            "chain" => Self::Chain,
            "chunked" => Self::Chunked,
            _ => counted(text).ok_or_else(|| RouteError::UnknownRoute(text.to_owned()))?,
        })
    }
}

/// Rows of the widest block, and of the widest padded call.
pub const WIDEST: u16 = 64;

/// `rows:6`, `padded:8`; padding to one row is no padding.
fn counted(text: &str) -> Option<Route> {
    let (word, count) =
        text.split_once(':').filter(|(_, count)| count.bytes().all(|byte| byte.is_ascii_digit()))?;
    match (word, count.parse().ok()?) {
        ("rows", rows @ 1..) => Some(Route::Rows(rows)),
        ("padded", rows @ 2..=WIDEST) => Some(Route::Padded(rows)),
        _ => None,
    }
}

/// A text that is not a route setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// No `=`.
    #[error("read route {0:?}: expected <operation>=<route>, as in linear=rows:6")]
    NoEquals(String),
    /// Not an operation or a group of operations.
    #[error(
        "read routes: {0:?} is not an operation; groups are linear, norm, rope, elementwise; operations are {ops}",
        ops = operation_names()
    )]
    UnknownOperation(String),
    /// A setting of plain decoding among those of blocks.
    #[error(
        "read routes: {0:?} is a setting of plain decoding; give it to --plain-routes, without the \"plain.\""
    )]
    OfPlain(String),
    /// Not a route.
    #[error(
        "read routes: {0:?} is not a route; attention takes block, per-position, contiguous, materialised; \
         delta takes chain, chunked; everything else whole, rows, rows:<count>, padded:<2 to 64> (not conv)"
    )]
    UnknownRoute(String),
    /// A route that this operation does not have.
    #[error("read routes: {op} has no route {route}")]
    Misfit {
        /// The operation's or group's word.
        op: String,
        /// The route.
        route: Route,
    },
    /// A layer number that is not one, or an operation that no layer has.
    #[error("read routes: {0:?} does not name an operation of a layer, as in layer.5.o_proj")]
    BadLayer(String),
}

/// The operations that a word of the grammar names: one, or those of a group.
///
/// # Errors
/// When it names none.
pub fn operations(word: &str) -> Result<Vec<Op>, RouteError> {
    let target = Target::parse(word)?;
    Ok(Op::all().filter(|op| target.holds(*op)).collect())
}

fn operation_names() -> String {
    let names: Vec<&str> = Op::all().map(Op::name).collect();
    names.join(", ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Group(Group),
    One(Op),
}

impl Target {
    fn parse(word: &str) -> Result<Self, RouteError> {
        match GROUPS.iter().find(|(name, _)| *name == word) {
            Some((_, group)) => Ok(Self::Group(*group)),
            None => word.parse().map(Self::One),
        }
    }

    fn holds(self, op: Op) -> bool {
        match self {
            Self::Group(group) => op.group() == group,
            Self::One(one) => op == one,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::One(op) => op.name(),
            Self::Group(group) => group.word().unwrap_or("other"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Setting {
    layer: Option<u16>,
    target: Target,
    route: Route,
}

impl Setting {
    fn parse(text: &str) -> Result<Self, RouteError> {
        let (key, value) = text.split_once('=').ok_or_else(|| RouteError::NoEquals(text.to_owned()))?;
        if key.trim().starts_with("plain.") {
            return Err(RouteError::OfPlain(text.to_owned()));
        }
        let (layer, block, word) = split_layer(key.trim())?;
        let target = Target::parse(word)?;
        let inside = |block| matches!(target, Target::One(op) if op.block() == Some(block));
        if !block.is_none_or(inside) {
            return Err(RouteError::BadLayer(key.to_owned()));
        }
        let route: Route = value.trim().parse()?;
        if !Op::all().filter(|op| target.holds(*op)).all(|op| route.fits(op)) {
            return Err(RouteError::Misfit { op: word.to_owned(), route });
        }
        if layer.is_some() && Op::all().filter(|op| target.holds(*op)).all(|op| op.block().is_none()) {
            return Err(RouteError::BadLayer(key.to_owned()));
        }
        Ok(Self { layer, target, route })
    }

    /// What is wrong with a setting for a model whose layers have these operations.
    fn misplaced(&self, layers: &[Vec<Op>]) -> Option<String> {
        let named = |ops: &Vec<Op>| ops.iter().any(|op| self.target.holds(*op));
        let Some(layer) = self.layer.map(usize::from) else {
            let outside = Op::all().any(|op| op.block().is_none() && self.target.holds(op));
            let nowhere = !outside && !layers.iter().any(named);
            return nowhere.then(|| format!("{self}: no layer of this model has such an operation"));
        };
        let Some(ops) = layers.get(layer) else {
            return Some(format!("layer {layer} of a model with layers 0 to {}", layers.len() - 1));
        };
        let has: Vec<&str> = ops.iter().map(|op| op.name()).collect();
        (!named(ops))
            .then(|| format!("{self}: layer {layer} has no such operation; it has {}", has.join(", ")))
    }

    /// The narrower a setting, the later it is applied.
    fn narrowness(&self) -> (bool, bool) {
        (self.layer.is_some(), matches!(self.target, Target::One(_)))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(layer) = self.layer {
            write!(formatter, "layer.{layer}.")?;
        }
        write!(formatter, "{}={}", self.target.word(), self.route)
    }
}

/// `layer.5.attn.o_proj` gives layer 5, block `attn`; the block may be left out; a bare word gives neither.
fn split_layer(key: &str) -> Result<(Option<u16>, Option<&str>, &str), RouteError> {
    let Some(rest) = key.strip_prefix("layer.") else { return Ok((None, None, key)) };
    let bad = || RouteError::BadLayer(key.to_owned());
    let (number, path) = rest.split_once('.').ok_or_else(bad)?;
    let (block, word) = path.split_once('.').map_or((None, path), |(block, word)| (Some(block), word));
    Ok((Some(number.parse().map_err(|_| bad())?), block, word))
}

/// Overrides of the default routes, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routes(Vec<Setting>);

impl Routes {
    /// What is wrong with the first setting for an operation that the model, or the layer, does not have; `layers`
    /// are those of [`inventory::layers`](super::inventory::layers).
    #[must_use]
    pub fn misplaced(&self, layers: &[Vec<Op>]) -> Option<String> {
        self.0.iter().find_map(|setting| setting.misplaced(layers))
    }

    /// These with one operation computed otherwise, in one layer or in all: what they said of it there is dropped.
    #[must_use]
    pub fn with(&self, op: Op, layer: Option<u16>, route: Route) -> Self {
        let replaced =
            |one: &Setting| one.target == Target::One(op) && (layer.is_none() || one.layer == layer);
        let kept = self.0.iter().filter(|one| !replaced(one)).copied();
        Self(kept.chain([Setting { layer, target: Target::One(op), route }]).collect())
    }
}

impl FromStr for Routes {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        Ok(Self(parts.map(Setting::parse).collect::<Result<_, _>>()?))
    }
}

impl fmt::Display for Routes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, setting) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{setting}")?;
        }
        Ok(())
    }
}

/// The route of every operation of every layer, looked up once a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Operations outside the layers, by `Op as usize`.
    outside: [Route; OPS.len()],
    layers: Vec<[Route; OPS.len()]>,
}

impl Plan {
    /// Defaults with the overrides applied, wide ones first; among equally narrow ones the last counts.
    #[must_use]
    pub fn new(defaults: Defaults, routes: &Routes, layers: usize) -> Self {
        let mut plan = Self { outside: defaults.row(), layers: vec![defaults.row(); layers] };
        let mut settings = routes.0.clone();
        settings.sort_by_key(Setting::narrowness);
        for setting in &settings {
            plan.apply(setting);
        }
        plan
    }

    fn apply(&mut self, setting: &Setting) {
        for op in Op::all().filter(|op| setting.target.holds(*op)) {
            if setting.layer.is_none() {
                self.outside[op as usize] = setting.route;
            }
            self.named(setting.layer).iter_mut().for_each(|row| row[op as usize] = setting.route);
        }
    }

    /// The layers that a setting speaks of: one, or all.
    fn named(&mut self, layer: Option<u16>) -> &mut [[Route; OPS.len()]] {
        let range = match layer.map(usize::from) {
            Some(layer) => layer..layer + 1,
            None => 0..self.layers.len(),
        };
        self.layers.get_mut(range).unwrap_or_default()
    }

    /// The route of `op` in `layer`, or outside the layers.
    #[must_use]
    pub fn route(&self, op: Op, layer: Option<usize>) -> Route {
        match layer.and_then(|layer| self.layers.get(layer)) {
            Some(row) => row[op as usize],
            None => self.outside[op as usize],
        }
    }
}

/// What holds where no override speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defaults {
    /// A verify block: attention per-position, delta chain, the rest whole.
    Verify,
    /// The prompt, and one row at a time: attention block, delta chain, the rest whole.
    Plain,
}

impl Defaults {
    fn row(self) -> [Route; OPS.len()] {
        let mut row = [Route::Whole; OPS.len()];
        row[Op::Delta as usize] = Route::Chain;
        row[Op::Attention as usize] = match self {
            Self::Verify => Route::PerPosition,
            Self::Plain => Route::Block,
        };
        row
    }

    /// The defaults in the grammar of routes.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Verify => "attention=per-position,delta=chain",
            Self::Plain => "attention=block,delta=chain",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Defaults, Op, Plan, Route, RouteError, Routes};

    fn plan(text: &str) -> Plan {
        Plan::new(Defaults::Verify, &text.parse().unwrap(), 8)
    }

    #[test]
    fn narrower_settings_win_whatever_the_order() {
        let plan = plan("layer.5.o_proj=rows:3,o_proj=rows:2,linear=rows");
        assert_eq!(plan.route(Op::OProj, Some(5)), Route::Rows(3));
        assert_eq!(plan.route(Op::OProj, Some(4)), Route::Rows(2));
        assert_eq!(plan.route(Op::QProj, Some(5)), Route::Rows(1));
        assert_eq!(plan.route(Op::LmHead, None), Route::Rows(1));
        assert_eq!(plan.route(Op::InputNorm, Some(5)), Route::Whole);
    }

    #[test]
    fn defaults_of_a_verify_block() {
        let plan = plan("");
        assert_eq!(plan.route(Op::Attention, Some(3)), Route::PerPosition);
        assert_eq!(plan.route(Op::Delta, Some(0)), Route::Chain);
    }

    #[test]
    fn text_survives_a_round_trip() {
        let text = "linear=rows:6,attention=per-position,rope=rows,delta=chain,conv=taps,norm=padded:9,layer.5.o_proj=single";
        let routes: Routes = text.parse().unwrap();
        let printed = routes.to_string();
        assert_eq!(
            printed,
            "linear=rows:6,attention=per-position,rope=rows,delta=chain,conv=whole,norm=padded:9,layer.5.o_proj=rows"
        );
        assert_eq!(printed.parse::<Routes>().unwrap(), routes);
    }

    #[test]
    fn a_setting_for_an_operation_that_the_layer_lacks_is_named() {
        let layers = [vec![Op::Conv, Op::OutProj], vec![Op::OProj, Op::GateProj]];
        let misplaced = |text: &str| text.parse::<Routes>().unwrap().misplaced(&layers);
        for fits in
            ["", "o_proj=rows", "lm_head=rows", "linear=rows", "layer.1.o_proj=rows", "layer.0.linear=rows"]
        {
            assert_eq!(misplaced(fits), None, "{fits}");
        }
        let lacks = misplaced("layer.0.o_proj=rows").unwrap();
        insta::assert_snapshot!(lacks, @"layer.0.o_proj=rows: layer 0 has no such operation; it has conv, out_proj");
        let beyond = misplaced("layer.2.down_proj=rows").unwrap();
        insta::assert_snapshot!(beyond, @"layer 2 of a model with layers 0 to 1");
        let nowhere = misplaced("linear=rows,attn_gate=rows").unwrap();
        insta::assert_snapshot!(nowhere, @"attn_gate=rows: no layer of this model has such an operation");
    }

    #[test]
    fn an_operation_that_is_set_otherwise_is_set_once() {
        let routes: Routes = "linear=rows:6,delta=chunked,layer.5.o_proj=rows,o_proj=rows:2".parse().unwrap();
        let chain = routes.with(Op::Delta, None, Route::Chain);
        assert_eq!(chain.to_string(), "linear=rows:6,layer.5.o_proj=rows,o_proj=rows:2,delta=chain");
        let all = chain.with(Op::OProj, None, Route::Rows(4)).to_string();
        assert_eq!(all, "linear=rows:6,delta=chain,o_proj=rows:4");
        let one = routes.with(Op::OProj, Some(5), Route::Whole).to_string();
        assert_eq!(one, "linear=rows:6,delta=chunked,o_proj=rows:2,layer.5.o_proj=whole");
    }

    #[test]
    fn what_is_not_a_route_is_named() {
        let refused = |text: &str| text.parse::<Routes>().unwrap_err();
        assert!(matches!(refused("linear"), RouteError::NoEquals(_)));
        assert!(matches!(refused("liner=rows"), RouteError::UnknownOperation(_)));
        assert!(matches!(refused("plain.linear=rows"), RouteError::OfPlain(_)));
        for count in ["rows:0", "padded:0", "padded:1", "padded", "padded:x", "rows:-1", "rows:65536"] {
            assert!(matches!(refused(&format!("linear={count}")), RouteError::UnknownRoute(_)), "{count}");
        }
        for op in ["attention", "delta", "conv"] {
            assert!(matches!(refused(&format!("{op}=padded:2")), RouteError::Misfit { .. }), "{op}");
        }
        for word in ["linear", "norm", "rope", "elementwise", "embed", "layer.3.router", "expert_choice"] {
            assert!(format!("{word}=padded:2").parse::<Routes>().is_ok(), "{word}");
        }
        assert!(matches!(refused("linear=chain"), RouteError::Misfit { .. }));
        assert!(matches!(refused("delta=rows"), RouteError::Misfit { .. }));
        assert!(matches!(refused("layer.x.o_proj=rows"), RouteError::BadLayer(_)));
        assert!(matches!(refused("layer.3.lm_head=rows"), RouteError::BadLayer(_)));
        assert!(matches!(refused("layer.3.delta.o_proj=rows"), RouteError::BadLayer(_)));
        assert!(matches!(refused("layer.3.attn.linear=rows"), RouteError::BadLayer(_)));
        assert!("layer.3.attn.o_proj=rows".parse::<Routes>().is_ok());
    }
}
