#!/bin/sh
# 500 planted faults against the probe: it never says equal where a run over the covered positions has other rows.
set -eu
cd "$(dirname "$0")/.."
exec cargo test "$@" --test suite it_is_not_equal_where_a_run_differs_500_plants -- --ignored --nocapture
