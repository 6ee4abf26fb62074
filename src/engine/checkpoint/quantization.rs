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

impl Mode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Affine, Self::Mxfp4, Self::Mxfp8, Self::Nvfp4];

    /// Its name in configurations and in MLX.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Affine => "affine",
            Self::Mxfp4 => "mxfp4",
            Self::Mxfp8 => "mxfp8",
            Self::Nvfp4 => "nvfp4",
        }
    }

    /// Widths of a code that it has.
    #[must_use]
    pub fn widths(self) -> &'static [u8] {
        match self {
            Self::Affine => &[2, 3, 4, 5, 6, 8],
            Self::Mxfp4 | Self::Nvfp4 => &[4],
            Self::Mxfp8 => &[8],
        }
    }

    /// Sizes of a group that it has.
    #[must_use]
    pub fn groups(self) -> &'static [u16] {
        match self {
            Self::Affine => &[32, 64, 128],
            Self::Mxfp4 | Self::Mxfp8 => &[32],
            Self::Nvfp4 => &[16],
        }
    }

    /// Whether a group has a bias beside its scale. Where it has none, the scale is one byte: a power of two, or an
    /// 8-bit float.
    #[must_use]
    pub fn has_biases(self) -> bool {
        self == Self::Affine
    }
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
        write!(formatter, "{} {}-bit g{}", self.mode.name(), self.bits, self.group)
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

/// Reads `mode`, `bits` and `group_size` and refuses what the mode does not have.
fn rule(fields: &Fields<'_>) -> Result<Quantization> {
    if fields.get("quant_method").is_some() {
        return Err(fields.wrong("quant_method", "absent (only MLX's own quantization is supported)"));
    }
    if fields.get("global_scale").is_some_and(|value| *value != Value::Bool(false)) {
        return Err(
            fields.wrong("global_scale", "false or absent (scales of whole matrices are not supported)")
        );
    }
    let mode = match fields.get("mode") {
        None => Mode::Affine,
        Some(_) => named(fields.text("mode")?).ok_or_else(|| fields.wrong("mode", &known()))?,
    };
    let bits = u8::try_from(fields.count("bits")?).ok().filter(|bits| mode.widths().contains(bits));
    let group = u16::try_from(fields.count("group_size")?).ok().filter(|group| mode.groups().contains(group));
    Ok(Quantization {
        mode,
        bits: bits.ok_or_else(|| fields.wrong("bits", &choice(mode, mode.widths())))?,
        group: group.ok_or_else(|| fields.wrong("group_size", &choice(mode, mode.groups())))?,
    })
}

fn named(name: &str) -> Option<Mode> {
    Mode::ALL.into_iter().find(|mode| mode.name() == name)
}

fn known() -> String {
    let names: Vec<String> = Mode::ALL.iter().map(|mode| format!("{:?}", mode.name())).collect();
    format!("a known quantization mode ({})", names.join(", "))
}

/// Such as `2, 3, 4, 5, 6 or 8 (affine)`.
fn choice<T: fmt::Display>(mode: Mode, values: &[T]) -> String {
    let texts: Vec<String> = values.iter().map(T::to_string).collect();
    let list = match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => texts.concat(),
    };
    format!("{list} ({})", mode.name())
}
