//! Errors of the engine. Each text names the operation and what it met, and fits after "failed to …".

use super::checkpoint::CheckpointError;
use mlx_rs::error::Exception;

/// What stopped the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// MLX refused an operation.
    #[error("compute: {0}")]
    Mlx(#[from] Exception),
    /// A raw MLX call refused; MLX keeps its message to itself there.
    #[error("compute {operation}: {detail}")]
    Raw {
        /// The MLX call.
        operation: &'static str,
        /// Shapes and settings of the call.
        detail: String,
    },
    /// The checkpoint does not hold what the model needs.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A request that this model cannot serve.
    #[error("{0}")]
    Request(String),
    /// A transcript line could not be written.
    #[error(transparent)]
    Write(#[from] crate::transcript::files::WriteError),
}

/// The engine's result.
pub type Result<T> = std::result::Result<T, Error>;
