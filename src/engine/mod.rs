//! The thing measured: a language model on MLX, its caches, plain decoding and the round loop.
//!
//! Reading order: `checkpoint` (what a model is), `op`, `inventory`, `routes`, `side_routes` and `tap` (what it computes, how, and watched by whom),
//! `pass` (one forward), `delta_rule`, `cache`, `blocks`, `attention`, `model`, then `classic`, `round` and `drafter`; `plant` puts
//! faults into all of it.
//! The engine cannot see arms, so an experiment cannot leak into what it measures.

pub mod attention;
pub mod blocks;
pub mod cache;
pub mod checkpoint;
pub mod classic;
pub mod delta_rule;
pub mod demo;
pub mod drafter;
pub mod error;
pub mod inventory;
pub mod model;
pub mod op;
pub mod pass;
pub mod plant;
pub mod raw;
pub mod round;
pub mod routes;
pub mod rows;
pub mod session;
pub mod side_routes;
pub mod synth;
pub mod tap;
pub mod tokenizer;

pub use error::{Error, Result};
