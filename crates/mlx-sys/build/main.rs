//! The build of the bindings, told as its steps: what is asked for, where the MLX build and the mlx-c
//! sources lie, bind, compile, and what the linker and the dependent package must know. The quick steps
//! that can fail come first. Each has a module; every failure ends as one message that says what to do.

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
    compile::check_compiler(&settings)?;
    let mlx = mlx::locate(&settings)?;
    let sources = sources::locate(&settings)?;
    bindings::generate(&settings, &sources)?;
    compile::mlx_c(&settings, &mlx, &sources)?;
    publish::tell_cargo(&settings, &mlx, &sources)
}
