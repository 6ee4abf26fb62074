//! From two arms that part to the row, layer, operation and kernel that parted first, and a folder that shows it.

pub mod reproducer;
