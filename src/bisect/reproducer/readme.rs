//! The description that goes with a reproducer, for a reader who knows MLX and not this program.

use super::Which;
use crate::results::reproducer::{About, INDEX, INPUTS, Index, SideRecord};
use crate::transcript::format::Backend;

/// The folder's README.md.
pub(super) fn readme(index: &Index) -> String {
    let about = &index.about;
    let parts = [
        format!("# {}: one row, computed in two ways", about.site),
        what(about),
        format!(
            "```sh\npip install '{}'\npython3 reproduce.py\n```",
            package(&about.backend)
        ),
        "The script prints both rows' digests, how many of their bytes differ and how far at most, and ends with exit code 1 when they \
         differ. `exactness reproduce FOLDER` does the same and counts representable steps. A function's file goes to MLX's \
         reader as it is: run folders of people you trust."
            .to_owned(),
        format!("{}\n{}", call(index, Which::Chain), call(index, Which::Block)),
        found(index),
        origin(about),
        format!(
            "Files: `{INPUTS}` has both calls' inputs, `chain.mlxfn` and `block.mlxfn` the calls with their weights as MLX \
             exports functions, `{INDEX}` the digests of all."
        ),
    ];
    format!("{}\n", parts.join("\n\n"))
}

fn what(about: &About) -> String {
    format!(
        "Plain decoding computes `{}` one row at a time, speculative decoding a block of rows in one go. At position {}, \
         row {} of the block, both were given equal inputs. This folder has the two calls, with their inputs and weights \
         and nothing else of the model.",
        about.op, about.position, about.row
    )
}

/// The published package that has the recorded library.
fn package(backend: &Backend) -> String {
    let version = backend.version.as_deref().unwrap_or_default();
    match backend.name.as_deref() {
        Some("mlx-cpu") => format!("mlx[cpu]=={version}"),
        Some("mlx-cuda") => format!("mlx[cuda13]=={version}"),
        _ => format!("mlx=={version}"),
    }
}

fn call(index: &Index, which: Which) -> String {
    let (side, about) = (index.side(which), &index.about);
    let route = match which {
        Which::Chain => &about.route_chain,
        Which::Block => &about.route_block,
    };
    let inputs: Vec<String> =
        side.inputs.iter().map(|input| format!("{} {} {:?}", input.name, input.dtype, input.shape)).collect();
    format!(
        "* **{which}** (`{}`, route {route}): {} to {} {:?}; row {} of {} on axis {}.",
        which.function(),
        inputs.join(", "),
        side.dtype,
        side.output,
        side.row,
        SideRecord::rows(side),
        side.axis
    )
}

fn found(index: &Index) -> String {
    let says = format!("Found in the model: {}. Found with this folder: {}.", index.in_model, index.outside);
    index.caveat().map_or(says.clone(), |caveat| format!("{says}\n\n**{caveat}**"))
}

fn origin(about: &About) -> String {
    let known = |part: &Option<String>| part.clone().unwrap_or_else(|| "unknown".to_owned());
    let (model, backend) = (&about.model, &about.backend);
    format!(
        "Model {} (digest {}), activations {}, weights {}. {} {} on {}. Found by `{}`.",
        known(&model.name),
        known(&model.digest),
        known(&model.dtype),
        model.quantization.as_deref().unwrap_or("not quantized"),
        known(&backend.name),
        known(&backend.version),
        known(&backend.device),
        about.command.join(" ")
    )
}
