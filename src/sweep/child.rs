//! One process a cell, so that a kernel that aborts takes one cell with it and not the sweep.

use super::error::SweepError;
use super::run::Cells;
use crate::results::sweep::{Cell, End, WidthOutcome};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Output, Stdio};

/// Exit codes that say nothing of the cell and all of the command line, the model or the device.
const REFUSALS: [i32; 3] = [2, 4, 5];
/// SIGHUP, SIGINT, SIGTERM: somebody ended the process, it did not end itself.
const ENDED: [i32; 3] = [1, 2, 15];

/// Starts a process for each cell: `program arguments… --length L --seed S`, which prints the outcomes as one line.
#[derive(Debug, Clone)]
pub struct Children {
    /// This program.
    pub program: PathBuf,
    /// What all cells have in common.
    pub arguments: Vec<OsString>,
}

impl Cells for Children {
    fn run(&mut self, cell: Cell) -> Result<End, SweepError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.args(["--length", &cell.length.to_string(), "--seed", &cell.seed.to_string()]);
        // What it has to say beside the outcomes is for the person in front of the sweep.
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = command.output().map_err(|source| SweepError::Start { cell, source })?;
        ended(cell, &output)
    }
}

fn ended(cell: Cell, output: &Output) -> Result<End, SweepError> {
    match (output.status.code(), output.status.signal()) {
        (Some(0), _) => Ok(answer(&output.stdout)),
        (Some(code), _) if REFUSALS.contains(&code) => {
            Err(SweepError::Refused { cell, code: u8::try_from(code).unwrap_or(u8::MAX) })
        }
        (_, Some(signal)) if ENDED.contains(&signal) => Err(SweepError::Interrupted { cell, signal }),
        _ => Ok(End::Crashed(how(output.status))),
    }
}

/// Success without an answer is no success.
fn answer(printed: &[u8]) -> End {
    let outcomes: Result<Vec<WidthOutcome>, _> = serde_json::from_slice(printed);
    outcomes.map_or_else(|_| End::Crashed("no outcomes printed".to_owned()), End::Measured)
}

fn how(status: ExitStatus) -> String {
    let code = status.code().map(|code| format!("exit code {code}"));
    let signal = status.signal().map(|signal| format!("signal {signal}"));
    code.or(signal).unwrap_or_else(|| status.to_string())
}
