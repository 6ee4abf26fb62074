#!/usr/bin/env bash
# Runs what a settings file lists, one folder an entry, and writes the record of all of it.
#
#   harness/run.sh arms|sweeps [NAME ...]
#
# OUT (default: ./harness-out) is the folder of results, EXACTNESS the program, MODEL a checkpoint instead of the demo,
# SMALL=1 a run of seconds, LIMIT the seconds that an entry may take, JOBS how many entries run at a time (for what is
# not timed; each then writes NAME.log). Ends with the worst exit code of the entries; 2, 4, 5 and 70 end it at once,
# unless several run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] && [ -f "$here/$1.toml" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source "$here/common.sh"
worst=0
lines=$(python3 "$here/settings.py" "$here/$1.toml" "${@:2}")
running=()
while IFS=$'\t' read -r name line; do
    if [ "${JOBS:-1}" -eq 1 ]; then
        run_one "$name" "$line" || worst=$(worse "$worst" $?)
        continue
    fi
    while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do sleep 0.2; done
    run_one "$name" "$line" >"$name.log" 2>&1 &
    running+=($!)
done <<<"$lines"
for job in ${running[@]+"${running[@]}"}; do wait "$job" || worst=$(worse "$worst" $?); done
"$exactness" report . --out record
exit "$worst"
