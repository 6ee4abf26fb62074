//! What MLX launches for an operation, told from its shapes before it is run.
//!
//! MLX chooses kernels by the number of rows. Where it changes the kernel, bytes may change; where it does not, and
//! the kernel computes each row alone, they may not. The tables here are MLX's own rules, each with where it was read:
//! `S` MLX's source, `B` the binary of a published wheel, `M` measured, `I` inferred and not proven. A measurement is
//! printed beside the prediction, so that neither is believed alone.

mod cpu;
mod cuda;
mod machine;
mod metal;
mod names;
mod question;
#[cfg(test)]
mod tests;

pub use machine::Machine;
pub use names::shown;
pub use question::{Kind, Matrix, Prediction, Question, Step};

/// Versions of MLX that the tables were read from.
pub const VERSIONS: [&str; 2] = ["0.32.2", "0.32.4"];

/// What `machine` launches for `question`.
#[must_use]
pub fn predict(machine: Machine, question: &Question) -> Prediction {
    match machine {
        Machine::Cpu => cpu::predict(question),
        Machine::Cuda { capability } => cuda::predict(capability, question),
        Machine::Metal { generation, class } => metal::predict((generation, class), question),
        Machine::Unknown => Prediction::Unknown,
    }
}
