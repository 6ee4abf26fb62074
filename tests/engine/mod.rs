//! Tests of the engine: against numbers that other programs computed, and of a block against the chain.

mod bisected;
mod bisected_plants;
mod bookkeeping;
mod exactness;
mod exported;
mod families;
mod gate;
mod goldens;
mod gpu;
mod padded;
mod parity;
mod plants;
mod probed;
mod quantized;
mod recorded;
mod remedied;
mod reproducer;
mod support;
mod walk;
