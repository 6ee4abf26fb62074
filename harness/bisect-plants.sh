#!/bin/sh
# 300 random planted faults against the bisect: each is named at exactly its round, row and operation, and confirmed.
set -eu
cd "$(dirname "$0")/.."
exec cargo test "$@" --test suite three_hundred_random_plants -- --ignored --nocapture
