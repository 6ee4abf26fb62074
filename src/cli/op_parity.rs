//! `exactness op-parity`: which operation changes its bytes when rows come together, at a model's shapes.

use super::exit::Failure;
use super::experiment::{refuse_misplaced, stopped};
use super::form::Form;
use super::judged::Style;
use super::model::Activations;
use super::synth::one_of;
use super::{console, settings};
use crate::arms::identity;
use crate::engine::Error;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::model::TextModel;
use crate::engine::plant::{Fault, Plant};
use crate::engine::routes::Routes;
use crate::engine::synth::{Geometry, Storage, Synth, sample};
use crate::probe::dispatch::Machine;
use crate::probe::parity::{Settings, Subject, Wanted, measure};
use crate::results::Word;
use crate::results::parity::{PARITY_VERSION, Parity};
use crate::transcript::files::write_whole;
use anyhow::Context as _;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Measures each operation: T rows in one call against T one-row calls, on the same inputs, byte by byte.
///
/// Needs no model: the shapes are those of a named geometry, with drawn weights. A line says from how many rows on the
/// bytes part, how far at worst, and what MLX's dispatch rules predict. Bytes that part in one draw part; equal bytes
/// say no more than that these draws did not. Every run first plants a fault of one step in one value as a control:
/// if it is not seen, nothing counts.
#[derive(Debug, clap::Args)]
pub struct OpParity {
    /// Shapes: the demo's (tiny), those of the Qwen 3.5 models, or tiny ones of another family.
    #[arg(long, value_name = "SIZE", default_value = "tiny", value_parser = one_of(&Geometry::NAMES), conflicts_with = "model")]
    geometry: Geometry,
    /// Checkpoint folder to take shapes, storage and weights from, all layers of it.
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Operations and groups: `linear,attention,delta,argmax`; default: all.
    #[arg(long, value_name = "NAMES", value_parser = str::parse::<Wanted>)]
    ops: Option<Wanted>,
    /// Dtypes of activations; default: f32 on the CPU, where 16 bits take minutes, and all three on a GPU.
    #[arg(long, value_enum, value_delimiter = ',')]
    dtypes: Vec<Activations>,
    /// Storage of matrices: affine codes of 4 or 8 bits, bfloat16 (16), mxfp4, mxfp8, nvfp4; default: all. What has no matrix is measured with the first alone.
    #[arg(long, value_name = "MODES", value_parser = one_of(&Storage::NAMES), value_delimiter = ',', conflicts_with = "model")]
    modes: Vec<Storage>,
    /// Most rows of a block; a block of one would be held against itself.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=512))]
    max_rows: u32,
    /// Try every number of rows. Default: 1 to 16, some past it, and all between two that answer differently.
    #[arg(long)]
    exhaustive: bool,
    /// Draws of the inputs.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_values_t = [1, 2, 3])]
    seeds: Vec<u64>,
    /// Positions before the block, for attention, rotary embedding, convolution and delta rule; the rest is measured at
    /// the first.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_values_t = [40, 300], value_parser = position)]
    positions: Vec<usize>,
    /// How the block computes beyond whole calls, as in `linear=rows:7`.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "ROUTES", value_parser = str::parse::<Routes>)]
    routes: Routes,
    /// Put a fault into the block, as in `op=gate_proj,rows>=8`; may be repeated.
    #[arg(long = "plant", value_name = "PLANT", value_parser = str::parse::<Plant>)]
    plants: Vec<Plant>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Form::Human)]
    format: Form,
    /// Also write to this file, after each dtype and storage; .csv, .md or .json, else as printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Longest prefix; past it the drawn chain takes longer than anybody waits.
const FARTHEST: usize = 1 << 17;

fn position(text: &str) -> Result<usize, String> {
    let position = text.parse().ok().filter(|position| *position <= FARTHEST);
    position.ok_or_else(|| format!("{text:?} is no count of positions from 0 to {FARTHEST}"))
}

impl OpParity {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model or the file to write cannot be used, or MLX refuses. What was measured before is in `--out`.
    pub fn run(mut self) -> anyhow::Result<u8> {
        refuse_bookkeeping(&self.plants)?;
        if self.dtypes.is_empty() {
            let all = [Activations::F32, Activations::Bf16, Activations::F16];
            self.dtypes = if identity::on_gpu() { all.to_vec() } else { vec![Activations::F32] };
        }
        let mut parity = self.empty();
        let bar = console::Progress::counting(self.blocks(), "blocks");
        for (index, source) in self.sources().into_iter().enumerate() {
            let Some(wanted) = self.wanted(index) else { continue };
            let checkpoint = source.open()?;
            for &dtype in &self.dtypes {
                bar.label(&format!("{dtype:?}").to_lowercase());
                self.add(&mut parity, (&checkpoint, dtype), &wanted, &bar)?;
                self.write(&parity)?;
            }
        }
        bar.finish();
        console::out(&print(&parity, self.format)?);
        Ok(parity.verdict.exit_code())
    }

    fn empty(&self) -> Parity {
        let geometry =
            Geometry::NAMES.iter().find(|(_, one)| *one == self.geometry).map_or("", |(name, _)| name);
        let backend = identity::backend();
        let told = [backend.name, backend.version, backend.device].map(Option::unwrap_or_default);
        Parity {
            version: PARITY_VERSION,
            verdict: Word::NotRun,
            subject: self.model.as_ref().map_or(geometry.to_owned(), |folder| folder.display().to_string()),
            backend: told.join(" "),
            routes: self.routes.to_string(),
            seeds: self.seeds.clone(),
            planted: self.plants.iter().map(Plant::to_string).collect(),
            struck: BTreeSet::new(),
            lines: Vec::new(),
            controls: Vec::new(),
            command: settings::command_line(),
        }
    }

    /// What is opened in turn: the given model, or a sample at each storage.
    fn sources(&self) -> Vec<Source> {
        if let Some(folder) = &self.model {
            return vec![Source::Folder(folder.clone())];
        }
        let all = || Storage::NAMES.iter().map(|(_, storage)| *storage).collect();
        let modes = if self.modes.is_empty() { all() } else { self.modes.clone() };
        modes
            .into_iter()
            .map(|storage| Source::Sample(Synth { geometry: self.geometry, storage, seed: 0 }))
            .collect()
    }

    /// What the first storage is measured for, and the others, whose matrices alone are new.
    fn wanted(&self, index: usize) -> Option<Wanted> {
        let wanted = self.ops.clone().unwrap_or_default();
        if index == 0 { Some(wanted) } else { wanted.of_matrices() }
    }

    fn settings(&self, wanted: &Wanted) -> Settings {
        Settings {
            plain: Routes::default(),
            wanted: wanted.clone(),
            most_rows: self.max_rows,
            exhaustive: self.exhaustive,
            seeds: self.seeds.clone(),
            positions: self.positions.clone(),
            routes: self.routes.clone(),
            plants: self.plants.clone(),
        }
    }

    /// Numbers of rows of the first look, over all dtypes and storages.
    fn blocks(&self) -> usize {
        let sources = (0..self.sources().len()).filter(|index| self.wanted(*index).is_some()).count();
        sources * self.dtypes.len() * self.settings(&Wanted::default()).first_look().len()
    }

    fn add(
        &self,
        parity: &mut Parity,
        (checkpoint, dtype): (&Checkpoint, Activations),
        wanted: &Wanted,
        bar: &console::Progress,
    ) -> Result<(), Failure> {
        let model = TextModel::load(checkpoint, dtype.dtype()).map_err(|error| stopped("measure", &error))?;
        refuse_misplaced(&self.routes.clone().into(), &self.plants, model.config())?;
        let backend = identity::backend();
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        let machine = Machine::named(&text(&backend.name), &text(&backend.version), &text(&backend.device));
        let subject = Subject { checkpoint, model: &model, machine };
        let measured = measure(&subject, &self.settings(wanted), &|| bar.add(1))
            .map_err(|error| stopped("measure", &error))?;
        parity.lines.extend(measured.lines);
        parity.controls.extend(measured.controls);
        parity.struck.extend(measured.struck);
        parity.judge();
        Ok(())
    }

    fn write(&self, parity: &Parity) -> anyhow::Result<()> {
        let Some(file) = &self.out else { return Ok(()) };
        let named = match file.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Form::Csv,
            Some("md") => Form::Markdown,
            Some("json") => Form::Json,
            _ => self.format,
        };
        let text = format!("{}\n", print(parity, named)?.trim_end());
        Ok(write_whole(file, text.as_bytes())
            .map_err(|error| Failure::unavailable(format!("failed to {error}")))?)
    }
}

/// One block is all that is run of each: nothing is rewound, fed or chosen.
fn refuse_bookkeeping(plants: &[Plant]) -> Result<(), Failure> {
    let other = plants.iter().find(|plant| matches!(plant.fault, Fault::Bookkeeping(_)));
    other.map_or(Ok(()), |plant| {
        Err(Failure::usage(format!("failed to plant {plant}: op-parity measures operations one by one")))
    })
}

/// Where a subject's weights come from.
enum Source {
    Folder(PathBuf),
    Sample(Synth),
}

impl Source {
    fn open(&self) -> Result<Checkpoint, Failure> {
        let opened = match self {
            Self::Folder(folder) => Checkpoint::open(folder).map_err(Error::from),
            Self::Sample(what) => sample(what, "sample"),
        };
        opened.map_err(|error| Failure::unavailable(format!("failed to {error}")))
    }
}

fn print(parity: &Parity, form: Form) -> anyhow::Result<String> {
    Ok(match form {
        Form::Json => serde_json::to_string_pretty(parity).context("print the measurement")?,
        Form::Csv => parity.table().csv().context("print the measurement")?.trim_end().to_owned(),
        Form::Markdown => people(parity, parity.table().markdown().trim_end()),
        Form::Human => people(parity, &Style::Terminal(settings::columns()).folded(&parity.short_table())),
    })
}

/// The verdict comes last of what was found, as everywhere.
fn people(parity: &Parity, table: &str) -> String {
    [table, &parity.sentences().join("\n"), &parity.summary()].join("\n\n")
}
