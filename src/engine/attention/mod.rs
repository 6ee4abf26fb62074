//! The two mixers of the Qwen 3.5 text models: gated full attention and the gated delta net.

pub mod delta_net;
pub mod full;
pub mod scores;

pub use delta_net::DeltaNet;
pub use full::FullAttention;
