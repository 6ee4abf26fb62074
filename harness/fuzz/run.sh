#!/bin/sh
# Fuzzes a target on stable Rust: harness/fuzz/run.sh [TARGET] [SECONDS]. With cargo-fuzz and a nightly toolchain
# `cargo fuzz run TARGET` does the same with the address sanitizer. Seeds are the public cases.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${1:-reader} seconds=${2:-600}
build=${CARGO_TARGET_DIR:-$here/target}
triple=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$here/corpus/$target" "$here/seeds"
for file in "$here"/../../tests/cases/*/*.jsonl; do
    cp "$file" "$here/seeds/$(basename "$(dirname "$file")")-$(basename "$file")"
done
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
cargo build --release --manifest-path "$here/Cargo.toml" --target "$triple" --target-dir "$build" --bin "$target"
exec "$build/$triple/release/$target" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1024 \
    "$here/corpus/$target" "$here/seeds"
