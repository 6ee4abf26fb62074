//! The runs of a remedy: one of each setting that a probe found equal, and timed ones between runs of plain decoding.
//!
//! A setting's run stands beside plain decoding and its null arm in a folder of its own, so that it can be judged again
//! by itself. A folder that an interrupted search left half full is not used again.

use super::exit::Failure;
use super::experiment::{Planned, Prepared, judged};
use crate::arms::ArmSpec;
use crate::arms::spec::{bench_plan, plan};
use crate::engine::routes::Routes;
use crate::engine::rows::RowDetail;
use crate::remedy::run::Arms;
use crate::results::arms::ArmRun;
use crate::results::bench::{ArmSpeed, Bench};
use crate::results::remedy::{Measured, Ran, Timed};
use crate::transcript::Arm;
use std::path::{Path, PathBuf};

/// How a remedy has arms run.
pub struct Runs<'a> {
    /// Model, prompts, drafter, faults.
    pub prepared: &'a Prepared<'a>,
    /// Runs of each setting where speed is measured.
    pub repeat: Option<u32>,
}

impl Arms<anyhow::Error> for Runs<'_> {
    fn run(&self, width: usize, routes: &Routes) -> anyhow::Result<Ran> {
        let folder = self.folder("runs", width);
        let planned = |arm: ArmSpec| Planned { arm, file: folder.join(arm.file()), routes: routes.clone() };
        let planned: Vec<Planned> = plan(&[width], 1, false).into_iter().map(planned).collect();
        let experiment = judged(self.prepared.runs(&planned, self.prepared.options().detail)?)?;
        let outcomes = experiment.runs.iter().zip(&experiment.outcomes);
        let rows = outcomes.filter(|(run, _)| run.width.is_some()).filter_map(|(_, outcome)| outcome.rows);
        let rows = rows.fold((0, 0), |(differ, all), rows| (differ + rows.differ, all + rows.compared));
        Ok(Ran {
            verdict: experiment.verdict.word().to_owned(),
            code: experiment.verdict.exit_code(),
            rows: (rows.0 as u64, rows.1 as u64),
            tokens: experiment.extent().tokens,
            file: planned.last().map(|one| one.file.display().to_string()).unwrap_or_default(),
        })
    }

    fn time(&self, width: usize, settings: &[Routes]) -> anyhow::Result<Option<Timed>> {
        let Some(repeat) = self.repeat else { return Ok(None) };
        let folder = self.folder("speed", width);
        let planned = turns((width, repeat), settings, &folder);
        let runs = self.prepared.runs(&planned, RowDetail::None)?;
        let of = |number: usize| self.bench(&runs, &planned, (&settings[number], repeat));
        let benches = (0..settings.len()).map(of).collect::<anyhow::Result<Vec<Bench>>>()?;
        let Some(first) = benches.first() else { return Ok(None) };
        let (plain, floor, drift) = (first.classic.median, first.floor, first.drift);
        let measured =
            benches.iter().filter_map(|bench| Some(measured(bench.arms.first()?, &bench.experiment.runs)));
        Ok(Some(Timed { plain, floor, drift, settings: measured.collect() }))
    }
}

impl Runs<'_> {
    /// The first folder of that kind and width that is not there yet.
    fn folder(&self, kind: &str, width: usize) -> PathBuf {
        let base = self.prepared.out.join(kind);
        let numbered = (1..).map(|number: u32| base.join(format!("w{width}-{number}")));
        { numbered }.find(|folder| !folder.exists()).unwrap_or(base)
    }

    /// Plain decoding's runs with those of one setting, measured as `bench` does.
    fn bench(
        &self,
        runs: &[ArmRun],
        planned: &[Planned],
        (routes, repeat): (&Routes, u32),
    ) -> anyhow::Result<Bench> {
        let own = runs.iter().zip(planned);
        let own = own.filter(|(_, planned)| planned.arm.width.is_none() || planned.routes == *routes);
        let own: Vec<ArmRun> = own.map(|(run, _)| run.clone()).collect();
        let read = |run: &ArmRun| Arm::read(Path::new(&run.file)).map_err(Failure::from);
        let transcripts = own.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(Bench::new(judged(own)?, &transcripts, self.prepared.prompt_ids(), repeat as usize))
    }
}

/// The settings in turn between runs of plain decoding at both ends.
fn turns((width, repeat): (usize, u32), settings: &[Routes], folder: &Path) -> Vec<Planned> {
    let turn = |arm: ArmSpec| {
        let numbered = settings.iter().enumerate();
        let own = numbered.map(move |(number, routes)| Planned {
            arm,
            file: folder.join(format!("setting{number}")).join(arm.file()),
            routes: routes.clone(),
        });
        let plain = Planned { arm, file: folder.join(arm.file()), routes: Routes::default() };
        if arm.width.is_some() { own.collect() } else { vec![plain] }
    };
    bench_plan(&[width], repeat).into_iter().flat_map(turn).collect()
}

fn measured(arm: &ArmSpeed, runs: &[ArmRun]) -> Measured {
    let own = || runs.iter().filter(|run| run.width.is_some());
    let (drafted, accepted) =
        own().fold((0, 0), |(drafted, accepted), run| (drafted + run.drafted, accepted + run.accepted));
    #[expect(clippy::cast_precision_loss, reason = "counts of proposals are far below 2⁵²")]
    let share = (drafted > 0).then(|| accepted as f64 / drafted as f64);
    Measured {
        tokens_per_second: arm.speed.median,
        ratio: arm.ratio,
        resolved: arm.resolved,
        accepted: share,
        same_text: arm.verdict.exit_code() == 0,
    }
}
