//! From differing bytes to the row, the layer and the operation that parted first, with proof.
//!
//! Reading order: `search` (pure), `script` (what is driven), `side`, `instrument` and `lockstep` (two runs side by
//! side), `row`, `layer`, `op` and `kernel` (each takes the answer before), `cupti` and `measured`, `confirm`, `record`
//! and `reproducer` (the difference by itself), `sources`, `reduce`, and `run`, which asks in order and writes the trail.

mod amplitude;
mod compare;
mod confirm;
mod controls;
pub mod cupti;
pub mod frontier;
mod held;
mod instrument;
mod kernel;
mod layer;
pub mod live;
mod lockstep;
mod measured;
mod modules;
mod op;
mod record;
mod reduce;
pub mod reproducer;
mod rewind;
mod row;
pub mod run;
pub mod screen;
pub mod script;
pub mod search;
pub mod side;
pub mod sources;
mod state;
pub mod trail;
