#!/usr/bin/env bash
# Runs experiments on a GPU host, from the parts that bundle.sh made.
#
#   run.sh EXPERIMENT [NAME ...]     EXPERIMENT: parity, arms, bisect, remedy (the settings files beside this one)
#   run.sh keep                      keeps the parts that are here for a later call
#
# Parts may come one call at a time: each call keeps those beside this script in ROOT (default: /opt/exactness), and
# once all are there they are put together. OUT (default: ./out) gets few files: what was recorded, packed, the
# record as markdown, and CACHE, the modules that were compiled at run time, for the next bundle. SKIP_CACHE=1 leaves
# that out. TOTAL seconds after its start everything that still runs is ended, and what was recorded is packed. The
# vendor's libraries are found in Python's packages unless LD_LIBRARY_PATH has them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${ROOT:-/opt/exactness}
[ $# -ge 1 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$root/parts" "${OUT:=$PWD/out}"

# Keeps the parts, and unpacks them when there are as many as the manifest names.
gather() {
    cp -f "$here"/part.* "$here/MANIFEST.sha256" "$here/library.bytes" "$root/parts/" 2>/dev/null || true
    (cd "$root/parts" && sha256sum --quiet -c MANIFEST.sha256) 2>/dev/null || return 1
    local library
    library=$(cat "$root/parts/library.bytes")
    mkdir -p "$root/program"
    cat "$root"/parts/part.* >"$root/both"
    head -c "$library" "$root/both" | xz -d --memlimit-decompress=0 | tar x -C "$root/program"
    tail -c +$((library + 1)) "$root/both" | xz -d | tar x -C "$root/program"
    rm "$root/both"
    touch "$root/whole"
}
if ! cmp -s "$here/MANIFEST.sha256" "$root/parts/MANIFEST.sha256"; then rm -f "$root/parts"/* "$root/whole"; fi
[ -e "$root/whole" ] || gather || { [ "$1" = keep ] && exit 0; echo "run.sh: parts are missing" >&2; exit 5; }
[ "$1" != keep ] || exit 0

vendor=$(python3 -c 'import nvidia; print(*nvidia.__path__, sep="\n")' 2>/dev/null | xargs -I{} find {} -maxdepth 2 -name lib | paste -sd:)
libraries=$(find "$root/program" -maxdepth 1 -name '*.libs' | paste -sd:)
export LD_LIBRARY_PATH=$root/program/mlx/lib:$libraries:$vendor:${LD_LIBRARY_PATH:-}
export EXACTNESS=$root/program/exactness MLX_PTX_CACHE_DIR=$root/program/cache
mkdir -p "$MLX_PTX_CACHE_DIR" "$root/out/$1"
ln -sfn "$root/program/harness/gpu" "$root/out/settings"

# Checkpoints are made here: ../models/4b-4bit is the 4b geometry with 4-bit matrices.
settings=$root/program/harness/gpu/$1.toml
[ -e "$settings" ] || { echo "run.sh: no experiment is called $1" >&2; exit 2; }
for model in $(grep -o 'models/[a-z0-9.-]*' "$settings" | sort -u); do
    name=${model#models/}
    case ${name##*-} in 4bit) bits=4 ;; 8bit) bits=8 ;; bf16) bits=16 ;; *) continue ;; esac
    mkdir -p "$root/out/models"
    [ -e "$root/out/$model" ] || "$EXACTNESS" synth --geometry "${name%-*}" --bits $bits --out "$root/out/$model" >&2 &
done
wait

code=0
(cd "$root/out" && OUT="$root/out/$1" ${TOTAL:+timeout -k 5 "$TOTAL"} "$root/program/harness/run.sh" "gpu/$@") >"$OUT/$1.log" 2>&1 || code=$?
tail -n 60 "$OUT/$1.log"
tar c -C "$root/out" --exclude=reproducer "$1" | xz -6 -T0 -c >"$OUT/$1.tar.xz"
[ -n "${SKIP_CACHE:-}" ] || tar c -C "$root/program" cache | xz -6 -T0 -c >"$OUT/cache.tar.xz"
exit "$code"
