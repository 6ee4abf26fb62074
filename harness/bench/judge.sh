#!/bin/sh
# How fast is the judge, in how much memory, and against a Python script that checks the same laws?
#
#   harness/bench/judge.sh [MEGABYTES] [PAIRS] [THREADS]
#
# Both judge the same file, pair by pair, so that a busy machine slows both; the ratio is that of each pair.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
megabytes=${1:-1024} pairs=${2:-3} threads=${3:-2}
work=${EXACTNESS_BENCH_DIR:-${TMPDIR:-/tmp}/exactness-bench}
target=${CARGO_TARGET_DIR:-$here/../../target}
mkdir -p "$work"
file=$work/judge-$megabytes.jsonl

[ -x "$target/release/exactness" ] || cargo build --release --no-default-features --manifest-path "$here/../../Cargo.toml"
[ -s "$file" ] || { python3 "$here/generate_transcript.py" "$file.part" --megabytes "$megabytes" && mv "$file.part" "$file"; }

python3 - "$target/release/exactness" "$here/reference_checker.py" "$file" "$pairs" "$threads" <<'PYTHON'
import os, resource, subprocess, sys, time
binary, checker, path, pairs, threads = sys.argv[1:4] + [int(v) for v in sys.argv[4:6]]
size = os.path.getsize(path)

def measured(command, env):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} ended with status {status}: the file should keep every law")
    return time.monotonic() - start, usage.ru_maxrss / 1024

with open(path, "rb") as warm:  # so that neither side pays for the disk; in pieces, as a child's peak starts at ours
    while warm.read(1 << 20):
        pass
print(f"{size / 1e6:.0f} MB, {threads} threads, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
for pair in range(1, pairs + 1):
    ours, rss = measured([binary, "check-algebra", path, "--format", "json"],
                         {**os.environ, "RAYON_NUM_THREADS": str(threads)})
    theirs, their_rss = measured([sys.executable, checker, path], os.environ)
    print(f"pair {pair}: exactness {ours:.2f} s = {size / 1e6 / ours:.0f} MB/s, peak {rss:.0f} MiB; "
          f"Python {theirs:.2f} s = {size / 1e6 / theirs:.0f} MB/s, peak {their_rss:.0f} MiB; ratio {theirs / ours:.1f}",
          flush=True)
PYTHON
