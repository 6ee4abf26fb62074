//! The operations of a model: one table of their names, their places in a layer and the groups that name them.
//!
//! Routes choose how each of these is computed, and every one is a site of the tap.

/// An operation of the model. The name is its key in routes and the last part of its tap site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Token embedding.
    Embed,
    /// Norm before the mixer.
    InputNorm,
    /// Query and gate projection.
    QProj,
    /// Key projection.
    KProj,
    /// Value projection.
    VProj,
    /// Query norm, per head.
    QNorm,
    /// Key norm, per head.
    KNorm,
    /// Rotary embedding of the queries.
    RopeQ,
    /// Rotary embedding of the keys.
    RopeK,
    /// Scores, softmax and the weighted sum of values.
    Attention,
    /// Sigmoid gate on the attention's output.
    AttnGate,
    /// Output projection of the attention.
    OProj,
    /// Query, key and value projection of the gated delta net.
    InProjQkv,
    /// Gate projection of the gated delta net.
    InProjZ,
    /// Projection to the writing strength.
    InProjB,
    /// Projection to the decay.
    InProjA,
    /// Short causal convolution and its activation.
    Conv,
    /// L2 norm of the delta net's queries.
    DeltaQNorm,
    /// L2 norm of the delta net's keys.
    DeltaKNorm,
    /// Writing strength.
    Beta,
    /// Logarithm of the decay.
    Decay,
    /// The delta rule's recurrence.
    Delta,
    /// Norm and gate on the recurrence's output.
    GatedNorm,
    /// Output projection of the gated delta net.
    OutProj,
    /// Adds the mixer's output to the residual stream.
    MixerResidual,
    /// Norm before the feed-forward.
    PostNorm,
    /// Gate projection of the feed-forward.
    GateProj,
    /// Up projection of the feed-forward.
    UpProj,
    /// Activation and product of the feed-forward.
    SwiGlu,
    /// Down projection of the feed-forward.
    DownProj,
    /// Scores of a row for all experts.
    Router,
    /// The scores as shares of one.
    RouterSoftmax,
    /// The numbers of the experts chosen for a row.
    ExpertChoice,
    /// The chosen experts' weights.
    ExpertWeights,
    /// Gate projection of the chosen experts.
    ExpertGateProj,
    /// Up projection of the chosen experts.
    ExpertUpProj,
    /// Activation and product of the chosen experts.
    ExpertSwiGlu,
    /// Down projection of the chosen experts.
    ExpertDownProj,
    /// Weighted sum over the chosen experts.
    ExpertMix,
    /// Gate projection of the shared expert.
    SharedGateProj,
    /// Up projection of the shared expert.
    SharedUpProj,
    /// Activation and product of the shared expert.
    SharedSwiGlu,
    /// Down projection of the shared expert.
    SharedDownProj,
    /// Projection to the shared expert's gate.
    SharedGate,
    /// Adds the shared expert's output behind its gate.
    SharedMix,
    /// Adds the feed-forward's output to the residual stream.
    MlpResidual,
    /// Norm before the head.
    FinalNorm,
    /// Output matrix.
    LmHead,
}

/// Name, place in a layer (`None` outside layers) and group of every operation, in the order of computation.
pub(super) const OPS: [(Op, &str, Option<&str>, Group); 48] = [
    (Op::Embed, "embed", None, Group::Other),
    (Op::InputNorm, "input_norm", Some(""), Group::Norm),
    (Op::QProj, "q_proj", Some("attn"), Group::Linear),
    (Op::KProj, "k_proj", Some("attn"), Group::Linear),
    (Op::VProj, "v_proj", Some("attn"), Group::Linear),
    (Op::QNorm, "q_norm", Some("attn"), Group::Norm),
    (Op::KNorm, "k_norm", Some("attn"), Group::Norm),
    (Op::RopeQ, "rope_q", Some("attn"), Group::Rope),
    (Op::RopeK, "rope_k", Some("attn"), Group::Rope),
    (Op::Attention, "attention", Some("attn"), Group::Attention),
    (Op::AttnGate, "attn_gate", Some("attn"), Group::Elementwise),
    (Op::OProj, "o_proj", Some("attn"), Group::Linear),
    (Op::InProjQkv, "in_proj_qkv", Some("delta"), Group::Linear),
    (Op::InProjZ, "in_proj_z", Some("delta"), Group::Linear),
    (Op::InProjB, "in_proj_b", Some("delta"), Group::Linear),
    (Op::InProjA, "in_proj_a", Some("delta"), Group::Linear),
    (Op::Conv, "conv", Some("delta"), Group::Other),
    (Op::DeltaQNorm, "delta_q_norm", Some("delta"), Group::Norm),
    (Op::DeltaKNorm, "delta_k_norm", Some("delta"), Group::Norm),
    (Op::Beta, "beta", Some("delta"), Group::Elementwise),
    (Op::Decay, "decay", Some("delta"), Group::Elementwise),
    (Op::Delta, "delta", Some("delta"), Group::Delta),
    (Op::GatedNorm, "gated_norm", Some("delta"), Group::Norm),
    (Op::OutProj, "out_proj", Some("delta"), Group::Linear),
    (Op::MixerResidual, "mixer_residual", Some(""), Group::Elementwise),
    (Op::PostNorm, "post_norm", Some(""), Group::Norm),
    (Op::GateProj, "gate_proj", Some("mlp"), Group::Linear),
    (Op::UpProj, "up_proj", Some("mlp"), Group::Linear),
    (Op::SwiGlu, "swiglu", Some("mlp"), Group::Elementwise),
    (Op::DownProj, "down_proj", Some("mlp"), Group::Linear),
    (Op::Router, "router", Some("mlp"), Group::Linear),
    (Op::RouterSoftmax, "router_softmax", Some("mlp"), Group::Other),
    (Op::ExpertChoice, "expert_choice", Some("mlp"), Group::Other),
    (Op::ExpertWeights, "expert_weights", Some("mlp"), Group::Other),
    (Op::ExpertGateProj, "expert_gate_proj", Some("mlp"), Group::Linear),
    (Op::ExpertUpProj, "expert_up_proj", Some("mlp"), Group::Linear),
    (Op::ExpertSwiGlu, "expert_swiglu", Some("mlp"), Group::Elementwise),
    (Op::ExpertDownProj, "expert_down_proj", Some("mlp"), Group::Linear),
    (Op::ExpertMix, "expert_mix", Some("mlp"), Group::Other),
    (Op::SharedGateProj, "shared_gate_proj", Some("mlp"), Group::Linear),
    (Op::SharedUpProj, "shared_up_proj", Some("mlp"), Group::Linear),
    (Op::SharedSwiGlu, "shared_swiglu", Some("mlp"), Group::Elementwise),
    (Op::SharedDownProj, "shared_down_proj", Some("mlp"), Group::Linear),
    (Op::SharedGate, "shared_gate", Some("mlp"), Group::Linear),
    (Op::SharedMix, "shared_mix", Some("mlp"), Group::Elementwise),
    (Op::MlpResidual, "mlp_residual", Some(""), Group::Elementwise),
    (Op::FinalNorm, "final_norm", None, Group::Norm),
    (Op::LmHead, "lm_head", None, Group::Linear),
];

/// Operations that one word of the grammar names together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Products with a matrix of the checkpoint.
    Linear,
    /// Norms over the last axis.
    Norm,
    /// Rotary embeddings.
    Rope,
    /// Each number by itself.
    Elementwise,
    /// Scores, softmax, weighted sum.
    Attention,
    /// The delta rule.
    Delta,
    /// None of these.
    Other,
}

pub(super) const GROUPS: [(&str, Group); 4] = [
    ("linear", Group::Linear),
    ("norm", Group::Norm),
    ("rope", Group::Rope),
    ("elementwise", Group::Elementwise),
];

impl Group {
    /// The word that names it in routes; none for operations that are named one by one.
    #[must_use]
    pub fn word(self) -> Option<&'static str> {
        GROUPS.iter().find(|(_, group)| *group == self).map(|(word, _)| *word)
    }
}

impl Op {
    /// Every operation, in the order of computation.
    pub fn all() -> impl Iterator<Item = Op> {
        OPS.iter().map(|entry| entry.0)
    }

    /// The operation's word in routes and sites.
    #[must_use]
    pub const fn name(self) -> &'static str {
        OPS[self as usize].1
    }

    /// Whether it chooses experts or is computed by the chosen ones, each row by others.
    #[must_use]
    pub const fn is_of_experts(self) -> bool {
        let (first, last) = (Self::RouterSoftmax as usize, Self::ExpertMix as usize);
        first <= self as usize && self as usize <= last
    }

    /// The block of a layer that it belongs to: `attn`, `delta`, `mlp`, empty, or `None` outside the layers.
    #[must_use]
    pub const fn block(self) -> Option<&'static str> {
        OPS[self as usize].2
    }

    /// The axis of its output that has the rows; heads come before rows once keys are on their way into the cache.
    #[must_use]
    pub const fn row_axis(self) -> i32 {
        match self {
            Self::RopeQ | Self::RopeK | Self::Attention => 2,
            _ => 1,
        }
    }

    /// True for the operations that multiply by a matrix of the checkpoint, or look rows of one up: what they compute
    /// depends on how the checkpoint stores its matrices.
    #[must_use]
    pub fn has_matrix(self) -> bool {
        self.group() == Group::Linear || self == Self::Embed
    }

    /// The group that it belongs to.
    #[must_use]
    pub const fn group(self) -> Group {
        OPS[self as usize].3
    }
}

#[cfg(test)]
mod tests {
    use super::OPS;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, entry) in OPS.iter().enumerate() {
            assert_eq!(entry.0 as usize, index, "{}", entry.1);
        }
    }
}
