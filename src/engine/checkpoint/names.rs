//! One name for a tensor whatever program saved it.
//!
//! Released files say `model.language_model.layers…`, files that mlx-lm wrote `language_model.model.layers…`,
//! text-only saves `model.layers…`. Everything behind this module sees only the last spelling.

/// Parts of a checkpoint that a text model does not use. They are counted, not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ignored {
    /// The multi-token-prediction head, `mtp.*`.
    Mtp,
    /// The vision tower.
    Vision,
    /// Frequencies of the rope, which the configuration states too; old Llama files carry them.
    RotaryFrequencies,
    /// An output matrix beside a configuration that ties it to the embedding.
    TiedHead,
}

impl Ignored {
    /// The word that reports use.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Mtp => "mtp",
            Self::Vision => "vision",
            Self::RotaryFrequencies => "rotary frequencies",
            Self::TiedHead => "tied lm_head",
        }
    }
}

/// The canonical spelling of a tensor name or of a module path.
pub(super) fn canonical(name: &str) -> String {
    if let Some(rest) = name.strip_prefix("model.language_model.") {
        return format!("model.{rest}");
    }
    name.strip_prefix("language_model.").unwrap_or(name).to_owned()
}

/// The part that a canonically spelled tensor belongs to, when it is none of the text model's.
pub(super) fn ignored(name: &str, tied: bool) -> Option<Ignored> {
    const VISION: [&str; 4] = ["visual.", "vision_tower.", "vision_model.", "multi_modal_projector."];
    let local = name.strip_prefix("model.").unwrap_or(name);
    if local.starts_with("mtp.") {
        return Some(Ignored::Mtp);
    }
    if VISION.iter().any(|prefix| local.starts_with(prefix)) {
        return Some(Ignored::Vision);
    }
    if local.ends_with("self_attn.rotary_emb.inv_freq") {
        return Some(Ignored::RotaryFrequencies);
    }
    (tied && name.starts_with("lm_head.")).then_some(Ignored::TiedHead)
}

#[cfg(test)]
mod tests {
    use super::{Ignored, canonical, ignored};

    #[test]
    fn every_known_spelling_meets_in_one() {
        for spelling in
            ["model.language_model.norm.weight", "language_model.model.norm.weight", "model.norm.weight"]
        {
            assert_eq!(canonical(spelling), "model.norm.weight");
        }
        for spelling in ["language_model.lm_head.weight", "lm_head.weight"] {
            assert_eq!(canonical(spelling), "lm_head.weight");
        }
    }

    #[test]
    fn parts_beside_the_text_model_are_told_apart() {
        assert_eq!(ignored("mtp.fc.weight", true), Some(Ignored::Mtp));
        assert_eq!(ignored("model.visual.patch_embed.proj.weight", true), Some(Ignored::Vision));
        assert_eq!(ignored("vision_tower.blocks.0.norm1.weight", false), Some(Ignored::Vision));
        let frequencies = ignored("model.layers.0.self_attn.rotary_emb.inv_freq", false);
        assert_eq!(frequencies, Some(Ignored::RotaryFrequencies));
        assert_eq!(ignored("lm_head.weight", true), Some(Ignored::TiedHead));
        assert_eq!(ignored("lm_head.weight", false), None);
        assert_eq!(ignored("model.layers.0.mlp.mtp.weight", true), None);
    }
}
