//! Every law of the transcript format, one small item each, in one registry that fixes their order.
//!
//! A law is a pure function of one place (a round, a token line, the end of a sequence) and of what came before it
//! in its sequence. What a law cannot know it says is missing; it never guesses.

mod accept;
mod caches;
mod chain;
mod counters;
mod ending;
pub mod law;
pub mod place;
pub mod registry;
mod reported;
mod rows;
mod shape;

pub use law::{Fault, Law, On, Outcome, Question, Severity};
pub use place::{EndAt, Facts, Next, RoundAt, State, TokenAt, TokenLine};
pub use registry::LAWS;
