//! What a report says about a checkpoint, without reading its weights.

use super::form::Form;
use super::layout::{self, Role};
use super::open::Checkpoint;
use super::quantization::Quantization;
use std::collections::BTreeMap;

/// A checkpoint in a few figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The folder's own name.
    pub name: String,
    /// `model_type` of the configuration.
    pub model_type: String,
    /// How convolutions and norms are stored.
    pub form: Form,
    /// Tensors of the text model, as stored.
    pub tensors: usize,
    /// Tensors that are not read, by part.
    pub ignored: Vec<(&'static str, usize)>,
    /// Bytes of the text model's tensors.
    pub bytes: usize,
    /// Numbers of the text model before quantization.
    pub parameters: usize,
    /// Tensors by element type.
    pub dtypes: Vec<(String, usize)>,
    /// Such as `affine 4-bit g64`; several joined by ` + `, the most common first; `None` when nothing is quantized.
    pub quantization: Option<String>,
}

impl Checkpoint {
    /// Sums the checkpoint up. Does not touch the tensors' bytes.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut dtypes: BTreeMap<String, usize> = BTreeMap::new();
        for (_, tensor) in self.tensors() {
            *dtypes.entry(tensor.dtype.to_string()).or_default() += 1;
        }
        let parameters = layout::parameters(self.config(), self.form());
        Summary {
            name: self.name(),
            model_type: self.config().model_type.clone(),
            form: self.form(),
            tensors: self.tensors().count(),
            ignored: self.ignored().iter().map(|(part, count)| (part.label(), *count)).collect(),
            bytes: self.tensors().map(|(_, tensor)| tensor.bytes.len()).sum(),
            parameters: parameters.iter().map(|parameter| parameter.shape.iter().product::<usize>()).sum(),
            dtypes: dtypes.into_iter().collect(),
            quantization: self.quantization_text(),
        }
    }

    /// Such as `affine 4-bit g64`, the value of a transcript's `model.quantization`.
    #[must_use]
    pub fn quantization_text(&self) -> Option<String> {
        let mut counts: BTreeMap<Quantization, usize> = BTreeMap::new();
        for parameter in layout::parameters(self.config(), self.form()) {
            if !matches!(parameter.role, Role::Matrix | Role::Experts | Role::Embedding) {
                continue;
            }
            // Opening has refused contradictions already.
            if let Ok(Some(quantization)) = self.quantization(&parameter.path) {
                *counts.entry(quantization).or_default() += 1;
            }
        }
        let mut ranked: Vec<_> = counts.into_iter().collect();
        ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let texts: Vec<String> = ranked.iter().map(|(quantization, _)| quantization.to_string()).collect();
        (!texts.is_empty()).then(|| texts.join(" + "))
    }
}
