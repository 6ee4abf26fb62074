//! Reading checkpoints from disk: the stored ones, spellings and shards, and everything that can be wrong.

mod bad_config;
mod bad_files;
mod bad_gguf;
mod families;
pub(crate) mod fixture;
mod folders;
pub(crate) mod gguf;
pub(crate) mod gguf_file;
mod spellings;
