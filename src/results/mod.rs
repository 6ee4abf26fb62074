//! What commands store and print: one result struct a command, and the one table builder.

pub mod table;

pub use table::Table;
