//! What a bisect stores and prints: its answers step by step, the trail that they are written to, and the whole.

mod answers;
mod bisected;
mod heat;
mod kernels;
mod says;
mod shown;
mod sound;
mod trail;

pub use answers::{
    Amplitude, Argument, Confirmation, Control, Cost, Handled, InputRows, LayerLine, OpLine, Operation,
    Predicted, PrefillAnswer, Reduced, RewindAnswer, RowSeen, RowWalk, SiteRows, SiteWalk, Source, Sources,
    StateSeen,
};
pub use bisected::{BISECT_VERSION, Bisected, Class, Question, Reading, Screened};
pub use heat::{HeatRow, heat_map};
pub use kernels::{Kernels, Launch, Measured};
pub use trail::{FORMAT as TRAIL_FORMAT, Key, Trail, TrailError};
