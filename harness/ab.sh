#!/usr/bin/env bash
# Runs the A/Bs of ab.toml: each side with plain decoding of its own, then whether the switch moved plain decoding.
#
#   harness/ab.sh [NAME ...]
#
# Variables as for run.sh. Ends with 1 where a switch moved plain decoding and was not said to, or the other way round.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/common.sh"
failed=0
lines=$(python3 "$here/settings.py" "$here/ab.toml" "$@")
while IFS=$'\t' read -r name line; do
    run_one "$name" "$line" || [ $? -eq 1 ] || [ $? -eq 3 ]
done <<<"$lines"
while IFS=$'\t' read -r name says; do
    [ -d "$name-a" ] || continue
    if cmp -s <(rows_of "$name-a/classic.jsonl") <(rows_of "$name-b/classic.jsonl"); then found=keeps; else found=moves; fi
    echo "$name: the switch $found plain decoding's rows"
    [ "$found" = "$says" ] || { echo "ab.sh: ab.toml says that it $says them" >&2; failed=1; }
done < <(python3 -c '
import sys, tomllib
for run in tomllib.load(open(sys.argv[1], "rb"))["run"]:
    print(run["name"], run["says"], sep="\t")' "$here/ab.toml")
"$exactness" report . --out record
exit "$failed"
