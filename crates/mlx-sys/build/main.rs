//! The build of the bindings, told as five steps: what is asked for, where the MLX build and the mlx-c
//! sources lie, compile, bind, and what the linker and the dependent package must know. Each step has a
//! module; every failure ends as one message that says what to do.

mod bindings;
mod cache;
mod compile;
mod fetch;
mod message;
mod mlx;
mod patch;
mod publish;
mod settings;
mod sources;
mod unpack;
mod wheels;

use std::process::ExitCode;

use message::Outcome;
use settings::Settings;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn build() -> Outcome<()> {
    let settings = Settings::read()?;
    let mlx = mlx::locate(&settings)?;
    let sources = sources::locate(&settings)?;
    compile::mlx_c(&settings, &mlx, &sources)?;
    bindings::generate(&settings, &sources)?;
    publish::tell_cargo(&settings, &mlx, &sources)
}
