//! The thing measured: model, caches, routes, drafters, plain decoding and the round loop.

pub mod checkpoint;
pub mod demo;
pub mod synth;
pub mod tokenizer;
