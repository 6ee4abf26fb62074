//! Asks the machine itself: which operation changes its bytes when rows come together, what was to be expected, and
//! whether a checkpoint's blocks leave what plain decoding leaves, so that a gate can let a width be used.

pub mod dispatch;
mod draw;
pub mod exact;
pub mod gate;
pub mod hazards;
pub mod memo;
pub mod parity;
pub mod unseen;
pub mod walk;
