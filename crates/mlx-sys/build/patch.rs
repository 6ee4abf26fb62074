//! Why: mlx-c 0.7.0 was written for MLX 0.32.2. In 0.32.4 `gather_qmm` takes a global scale before its
//! last argument but one; mlx-c has none to give. The call is changed in a copy of that file, and only
//! if both sides look exactly as expected.

use std::fs;
use std::path::{Path, PathBuf};

use crate::message::{about, Failure, Outcome};
use crate::mlx::Mlx;

const CALL: &str = "mlx::core::gather_qmm(";
const BEFORE: &str = "std::string(mode),\n            sorted_indices,";
const AFTER: &str = "std::string(mode),\n            std::nullopt,\n            sorted_indices,";

/// `ops.cpp` as this MLX wants it: the original where it fits, else a changed copy under `out`.
pub fn ops(original: &Path, mlx: &Mlx, out: &Path) -> Outcome<PathBuf> {
    let header = mlx.include.join("mlx").join("ops.h");
    let declared = fs::read_to_string(&header).map_err(|error| about("read", &header, error))?;
    if !takes_global_scale(&declared) {
        return Ok(original.to_owned());
    }
    let text = fs::read_to_string(original).map_err(|error| about("read", original, error))?;
    let changed = with_global_scale(&text).ok_or_else(|| {
        Failure::new(format!("{} does not call gather_qmm as mlx-c 0.7.0 does", original.display()))
    })?;
    let copy = out.join("mlx_c_ops.cpp");
    fs::write(&copy, changed).map_err(|error| about("write", &copy, error))?;
    Ok(copy)
}

fn takes_global_scale(header: &str) -> bool {
    let declaration = header.split(" gather_qmm(").nth(1).and_then(|rest| rest.split(';').next());
    declaration.is_some_and(|text| text.contains("global_scale"))
}

/// The text with the one call changed; nothing if it is not there exactly once.
fn with_global_scale(text: &str) -> Option<String> {
    let (head, tail) = text.split_once(CALL)?;
    let (call, rest) = tail.split_once("extern \"C\"")?;
    if call.matches(BEFORE).count() != 1 || rest.contains(CALL) {
        return None;
    }
    Some([head, CALL, &call.replace(BEFORE, AFTER), "extern \"C\"", rest].concat())
}
