//! A reproducer: a folder that shows one operation's two results with nothing else loaded, and what running it gave.

mod about;
mod difference;
mod index;
mod reproduced;
mod shown;

pub use about::{About, Which};
pub use difference::Difference;
pub use index::{FORMAT, FileRecord, INDEX, INPUTS, Index, IndexFault, Input, SideRecord, VERSION};
pub use reproduced::{REPRODUCED_VERSION, Reproduced, Side};
