//! The program as a user meets it: what it prints, what it leaves on the disk, and how it refuses what it cannot use.

#[cfg(feature = "engine")]
mod bad_models;
#[cfg(feature = "engine")]
mod bad_requests;
#[cfg(feature = "engine")]
mod bench;
#[cfg(feature = "engine")]
mod bisect;
#[cfg(feature = "engine")]
mod both_sides;
#[cfg(feature = "engine")]
mod experiments;
mod help;
#[cfg(feature = "engine")]
mod probe;
#[cfg(feature = "engine")]
mod readme;
#[cfg(feature = "engine")]
mod remedy;
#[cfg(feature = "engine")]
mod states;
#[cfg(feature = "engine")]
mod whole_lines;
