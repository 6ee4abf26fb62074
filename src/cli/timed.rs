//! The runs of a remedy: one of each setting that a probe found equal, and timed ones between runs of plain decoding.
//!
//! Plain decoding and its null arm are recorded once for each way in which it computes, and every setting's run stands
//! beside them; it has a folder of its own. A folder that an interrupted search left half full is not used again.

use super::exit::Failure;
use super::experiment::{Planned, Prepared, Recorded, contestant, judged};
use crate::arms::ArmSpec;
use crate::arms::spec::{bench_plan, plan};
use crate::engine::routes::Routes;
use crate::engine::side_routes::SideRoutes;
use crate::remedy::run::Arms;
use crate::results::arms::ArmRun;
use crate::results::bench::{ArmSpeed, Bench};
use crate::results::comparing;
use crate::results::outcomes::{Counted, Role};
use crate::results::remedy::{Changed, Measured, PlainMeasured, Ran, Timed};
use crate::transcript::{Arm, TokenId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a remedy has arms run.
pub struct Runs<'a> {
    prepared: &'a Prepared<'a>,
    /// Plain decoding and its null arm, by its routes.
    plain: RefCell<BTreeMap<String, Vec<ArmRun>>>,
}

impl<'a> Runs<'a> {
    /// Runs of this model, these prompts, this drafter.
    #[must_use]
    pub fn new(prepared: &'a Prepared<'a>) -> Self {
        Self { prepared, plain: RefCell::default() }
    }
}

impl Arms<anyhow::Error> for Runs<'_> {
    fn run(&self, width: usize, routes: &SideRoutes) -> anyhow::Result<Ran> {
        let plain = self.plain(&routes.plain)?;
        let arm = ArmSpec { width: Some(width), repeat: 0 };
        let file = self.folder("runs", &format!("w{width}")).join(arm.file());
        let planned = [Planned { arm, file, routes: routes.clone() }];
        let runs = self.prepared.runs_beside(&planned, Recorded::AsAsked, plain.first())?;
        let experiment = judged(plain.into_iter().chain(runs).collect())?;
        let extent = experiment.extent();
        let counts = |counted: Counted| (counted.differ as u64, counted.compared as u64);
        let digested =
            experiment.outcomes.iter().any(|outcome| outcome.role == Role::Arm && outcome.states.is_some());
        Ok(Ran {
            verdict: experiment.verdict.word().to_owned(),
            code: experiment.verdict.exit_code(),
            rows: counts(extent.rows),
            states: digested.then(|| counts(extent.states)),
            tokens: extent.tokens,
            file: planned[0].file.display().to_string(),
            changed: self.changed(&routes.plain)?,
        })
    }

    fn time(&self, width: usize, settings: &[SideRoutes], repeat: u32) -> anyhow::Result<Option<Timed>> {
        let folder = self.folder("speed", &format!("w{width}"));
        let planned = turns((width, repeat), (settings, self.asked()), &folder);
        let runs = self.prepared.runs(&planned, Recorded::Nothing)?;
        let of = |number: usize| self.measured((&runs, &planned), (&folder, number), repeat);
        let all = (0..settings.len()).map(of).collect::<anyhow::Result<Vec<_>>>()?;
        let Some((first, _)) = all.first() else { return Ok(None) };
        let (plain, floor, drift) = (first.classic.median, first.floor, first.drift);
        let settings = all.into_iter().filter_map(|(_, measured)| measured).collect();
        Ok(Some(Timed { plain, floor, drift, settings }))
    }
}

impl Runs<'_> {
    /// The routes of plain decoding that were asked for.
    fn asked(&self) -> &Routes {
        &self.prepared.options().routes.plain
    }

    /// Plain decoding under these routes and its null arm, recorded once.
    fn plain(&self, routes: &Routes) -> anyhow::Result<Vec<ArmRun>> {
        if let Some(known) = self.plain.borrow().get(&routes.to_string()) {
            return Ok(known.clone());
        }
        let folder = self.folder("runs", "plain");
        let routes = SideRoutes { plain: routes.clone(), ..SideRoutes::default() };
        let planned = |arm: ArmSpec| Planned { arm, file: folder.join(arm.file()), routes: routes.clone() };
        let planned: Vec<Planned> = plan(&[], 1, false).into_iter().map(planned).collect();
        let runs = self.prepared.runs(&planned, Recorded::AsAsked)?;
        self.plain.borrow_mut().insert(routes.plain.to_string(), runs.clone());
        Ok(runs)
    }

    /// What other routes of plain decoding do to what it gives.
    fn changed(&self, routes: &Routes) -> anyhow::Result<Option<Changed>> {
        if routes == self.asked() {
            return Ok(None);
        }
        let (asked, other) = (self.plain(self.asked())?, self.plain(routes)?);
        let held = comparing::compare(vec![contestant(&other[0])?], vec![contestant(&asked[0])?], None)
            .map_err(|error| Failure::unavailable(format!("failed to {error}")))?;
        let pairings = held.arms.iter().flat_map(|arm| &arm.sequences).filter_map(|one| one.against.as_ref());
        let rows = pairings.filter_map(|pairing| pairing.rows.as_ref());
        let rows = rows.fold((0, 0), |(differ, all), rows| (differ + rows.bytes_differ, all + rows.rows));
        let streams = || asked[0].streams.iter().zip(&other[0].streams);
        let differ: usize = streams().map(|(left, right)| others(left, right)).sum();
        let all: usize = streams().map(|(left, right)| left.len().max(right.len())).sum();
        Ok(Some(Changed { rows: (rows.0 as u64, rows.1 as u64), tokens: (differ as u64, all as u64) }))
    }

    /// The first folder of that kind and name that is not there yet.
    fn folder(&self, kind: &str, name: &str) -> PathBuf {
        let base = self.prepared.out.join(kind);
        let numbered = (1..).map(|number: u32| base.join(format!("{name}-{number}")));
        { numbered }.find(|folder| !folder.exists()).unwrap_or(base)
    }

    /// A setting's runs beside plain decoding as it was asked for, and beside its own where that is another.
    fn measured(
        &self,
        (runs, planned): (&[ArmRun], &[Planned]),
        (folder, number): (&Path, usize),
        repeat: u32,
    ) -> anyhow::Result<(Bench, Option<Measured>)> {
        let own = place(folder, number);
        let at = |folder: &Path| {
            let here = runs.iter().zip(planned).filter(|(_, one)| one.file.parent() == Some(folder));
            here.map(|(run, _)| run.clone()).collect::<Vec<ArmRun>>()
        };
        let (own_plain, arms): (Vec<_>, Vec<_>) = at(&own).into_iter().partition(|run| run.width.is_none());
        let bench = self.bench(at(folder).into_iter().chain(arms.clone()).collect(), repeat)?;
        let own = (!own_plain.is_empty()).then(|| own_plain.into_iter().chain(arms).collect());
        let beside = own.map(|runs| self.bench(runs, repeat)).transpose()?;
        let measured = bench.arms.first().map(|arm| measured(arm, &bench, beside.as_ref()));
        Ok((bench, measured))
    }

    /// Runs measured as `bench` does.
    fn bench(&self, runs: Vec<ArmRun>, repeat: u32) -> anyhow::Result<Bench> {
        let read = |run: &ArmRun| Arm::read(Path::new(&run.file)).map_err(Failure::from);
        let transcripts = runs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Bench::new(judged(runs)?, &transcripts, self.prepared.prompt_ids(), repeat as usize))
    }
}

/// Where a setting's timed runs lie.
fn place(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("setting{number}"))
}

/// The settings in turn between runs of plain decoding at both ends. A setting that changes plain decoding has a run of
/// that before each of its own.
fn turns(
    (width, repeat): (usize, u32),
    (settings, asked): (&[SideRoutes], &Routes),
    folder: &Path,
) -> Vec<Planned> {
    let planned = |arm: ArmSpec, folder: &Path, routes: &SideRoutes| Planned {
        arm,
        file: folder.join(arm.file()),
        routes: routes.clone(),
    };
    let plain = SideRoutes { plain: asked.clone(), ..SideRoutes::default() };
    let mut all = Vec::new();
    for arm in bench_plan(&[width], repeat) {
        if arm.width.is_none() {
            all.push(planned(arm, folder, &plain));
            continue;
        }
        for (number, routes) in settings.iter().enumerate() {
            let folder = place(folder, number);
            let changed = (routes.plain != *asked).then(|| ArmSpec::classic(arm.repeat));
            all.extend(changed.into_iter().chain([arm]).map(|arm| planned(arm, &folder, routes)));
        }
    }
    all
}

fn measured(arm: &ArmSpeed, bench: &Bench, beside: Option<&Bench>) -> Measured {
    let own = || bench.experiment.runs.iter().filter(|run| run.width.is_some());
    let (drafted, accepted) =
        own().fold((0, 0), |(drafted, accepted), run| (drafted + run.drafted, accepted + run.accepted));
    #[expect(clippy::cast_precision_loss, reason = "counts of proposals are far below 2⁵²")]
    let share = (drafted > 0).then(|| accepted as f64 / drafted as f64);
    let verdict = beside.and_then(|beside| beside.arms.first()).map_or(arm.verdict, |arm| arm.verdict);
    let plain = beside.map(|beside| {
        let ratio = beside.classic.median / bench.classic.median;
        let tokens_per_second = beside.classic.median;
        PlainMeasured { tokens_per_second, ratio, resolved: (ratio - 1.0).abs() > bench.floor }
    });
    Measured {
        tokens_per_second: arm.speed.median,
        ratio: arm.ratio,
        resolved: arm.resolved,
        accepted: share,
        same_text: verdict.exit_code() == 0,
        plain,
    }
}

/// Places at which two streams hold other tokens, or only one holds any.
fn others(left: &[TokenId], right: &[TokenId]) -> usize {
    let both = left.iter().zip(right).filter(|(left, right)| left != right).count();
    both + left.len().abs_diff(right.len())
}
