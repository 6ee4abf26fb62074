//! The routes of both sides of a comparison: those of the verify block, and those of plain decoding.
//!
//! Block routes leave plain decoding alone. Some kernels agree only when plain decoding changes too, and then its bytes
//! and its cost are others; so the two are kept apart, and a text of both says which settings are plain decoding's:
//! `o_proj=padded:8,plain.o_proj=padded:8`.

use super::op::Op;
use super::routes::{Defaults, RouteError, Routes};
use std::fmt;
use std::str::FromStr;

/// What plain decoding's settings begin with.
const PLAIN: &str = "plain.";

/// Overrides of the default routes on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideRoutes {
    /// Of the verify block.
    pub block: Routes,
    /// Of plain decoding: its steps, and the prompt of every arm.
    pub plain: Routes,
}

impl SideRoutes {
    /// From a text of each side, as a choice stores them.
    ///
    /// # Errors
    /// When one of them is none of routes.
    pub fn of_texts(block: &str, plain: &str) -> Result<Self, RouteError> {
        Ok(Self { block: block.parse()?, plain: plain.parse()? })
    }

    /// What is wrong with the first setting for an operation that the model, or the layer, does not have.
    #[must_use]
    pub fn misplaced(&self, layers: &[Vec<Op>]) -> Option<String> {
        self.block.misplaced(layers).or_else(|| self.plain.misplaced(layers))
    }

    /// How a verify block computes, defaults first; the prompt before it is fed as plain decoding's settings say.
    #[must_use]
    pub fn block_text(&self) -> String {
        joined([Defaults::Verify.text().to_owned(), self.to_string()])
    }

    /// How plain decoding computes, defaults first.
    #[must_use]
    pub fn plain_text(&self) -> String {
        joined([Defaults::Plain.text().to_owned(), self.plain.to_string()])
    }
}

/// The settings of plain decoding in a text of both sides.
///
/// # Errors
/// When one of them is none; the block's are not looked at.
pub fn plain_part(text: &str) -> Result<Routes, RouteError> {
    let plain: Vec<&str> = text.split(',').filter_map(|part| part.trim().strip_prefix(PLAIN)).collect();
    plain.join(",").parse()
}

impl From<Routes> for SideRoutes {
    /// Block routes beside plain decoding as it is.
    fn from(block: Routes) -> Self {
        Self { block, plain: Routes::default() }
    }
}

impl FromStr for SideRoutes {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let block: Vec<&str> =
            text.split(',').map(str::trim).filter(|part| !part.starts_with(PLAIN)).collect();
        Ok(Self { block: block.join(",").parse()?, plain: plain_part(text)? })
    }
}

impl fmt::Display for SideRoutes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.plain.to_string();
        let plain = plain.split(',').filter(|part| !part.is_empty()).map(|part| format!("{PLAIN}{part}"));
        formatter.write_str(&joined(std::iter::once(self.block.to_string()).chain(plain)))
    }
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::SideRoutes;

    #[test]
    fn one_text_says_which_side_a_setting_is_of() {
        let block = "o_proj=padded:8,layer.2.rope_q=rows";
        let both = "o_proj=padded:8,layer.2.rope_q=rows,plain.linear=padded:8,plain.layer.2.o_proj=rows";
        for (text, sides) in
            [("", ("", "")), (block, (block, "")), (both, (block, "linear=padded:8,layer.2.o_proj=rows"))]
        {
            let routes: SideRoutes = text.parse().unwrap();
            assert_eq!((routes.block.to_string().as_str(), routes.plain.to_string().as_str()), sides);
            assert_eq!(routes.to_string(), text);
        }
        let apart: SideRoutes = "plain.norm=rows, o_proj=rows".parse().unwrap();
        assert_eq!(apart.to_string(), "o_proj=rows,plain.norm=rows");
        assert_eq!(apart.block_text(), "attention=per-position,delta=chain,o_proj=rows,plain.norm=rows");
        assert_eq!(apart.plain_text(), "attention=block,delta=chain,norm=rows");
        assert!("plain.linear=padded:1".parse::<SideRoutes>().is_err());
        assert!("plain.plain.linear=rows".parse::<SideRoutes>().is_err());
    }
}
