//! Which operations a model has, layer by layer: what a route can speak of.

use super::checkpoint::{Config, FeedForward, Mixer};
use super::op::Op;
use super::tap::Site;

/// The operations of each layer, in the order of computation.
#[must_use]
pub fn layers(config: &Config) -> Vec<Vec<Op>> {
    let of_layer =
        |mixer: &Mixer| Op::all().filter(|op| in_layer(*op, mixer, &config.feed_forward)).collect();
    config.layers.iter().map(of_layer).collect()
}

/// Every place of an operation, outside the layers first.
pub fn sites(config: &Config) -> impl Iterator<Item = Site> {
    let outside = Op::all().filter(|op| op.block().is_none()).map(Site::outside);
    let inside = layers(config).into_iter().enumerate();
    outside.chain(inside.flat_map(|(layer, ops)| ops.into_iter().map(move |op| Site::of_layer(layer, op))))
}

fn in_layer(op: Op, mixer: &Mixer, feed_forward: &FeedForward) -> bool {
    match (op.block(), mixer) {
        (Some("attn"), Mixer::Attention(sizes)) => match op {
            Op::QNorm | Op::KNorm => sizes.head_norms,
            Op::AttnGate => sizes.output_gate,
            _ => true,
        },
        (Some("mlp"), _) => in_feed_forward(op, feed_forward),
        (Some("delta"), Mixer::DeltaNet(_)) | (Some(""), _) => true,
        _ => false,
    }
}

fn in_feed_forward(op: Op, feed_forward: &FeedForward) -> bool {
    let dense = matches!(op, Op::GateProj | Op::UpProj | Op::SwiGlu | Op::DownProj);
    match feed_forward {
        FeedForward::Dense { .. } => dense,
        FeedForward::Experts(_) => !dense,
    }
}
