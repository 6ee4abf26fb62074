#!/usr/bin/env bash
# Makes every committed record again from its data, after a change of wording or of a picture. Look at the difference.
#
#   harness/records.sh
#
# EXACTNESS names the program (default: the release build).
set -euo pipefail
cd "$(dirname "$0")/.."
exactness=${EXACTNESS:-${CARGO_TARGET_DIR:-target}/release/exactness}
for record in reports/*/record.json; do
    "$exactness" report --out "${record%/record.json}"
done
