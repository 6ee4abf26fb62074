//! The two mixers: full attention and the gated delta net.

pub mod delta_net;
mod frequencies;
pub mod full;
pub mod scores;

pub use delta_net::DeltaNet;
pub use full::{FullAttention, scale};
pub use scores::by_route;
