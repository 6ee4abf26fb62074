//! Runs chains and blocks for one subject and gathers what each operation did.

use super::forced::{Compared, Forced};
use super::question;
use super::settings::Settings;
use super::ties;
use super::truth::Truth;
use crate::engine::cache::{Caches, Rewind};
use crate::engine::checkpoint::Checkpoint;
use crate::engine::model::{Logits, TextModel};
use crate::engine::op::Op;
use crate::engine::pass::Pass;
use crate::engine::plant::{Fault, OpFault, Plant, Planted};
use crate::engine::routes::{Defaults, Plan, Route, Routes};
use crate::engine::rows::dtype_name;
use crate::engine::tap::Silent;
use crate::engine::{Error, Result};
use crate::probe::dispatch::Machine;
use crate::probe::draw::drawn_ids;
use crate::results::parity::{Agreement, Found, Line, Predicted};
use crate::transcript::TokenId;
use std::collections::{BTreeMap, BTreeSet};

/// Operations that read more than their own row: measured at every position.
const POSITIONAL: [Op; 5] = [Op::RopeQ, Op::RopeK, Op::Attention, Op::Conv, Op::Delta];

/// One way to compute a block, and which operations it is run for.
struct Variant {
    routes: &'static str,
    /// The only operation that it measures, or all.
    only: Option<Op>,
    /// It must be found as differing.
    control: bool,
}

/// The routes of attention besides the fused block, and a fault as the proof that the smallest difference is seen.
const VARIANTS: [Variant; 5] = [
    Variant { routes: "attention=block", only: None, control: false },
    Variant { routes: "attention=per-position", only: Some(Op::Attention), control: false },
    Variant { routes: "attention=contiguous", only: Some(Op::Attention), control: false },
    Variant { routes: "attention=materialised", only: Some(Op::Attention), control: false },
    Variant { routes: "attention=block", only: Some(Op::FinalNorm), control: true },
];

/// The control's fault, in an operation that every model has.
const CONTROL: Plant =
    Plant::in_blocks(Fault::Op(OpFault { count: Some(1), ..OpFault::ulp(Op::FinalNorm, 1) }));

/// What is measured.
pub struct Subject<'a> {
    /// Where the weights came from.
    pub checkpoint: &'a Checkpoint,
    /// The model.
    pub model: &'a TextModel,
    /// Whose tables predict.
    pub machine: Machine,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// One line an operation.
    pub lines: Vec<Line>,
    /// What had to differ.
    pub controls: Vec<Line>,
    /// Faults of the settings that some call met.
    pub struck: BTreeSet<String>,
}

/// A draw of the inputs after some positions: the chain that was run, and the caches before it.
struct Draw {
    position: usize,
    ids: Vec<TokenId>,
    caches: Caches,
    truth: Truth,
    /// The first position's draws measure all operations, the others those that read positions.
    first: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    control: bool,
    op: Op,
    route: String,
    mode: Option<String>,
    shape: String,
    position: Option<usize>,
}

struct Gathered {
    found: Found,
    predicted: Predicted,
}

/// Measures every operation that the settings ask for; `progress` is told of each block.
///
/// # Errors
/// When the model cannot be fed so many rows, or MLX refuses.
pub fn measure(subject: &Subject<'_>, settings: &Settings, progress: &dyn Fn()) -> Result<Measured> {
    let mut gathered: BTreeMap<Key, Gathered> = BTreeMap::new();
    let draws = draws(subject, settings)?;
    control(subject, settings, &draws, &mut gathered)?;
    let (mut tried, mut struck) = (BTreeSet::new(), BTreeSet::new());
    let mut next = settings.first_look();
    while !next.is_empty() {
        for &rows in &next {
            for (draw, variant) in pairs(&draws, false) {
                struck.extend(block(subject, settings, (draw, variant), rows, &mut gathered)?);
            }
            progress();
        }
        tried.extend(next);
        next = between(&gathered, &tried);
    }
    let mut measured = Measured { struck, ..lines(subject, gathered) };
    if settings.wanted.argmax() {
        let (vocabulary, rows) = (subject.model.config().vocab_size, tried.into_iter().collect::<Vec<_>>());
        measured.lines.push(ties::measure(vocabulary, subject.model.dtype(), &rows, &settings.seeds)?);
    }
    Ok(measured)
}

/// Runs the control in the narrowest and the widest block.
fn control(
    subject: &Subject<'_>,
    settings: &Settings,
    draws: &[Draw],
    gathered: &mut BTreeMap<Key, Gathered>,
) -> Result<()> {
    for rows in [1, settings.most_rows] {
        pairs(draws, true).try_for_each(|pair| block(subject, settings, pair, rows, gathered).map(drop))?;
    }
    Ok(())
}

fn pairs(draws: &[Draw], control: bool) -> impl Iterator<Item = (&Draw, &'static Variant)> {
    let variants = move || VARIANTS.iter().filter(move |variant| variant.control == control);
    draws.iter().flat_map(move |draw| variants().map(move |variant| (draw, variant)))
}

/// Numbers of rows next to which some operation changed its mind, and that were not tried.
fn between(gathered: &BTreeMap<Key, Gathered>, tried: &BTreeSet<u32>) -> Vec<u32> {
    let lines = gathered.iter().filter(|(key, _)| !key.control);
    let gaps: BTreeSet<u32> = lines.flat_map(|(_, one)| one.found.gaps()).collect();
    gaps.difference(tried).copied().collect()
}

fn draws(subject: &Subject<'_>, settings: &Settings) -> Result<Vec<Draw>> {
    let mut draws = Vec::new();
    for (index, &position) in settings.positions.iter().enumerate() {
        for &seed in &settings.seeds {
            draws.push(draw(subject, settings, (position, seed), index == 0)?);
        }
    }
    Ok(draws)
}

fn draw(
    subject: &Subject<'_>,
    settings: &Settings,
    (position, seed): (usize, u64),
    first: bool,
) -> Result<Draw> {
    let model = subject.model;
    let rows = usize::try_from(settings.most_rows).unwrap_or(1);
    let mut ids = drawn_ids(seed, position + rows, model.config().vocab_size);
    let block = ids.split_off(position);
    let mut caches = model.new_caches(Rewind::KeepStates);
    let plan = Plan::new(Defaults::Plain, &settings.plain, model.config().layers.len());
    for part in ids.chunks(512) {
        let mut silent = Silent;
        model.forward(&mut Pass::new(&plan, &mut silent), part, &mut caches, (Logits::None, false))?;
        caches.evaluate()?;
    }
    let truth = Truth::walk(model, &block, &mut caches.clone(), settings)?;
    Ok(Draw { position, ids: block, caches, truth, first })
}

/// Runs one block and adds what its operations did; gives the faults that struck.
fn block(
    subject: &Subject<'_>,
    settings: &Settings,
    (draw, variant): (&Draw, &Variant),
    rows: u32,
    gathered: &mut BTreeMap<Key, Gathered>,
) -> Result<Vec<String>> {
    let plan = plan(subject, settings, variant)?;
    let measured = |op: Op| match variant.only {
        // A control is measured whatever was asked for.
        Some(only) if variant.control => op == only && draw.first,
        Some(only) => op == only && settings.wanted.has(op),
        None => settings.wanted.has(op) && (draw.first || POSITIONAL.contains(&op)),
    };
    if !Op::all().any(&measured) {
        return Ok(Vec::new());
    }
    let plants = if variant.control { &[CONTROL][..] } else { &settings.plants };
    let mut tap = Forced::new(&draw.truth, &measured, Planted::new(plants));
    let ids = &draw.ids[..usize::try_from(rows).unwrap_or(1)];
    let mut caches = draw.caches.clone();
    subject.model.forward(&mut Pass::new(&plan, &mut tap), ids, &mut caches, (Logits::All, true))?;
    let struck = tap.struck();
    for compared in tap.compared {
        let route = plan.route(compared.site.op, compared.site.layer);
        add(subject, (draw, variant, rows), (compared, route), gathered);
    }
    Ok(struck)
}

fn plan(subject: &Subject<'_>, settings: &Settings, variant: &Variant) -> Result<Plan> {
    // The variant that measures everything takes the routes asked for; the others say which they are about.
    let text = match variant.only {
        None => format!("{},{}", variant.routes, settings.routes),
        Some(_) => variant.routes.to_owned(),
    };
    let routes: Routes = text.parse().map_err(|error| Error::Request(format!("{error}")))?;
    Ok(Plan::new(Defaults::Verify, &routes, subject.model.config().layers.len()))
}

fn add(
    subject: &Subject<'_>,
    (draw, variant, rows): (&Draw, &Variant, u32),
    (compared, route): (Compared, Route),
    gathered: &mut BTreeMap<Key, Gathered>,
) {
    let op = compared.site.op;
    let key = Key {
        control: variant.control,
        op,
        route: if variant.control { CONTROL.to_string() } else { route.to_string() },
        mode: question::mode(compared.site, subject.checkpoint),
        shape: question::shape(&compared, subject.checkpoint),
        position: POSITIONAL.contains(&op).then_some(draw.position),
    };
    let about = (subject.checkpoint, subject.model.dtype());
    let entry = gathered.entry(key).or_insert_with(|| Gathered {
        found: Found::default(),
        predicted: question::predicted(subject.machine, about, &compared.asked(), (route, draw.position)),
    });
    compared.rows.iter().for_each(|row| entry.found.add(rows, row));
}

fn lines(subject: &Subject<'_>, gathered: BTreeMap<Key, Gathered>) -> Measured {
    let mut measured = Measured::default();
    for (key, Gathered { found, predicted }) in gathered {
        let line = Line {
            op: key.op.name().to_owned(),
            route: key.route,
            dtype: dtype_name(subject.model.dtype()).to_owned(),
            mode: key.mode,
            shape: key.shape,
            position: key.position,
            agreement: Agreement::of(&found, &predicted),
            found,
            predicted,
        };
        if key.control { measured.controls.push(line) } else { measured.lines.push(line) }
    }
    measured
}
