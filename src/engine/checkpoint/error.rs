//! Everything that can be wrong with a checkpoint, as one line each.
//!
//! People meet these messages with somebody else's file in hand, so each names the file and the field or tensor,
//! says what was found, and says what would have been right. The texts fit after "failed to …".

use std::io;

/// A checkpoint could not be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The system refused.
    #[error("read {file}: {source}")]
    Io {
        /// The file or folder.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file that has to be there is not.
    #[error("open checkpoint {checkpoint}: {says}")]
    Incomplete {
        /// The checkpoint.
        checkpoint: String,
        /// What is missing, and what was looked for.
        says: String,
    },
    /// A file that should be JSON is not.
    #[error("read {file} as JSON: {source}")]
    Json {
        /// The file.
        file: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A field is missing or has a value that cannot be used.
    #[error("read {file}: {field} is {found}, expected {expected}")]
    Field {
        /// The file.
        file: String,
        /// The field with its place, such as `text_config.head_dim`.
        field: String,
        /// What would have been right.
        expected: String,
        /// The value found, or `missing`.
        found: String,
    },
    /// A file is not a well-formed safetensors file.
    #[error("read {file} as safetensors: {says}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        says: String,
    },
    /// A file is not a well-formed GGUF file.
    #[error("read {file} as GGUF: {says}")]
    Gguf {
        /// The file.
        file: String,
        /// What is wrong.
        says: String,
    },
    /// A tensor's entry contradicts the file or another entry.
    #[error("read {file}: tensor {tensor}: {says}")]
    Tensor {
        /// The file.
        file: String,
        /// The tensor, under its name in the file.
        tensor: String,
        /// What is wrong.
        says: String,
    },
    /// The architecture needs a tensor that no file holds.
    #[error("read checkpoint {checkpoint}: tensor {tensor} {expected:?} is missing")]
    Missing {
        /// The checkpoint.
        checkpoint: String,
        /// The tensor, under its canonical name.
        tensor: String,
        /// The shape that it would have.
        expected: Vec<usize>,
    },
    /// A tensor has another shape than the configuration says.
    #[error("read {file}: tensor {tensor} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The file.
        file: String,
        /// The tensor, under its name in the file.
        tensor: String,
        /// The shape that the configuration asks for.
        expected: Vec<usize>,
        /// The shape in the file.
        found: Vec<usize>,
    },
    /// A tensor has a data type that its place cannot take.
    #[error("read {file}: tensor {tensor} has dtype {found}, expected {expected}")]
    Dtype {
        /// The file.
        file: String,
        /// The tensor, under its name in the file.
        tensor: String,
        /// The types that can be taken.
        expected: &'static str,
        /// The type in the file.
        found: String,
    },
}

/// The result of reading from a checkpoint.
pub(super) type Result<T> = std::result::Result<T, CheckpointError>;
