//! Asks the machine itself: which operation changes its bytes when rows come together, and what was to be expected.

pub mod dispatch;
pub mod parity;
