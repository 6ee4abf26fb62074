//! A synthetic checkpoint in memory with two layers, one of each kind where there are two: enough to run every operation at a model's shapes.
//!
//! Layers of one kind have the same shapes, so the others would only be measured again.

use super::Synth;
use super::config::config;
use super::plan::plan_of;
use super::write::{draw, header};
use crate::engine::checkpoint::{Bytes, Checkpoint};
use crate::engine::error::{Error, Result};
use serde_json::{Value, json};

/// Makes the sample; the same value gives the same bytes on every machine of one kind.
///
/// # Errors
/// When the planned configuration cannot be read back, which would be a bug.
pub fn sample(what: &Synth, name: &str) -> Result<Checkpoint> {
    resized(what, name, &[])
}

/// Makes a sample with some sizes of the configuration replaced, as in `("hidden_size", 64)`: for shapes that no model
/// has been released in.
///
/// # Errors
/// When the sizes do not fit together.
pub fn resized(what: &Synth, name: &str, sizes: &[(&str, usize)]) -> Result<Checkpoint> {
    let plan = plan_of(what, two_layers(config(what.geometry, what.storage), sizes))?;
    let mut weights = header(&plan.tensors, plan.form);
    for stored in &plan.tensors {
        draw(stored, what.seed, |bytes| {
            weights.extend_from_slice(bytes);
            Ok::<(), Error>(())
        })?;
    }
    let config = Bytes::from_vec(plan.config.to_string().into_bytes());
    let files = vec![("config.json", config), ("model.safetensors", Bytes::from_vec(weights))];
    Ok(Checkpoint::in_memory(name, files)?)
}

fn two_layers(mut config: Value, sizes: &[(&str, usize)]) -> Value {
    let nested = config.get("text_config").is_some();
    let text = if nested { &mut config["text_config"] } else { &mut config };
    text["num_hidden_layers"] = json!(2);
    for (key, value) in [
        ("layer_types", json!(["linear_attention", "full_attention"])),
        ("full_attention_interval", json!(2)),
    ] {
        if text.get(key).is_some() {
            text[key] = value;
        }
    }
    for (key, size) in sizes {
        text[*key] = json!(size);
    }
    config
}

#[cfg(test)]
mod tests {
    use super::sample;
    use crate::engine::synth::{Geometry, Storage, Synth};

    #[test]
    fn matrices_of_many_blocks_are_whole_in_every_storage() {
        for (name, storage) in Storage::NAMES {
            let made = sample(&Synth { geometry: Geometry::Tiny, storage, seed: 1 }, "sample");
            assert!(made.is_ok(), "{name}: {:?}", made.err());
        }
    }
}
