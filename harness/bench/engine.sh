#!/bin/sh
# Plain decoding and prefill of our engine against mlx-lm's, pair by pair, and the memory that each takes.
#
#   harness/bench/engine.sh MODEL [PAIRS] [TOKENS] [PROMPT_LENGTH]
#
# MODEL is a checkpoint folder, or a GGUF file of llama, that both read. mlx-lm runs in an environment of its own with the MLX wheel that our
# binary is linked with, so both call the same kernels; both compute in f32 unless DTYPE says otherwise.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
work=${EXACTNESS_BENCH_DIR:-${TMPDIR:-/tmp}/exactness-bench}
target=${CARGO_TARGET_DIR:-$here/../../target}
version=${EXACTNESS_MLX_VERSION:-0.32.4}
python=$work/mlx-lm-$version/bin/python
mkdir -p "$work"

[ -x "$target/release/exactness" ] || cargo build --release --manifest-path "$here/../../Cargo.toml"
[ -e "$work/mlx-lm-$version/ready" ] || {
    python3 -m venv "$work/mlx-lm-$version"
    "$python" -m pip install --quiet "mlx[cpu]==$version" mlx-lm==0.32.2
    touch "$work/mlx-lm-$version/ready"
}
exec "$python" "$here/engine.py" pairs "$target/release/exactness" "$@"
