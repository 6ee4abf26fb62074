#!/bin/sh
# Makes an environment with mlx-lm 0.32.2 on the MLX release that our binary is linked with, once, and prints its Python.
set -eu
work=${EXACTNESS_BENCH_DIR:-${TMPDIR:-/tmp}/exactness-bench}
version=${EXACTNESS_MLX_VERSION:-0.32.4}
folder=$work/mlx-lm-$version
[ -e "$folder/ready" ] || {
    mkdir -p "$work"
    python3 -m venv "$folder" >&2
    "$folder/bin/python" -m pip install --quiet "mlx[cpu]==$version" mlx-lm==0.32.2 >&2
    touch "$folder/ready"
}
echo "$folder/bin/python"
