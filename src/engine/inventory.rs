//! Which operations a model has, layer by layer: what a route can speak of.

use super::checkpoint::{Config, FeedForward, Mixer};
use super::op::Op;

/// The operations of each layer, in the order of computation.
#[must_use]
pub fn layers(config: &Config) -> Vec<Vec<Op>> {
    let of_layer =
        |mixer: &Mixer| Op::all().filter(|op| in_layer(*op, mixer, &config.feed_forward)).collect();
    config.layers.iter().map(of_layer).collect()
}

fn in_layer(op: Op, mixer: &Mixer, feed_forward: &FeedForward) -> bool {
    match (op.block(), mixer) {
        (None, _) => false,
        (Some("attn"), Mixer::Attention(sizes)) => match op {
            Op::QNorm | Op::KNorm => sizes.head_norms,
            Op::AttnGate => sizes.output_gate,
            _ => true,
        },
        (Some("delta"), Mixer::DeltaNet(_)) => true,
        (Some("attn" | "delta"), _) => false,
        (Some("mlp"), _) => in_feed_forward(op, feed_forward),
        (Some(_), _) => true,
    }
}

fn in_feed_forward(_op: Op, feed_forward: &FeedForward) -> bool {
    match feed_forward {
        FeedForward::Dense { .. } => true,
    }
}
