//! Tests of the engine: against numbers that other programs computed, and of a block against the chain.

mod exactness;
mod families;
mod goldens;
mod parity;
mod plants;
mod recorded;
mod support;
mod walk;
