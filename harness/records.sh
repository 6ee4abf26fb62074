#!/usr/bin/env bash
# Makes every committed record again from its data, after a change of wording or of a picture.
#
#   harness/records.sh              all of them from the data that is there
#   harness/records.sh NAME ...     the data of these first, by each record's own Repeat block (demo-cpu: some minutes)
#
# EXACTNESS names the program (default: the release build). Look at the difference before a commit. Where speed is
# measured the machine has to be quiet.
set -euo pipefail
cd "$(dirname "$0")/.."
exactness=${EXACTNESS:-${CARGO_TARGET_DIR:-target}/release/exactness}
for name in "$@"; do
    # A folder of its own around it: some lines put models and settings beside the folder that they run in.
    work=$(mktemp -d)
    # What it compares with the data that was there is told; new data is what was asked for.
    harness/repeat.py "reports/$name" "$work/here" --take || [ $? -eq 1 ]
    rm -rf "$work"
done
for record in reports/*/record.json; do
    "$exactness" report --out "${record%/record.json}"
done
(cd transcripts && find . -name '*.jsonl' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum >MANIFEST.sha256)
