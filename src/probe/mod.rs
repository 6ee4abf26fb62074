//! Asks the machine itself: which operation changes its bytes when rows come together, what was to be expected, and
//! whether a checkpoint's blocks leave what plain decoding leaves.

pub mod dispatch;
mod draw;
pub mod parity;
pub mod walk;
