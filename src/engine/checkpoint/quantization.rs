//! Which matrices are quantized, and how: the `quantization` object of config.json against the tensors at hand.
//!
//! A matrix is quantized exactly when its `.scales` are in the file; the object says how to read the codes and
//! may say otherwise for single modules. Where file and object contradict each other, the checkpoint is refused,
//! because either reading could be the wrong one.

use super::error::{CheckpointError, Result};
use super::fields::Fields;
use super::names::canonical;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// How codes stand for numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// `scale * code + bias` with a scale and a bias for each group.
    Affine,
    /// 4-bit floats with a power of two for each 32.
    Mxfp4,
    /// 8-bit floats with a power of two for each 32.
    Mxfp8,
    /// 4-bit floats with an 8-bit float scale for each 16.
    Nvfp4,
}

/// How one matrix is quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantization {
    /// What the codes mean.
    pub mode: Mode,
    /// Bits of a code.
    pub bits: u8,
    /// Neighbouring inputs that share a scale.
    pub group: u16,
}

impl fmt::Display for Quantization {
    /// `affine 4-bit g64`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            Mode::Affine => "affine",
            Mode::Mxfp4 => "mxfp4",
            Mode::Mxfp8 => "mxfp8",
            Mode::Nvfp4 => "nvfp4",
        };
        write!(formatter, "{mode} {}-bit g{}", self.bits, self.group)
    }
}

/// The whole object: the rule for all modules and the exceptions.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    file: String,
    all: Option<Quantization>,
    /// Canonical module path to its own rule; `None` forbids quantization there.
    exceptions: BTreeMap<String, Option<Quantization>>,
}

impl Table {
    /// Reads the object; mlx-lm writes it twice, as `quantization` and as `quantization_config`.
    pub(super) fn parse(file: &str, top: &Fields<'_>) -> Result<Self> {
        let (first, second) = (top.get("quantization"), top.get("quantization_config"));
        if first.is_some() && second.is_some() && first != second {
            return Err(top.wrong("quantization_config", "the same as quantization"));
        }
        let name = if first.is_some() { "quantization" } else { "quantization_config" };
        let Some(object) = top.nested(name)? else {
            return Ok(Self { file: file.to_owned(), ..Self::default() });
        };
        let mut table =
            Self { file: file.to_owned(), all: Some(rule(&object)?), exceptions: BTreeMap::new() };
        for (key, value) in object.iter() {
            let exception = match value {
                _ if ["group_size", "bits", "mode"].contains(&key.as_str()) => continue,
                Value::Bool(false) => None,
                Value::Bool(true) => table.all,
                Value::Object(_) => object.nested(key)?.map(|own| rule(&own)).transpose()?,
                _ => return Err(object.wrong(key, "a module's own rule: an object, true or false")),
            };
            table.exceptions.insert(canonical(key), exception);
        }
        Ok(table)
    }

    /// The rule for a module, given whether its `.scales` are in the file.
    pub(super) fn of(&self, module: &str, has_scales: bool) -> Result<Option<Quantization>> {
        let exception = self.exceptions.get(module).copied();
        let stated = exception.unwrap_or(self.all);
        let asked = exception.flatten().is_some();
        let says = match (stated, has_scales) {
            (Some(stated), true) => return Ok(Some(stated)),
            (None, false) => return Ok(None),
            (Some(_), false) if !asked => return Ok(None),
            (Some(stated), false) => format!("a module quantized as {stated}, but its scales are in no file"),
            (None, true) if exception.is_some() => "false, but its scales are in the file".to_owned(),
            (None, true) => "no rule, but its scales are in the file".to_owned(),
        };
        let field = format!("quantization of {module}");
        let expected = "what the tensors say".to_owned();
        Err(CheckpointError::Field { file: self.file.clone(), field, expected, found: says })
    }
}

/// Reads `mode`, `bits` and `group_size` and refuses what this build cannot compute with.
fn rule(fields: &Fields<'_>) -> Result<Quantization> {
    if fields.get("quant_method").is_some() {
        return Err(fields.wrong("quant_method", "absent (only MLX's own quantization is supported)"));
    }
    let mode = match fields.get("mode").map(|_| fields.text("mode")).transpose()? {
        None | Some("affine") => Mode::Affine,
        Some("mxfp4") => Mode::Mxfp4,
        Some("mxfp8") => Mode::Mxfp8,
        Some("nvfp4") => Mode::Nvfp4,
        Some(_) => return Err(fields.wrong("mode", "a known quantization mode (\"affine\")")),
    };
    if mode != Mode::Affine {
        return Err(fields.wrong("mode", "\"affine\" (this mode is not supported yet)"));
    }
    let bits = u8::try_from(fields.count("bits")?).ok().filter(|bits| [2, 3, 4, 5, 6, 8].contains(bits));
    let group = u16::try_from(fields.count("group_size")?).ok().filter(|group| [32, 64, 128].contains(group));
    Ok(Quantization {
        mode,
        bits: bits.ok_or_else(|| fields.wrong("bits", "2, 3, 4, 5, 6 or 8"))?,
        group: group.ok_or_else(|| fields.wrong("group_size", "32, 64 or 128"))?,
    })
}
