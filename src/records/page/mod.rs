//! A record as a document: sections of sentences, tables, lists and pictures, which markdown and HTML both set.
//!
//! Both templates walk the same blocks, so that one form cannot say what the other does not.

pub mod arms;
pub mod build;
pub mod cause;
pub mod controls;
pub mod data;
pub mod divergence;
pub mod document;
pub mod interrupted;
pub mod kernels;
pub mod limits;
pub mod machine;
pub mod remedy;
pub mod repeat;
pub mod ruled;
pub mod speed;
pub mod verdict;

pub use build::build;
pub use document::Document;
