#!/bin/sh
# Plain decoding and prefill of our engine against mlx-lm's, pair by pair, and the memory that each takes.
#
#   harness/bench/engine.sh MODEL [PAIRS] [TOKENS] [PROMPT_LENGTH]
#
# MODEL is a checkpoint folder, or a GGUF file of llama, that both read. mlx-lm runs in an environment of its own with
# the MLX wheel that our binary is linked with, so both call the same kernels; both compute in f32 unless DTYPE says
# otherwise.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
target=${CARGO_TARGET_DIR:-$here/../../target}
[ -x "$target/release/exactness" ] || cargo build --release --manifest-path "$here/../../Cargo.toml"
python=$("$here/../mlx_lm.sh")
exec "$python" "$here/engine.py" pairs "$target/release/exactness" "$@"
