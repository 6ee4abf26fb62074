#!/bin/sh
# SmolLM2 end to end: fetched, decoded beside mlx-lm, and verified at widths 2, 4 and 12.
#
#     harness/models/smollm2_check.sh [OUT_FOLDER]
#
# 8 prompts of 64 ids against mlx-lm over the same tensors, then block widths against plain decoding over 32 tokens.
# Takes minutes on two cores. mlx-lm gets an environment of its own, shared with harness/bench/engine.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${EXACTNESS_BENCH_DIR:-${TMPDIR:-/tmp}/exactness-bench}
target=${CARGO_TARGET_DIR:-$here/../../target}
version=${EXACTNESS_MLX_VERSION:-0.32.4}
out=${1:-$work/smollm2-$(date +%Y%m%dT%H%M%S)}
python=$work/mlx-lm-$version/bin/python

[ -x "$target/release/exactness" ] || cargo build --release --manifest-path "$here/../../Cargo.toml"
[ -e "$work/mlx-lm-$version/ready" ] || {
    python3 -m venv "$work/mlx-lm-$version"
    "$python" -m pip install --quiet "mlx[cpu]==$version" mlx-lm==0.32.2
    touch "$work/mlx-lm-$version/ready"
}
exec "$python" "$here/smollm2_against_mlx_lm.py" "$target/release/exactness" "$("$here/smollm2.sh")" "$out"
