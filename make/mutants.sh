#!/usr/bin/env bash
# mutants.sh N SEED FIRST JOBS [WORD...]: changes one line of the loader at a time, N times. Checks for each change that a test fails. SEED
# determines the list of changes, and FIRST is the index of the first change to try, from 1. The code in tests/mutants uses copies of the
# tree below target/mutants, and tests JOBS changes at a time.
. "$(dirname "$0")/common.sh"
. make/settings.sh

[[ ${1:-} =~ ^[1-9][0-9]{0,4}$ ]] || die 3 "how many mutants: make mutants N=100"
[[ ${2:-} =~ ^[0-9]{1,9}$ ]] || die 3 "the seed is a number: make mutants N=100 SEED=1"
[[ ${3:-} =~ ^[1-9][0-9]{0,4}$ ]] || die 3 "FIRST is a place in the list of mutants, from 1: make mutants N=50 FIRST=51"
[[ ${4:-} =~ ^(0|[1-9][0-9]?)$ ]] || die 3 "how many at a time, or 0 for the list alone: make mutants N=100 JOBS=2"
usual_settings
plain_temporary_folder
VKL_MUTANTS=$TARGET/mutants exec python3 tests/mutants "$@"
