//! Tells whether greedy speculative decoding gives byte for byte what plain decoding gives, and where it does not.
//!
//! The modules are in reading order, which is the order of trust: a transcript can be judged with its bytes and
//! the laws alone, before any engine or GPU is named. Blank lines between them keep rustfmt from sorting them; an
//! attribute that skips a `mod` line would take its whole folder out of the format check.

pub mod transcript; // DATA: the format, its reader and writer, importers of other engines' logs

pub mod algebra; // JUDGEMENT: laws, divergence, verdicts; pure

pub mod results; // what commands store, and the one table builder

#[cfg(feature = "engine")]
pub mod engine; // THE THING MEASURED: model, caches, routes, rounds

#[cfg(feature = "engine")]
pub mod arms; // arm specifications, and running one into a transcript

#[cfg(feature = "engine")]
pub mod probe; // what one operation, and one checkpoint, does to bytes on this machine

#[cfg(feature = "engine")]
pub mod sweep; // lengths × seeds × widths, resumable

#[cfg(feature = "engine")]
pub mod bisect; // from differing bytes to the row, the layer and the operation that parted first

#[cfg(feature = "records")]
pub mod records; // markdown, CSV, pictures and one HTML page, from stored data alone

#[cfg(feature = "engine")]
pub mod remedy; // the cheapest exact setting for a width

pub mod cli; // one file a verb
