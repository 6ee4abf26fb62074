//! The feed-forward of the families with experts: a router, a choice of experts for each row, one shared by all.

use super::shared;
use crate::engine::checkpoint::config::{Experts, FeedForward};
use crate::engine::checkpoint::error::Result;
use crate::engine::checkpoint::fields::Fields;
use serde_json::Value;

/// Reads the experts' sizes; every layer has them.
pub(super) fn parse(text: &Fields<'_>, renormalise: bool) -> Result<FeedForward> {
    let fixed: [(&str, &[Value]); 2] =
        [("decoder_sparse_step", &[1.into()]), ("mlp_only_layers", &[Value::Array(Vec::new())])];
    shared::only(text, &fixed)?;
    let (count, chosen) = (text.count("num_experts")?, text.count("num_experts_per_tok")?);
    if chosen > count {
        return Err(text.wrong("num_experts_per_tok", &format!("at most num_experts, {count}")));
    }
    Ok(FeedForward::Experts(Experts {
        count,
        chosen,
        inner: text.count("moe_intermediate_size")?,
        shared: text.count("shared_expert_intermediate_size")?,
        renormalise,
    }))
}
