#!/bin/sh
# SmolLM2 end to end: fetched, decoded beside mlx-lm, and verified at widths 2, 4 and 12.
#
#     harness/models/smollm2_check.sh OUT_FOLDER
#
# 8 prompts of 64 ids against mlx-lm over the same tensors, then block widths against plain decoding over 32 tokens;
# the transcripts go to OUT_FOLDER. Takes minutes on two cores.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
target=${CARGO_TARGET_DIR:-$here/../../target}
[ -x "$target/release/exactness" ] || cargo build --release --manifest-path "$here/../../Cargo.toml"
python=$("$here/../mlx_lm.sh")
file=$("$here/smollm2.sh")
exec "$python" "$here/smollm2_against_mlx_lm.py" "$target/release/exactness" "$file" "$1"
