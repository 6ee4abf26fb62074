# What run.sh and ab.sh share: where the program and the results are, and one run. Read by `source`.
target=${CARGO_TARGET_DIR:-$here/../target}
exactness=${EXACTNESS:-$target/release/exactness}
command -v "$exactness" >/dev/null || { echo "$(basename "$0"): $exactness is not there; cargo build --release, or set EXACTNESS" >&2; exit 5; }
exactness=$(cd "$(dirname "$(command -v "$exactness")")" && pwd)/$(basename "$exactness")
out=${OUT:-harness-out}
mkdir -p "$out"
# The command lines that transcripts record then name their folder alone.
cd "$out"

# Runs one entry into its folder. A verdict is no failure of the run: its exit code comes back.
run_one() {
    local name=$1 words code=0
    eval "words=($2)"
    echo "== $name: ${words[*]}"
    ${LIMIT:+timeout "$LIMIT"} "$exactness" "${words[@]}" --out "$name" </dev/null || code=$?
    case $code in
        0 | 1 | 3) return "$code" ;;
        124) echo "== $name: ended after $LIMIT seconds; what it recorded stays" >&2; return 3 ;;
        *) exit "$code" ;;
    esac
}

# The worse of two verdicts' exit codes.
worse() { if [ "$1" -gt "$2" ]; then echo "$1"; else echo "$2"; fi; }

# The digests of a transcript's rows, in order.
rows_of() { grep -o '"sha256":"[0-9a-f]*"' "$1"; }
