//! GGUF files: one file with metadata, tokenizer and tensors, read over its memory map.
//!
//! MLX has a reader of its own, built on a C library that trusts the file's counts and offsets and ends the process
//! where they lie; so this one is ours, and every count is held against the bytes that are left before anything is
//! made of it. A file is turned into what the rest of the engine knows: a config.json, a tokenizer.json, and tensors
//! under canonical names, with quantized blocks unpacked into MLX's affine codes, scales and biases.
//!
//! Reading order: `cursor` (bounded reads), `value`, `header` (the tables), `kinds` (tensor types), `metadata`, then
//! `config`, `tokenizer`, `unpack` and `tensors`, which turn them into a checkpoint's parts, and `open`.

mod config;
mod cursor;
mod header;
mod kinds;
mod metadata;
mod open;
mod tensors;
mod tokenizer;
mod unpack;
mod value;

pub(super) use open::{Gguf, is_gguf, open};
