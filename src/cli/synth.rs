//! `exactness synth`: a random checkpoint at a released model's shapes, to try speed and exactness at real sizes.

use super::console;
use super::exit::Failure;
use crate::engine::checkpoint::{Checkpoint, Summary};
use crate::engine::synth::{Geometry, Storage, Synth, write};
use crate::results::counted;
use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// Writes a random checkpoint at a released model's shapes. It has no tokenizer: give prompts as ids.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Shapes: the demo's (tiny), those of the Qwen 3.5 models, or tiny ones of another family
    #[arg(long, value_name = "SIZE", value_parser = one_of(&Geometry::NAMES))]
    geometry: Geometry,
    /// Chooses the weights; the same seed writes the same bytes
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Storage of matrices: affine codes of 4 or 8 bits in MLX form, or bfloat16 (16) in Hugging Face form
    #[arg(long, default_value = "4", value_parser = one_of(&Storage::WIDTHS))]
    bits: Storage,
    /// Storage of matrices in another mode, instead of --bits: 4-bit floats that share a power of two (mxfp4), 8-bit
    /// floats that do (mxfp8), 4-bit floats with an 8-bit float scale (nvfp4)
    #[arg(long, value_name = "MODE", conflicts_with = "bits", value_parser = one_of(&Storage::MODES))]
    quantize: Option<Storage>,
    /// The folder to make; it must not exist or be empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Accepts the names of a table and gives their values.
pub(super) fn one_of<T>(names: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + std::str::FromStr + 'static,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.iter().map(|(name, _)| *name)).try_map(|name: String| name.parse::<T>())
}

/// Writes the checkpoint, opens it again and says what it is.
///
/// # Errors
/// With exit code 5 when the folder is in use or cannot be written.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let storage = args.quantize.unwrap_or(args.bits);
    let what = Synth { geometry: args.geometry, storage, seed: args.seed };
    let failed = || Failure::unavailable("failed to make a synthetic checkpoint");
    let written = write(&what, &args.out).with_context(failed)?;
    let summary = Checkpoint::open(&args.out).with_context(failed)?.summary();
    console::out(&line(&args.out, written.files.len(), &summary));
    Ok(0)
}

/// Such as `wrote DIR: 7.91 M parameters, affine 4-bit g64, MLX form, 4.5 MB in 1 file`.
fn line(folder: &Path, files: usize, summary: &Summary) -> String {
    let storage = summary.quantization.as_deref().unwrap_or("bfloat16");
    let (parameters, bytes) = (scaled(summary.parameters, ["M", "B"]), scaled(summary.bytes, ["MB", "GB"]));
    format!(
        "wrote {}: {parameters} parameters, {storage}, {} form, {bytes} in {}",
        folder.display(),
        summary.form,
        counted(files, "file")
    )
}

/// A count in millions, or from a thousand millions on in those.
fn scaled(count: usize, units: [&str; 2]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let millions = count as f64 / 1e6;
    if millions < 1000.0 {
        format!("{millions:.2} {}", units[0])
    } else {
        format!("{:.2} {}", millions / 1000.0, units[1])
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, run, scaled};
    use crate::cli::exit::{UNAVAILABLE, code_of};
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn an_unknown_size_is_answered_with_the_known_ones() {
        let wrong =
            Line::try_parse_from(["synth", "--geometry", "3b", "--out", "x"]).err().unwrap().to_string();
        assert!(wrong.contains("[possible values: tiny, 0.8b, 2b, 4b, 9b, tiny-llama"), "{wrong}");
    }

    #[test]
    fn a_folder_in_use_ends_with_exit_code_5() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("model").display().to_string();
        let line =
            Line::try_parse_from(["synth", "--geometry", "tiny", "--bits", "8", "--out", &out]).unwrap();
        assert_eq!(run(&line.args).unwrap(), 0);
        assert_eq!(code_of(&run(&line.args).unwrap_err()), UNAVAILABLE);
    }

    #[test]
    fn counts_are_shown_in_a_readable_unit() {
        assert_eq!(scaled(7_906_080, ["M", "B"]), "7.91 M");
        assert_eq!(scaled(4_206_000_000, ["M", "B"]), "4.21 B");
    }
}
