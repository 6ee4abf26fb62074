#!/usr/bin/env bash
# Packs all that an experiment on a GPU host without a network needs into a few files.
#
#   harness/gpu/bundle.sh
#
# OUT (default: target/gpu) gets parts of at most PART_MB megabytes (default 60) with their digests, and run.sh, which
# puts them together there. EXACTNESS is the program (default: the release build), built on this kind of machine;
# WHEEL the published library (default: mlx-cuda-13 of the version that the program was built on). The library's part
# takes minutes to compress and is kept from call to call. CACHE is a folder of run-time compiled modules that an
# earlier run brought back; it goes along.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}
exactness=${EXACTNESS:-$target/release/exactness}
out=${OUT:-$target/gpu}
[ -x "$exactness" ] || { echo "bundle.sh: $exactness is not there; cargo build --release, or set EXACTNESS" >&2; exit 5; }
version=$("$exactness" doctor | awk '/MLX, built on/ { print $4 }')
wheel=${WHEEL:-mlx-cuda-13==$version}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The library, its headers for compilation at run time, and the linear algebra that it loads.
library=$out/library-${wheel//[^A-Za-z0-9.-]/-}.tar.xz
if [ ! -e "$library" ]; then
    rm -f "$out"/library-*
    pip download --quiet --no-deps --only-binary :all: --dest "$work/wheel" "$wheel"
    mkdir "$work/library"
    python3 -m zipfile -e "$work"/wheel/*.whl "$work/library"
    (cd "$work/library" && tar c mlx/lib/libmlx.so mlx/include ./*.libs) |
        xz --x86 --lzma2=preset=9e,dict=192MiB --memlimit-compress=0 -c >"$work/library.tar.xz"
    mv "$work/library.tar.xz" "$library"
fi

# The program, the settings, and what was compiled before.
mkdir -p "$work/program/harness"
strip -o "$work/program/exactness" "$exactness"
cp -r "$here" "$here"/../{common.sh,run.sh,settings.py} "$here/../prompts" "$work/program/harness"
[ -z "${CACHE:-}" ] || cp -r "$CACHE" "$work/program/cache"
tar c -C "$work/program" . | xz -6 -c >"$work/program.tar.xz"

rm -f "$out"/part.* "$out/MANIFEST.sha256"
cat "$library" "$work/program.tar.xz" >"$work/both"
stat -c %s "$library" >"$out/library.bytes"
split --bytes="${PART_MB:-60}MB" --numeric-suffixes "$work/both" "$out/part."
cp "$here/run.sh" "$out/run.sh"
(cd "$out" && sha256sum part.* >MANIFEST.sha256)
ls -l "$out"
