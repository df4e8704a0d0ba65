#!/usr/bin/env bash
# Runs the behaviour cases on vulkan-1.dll under Wine, each in its own process and its own part of the registry. Skips the cases listed in
# tests/windows/left_out.txt. `quick` runs only the modules below, as make/test.sh does; otherwise all cases run. CASE names one case. The
# loader is also compiled for 32 bits and for Microsoft's tools.
#
# All is built for debugging, which is quicker; make/windows.sh has the release.
. "$(dirname "$0")/common.sh"

TRIPLE=x86_64-pc-windows-gnu
WINDOWS=$TARGET/windows
BUILT=$WINDOWS/cases/$TRIPLE/debug
# Cases that run side by side. A wine process waits for the one server of all of them most of the time.
THREADS=$(($(nproc) + 1))
# Modules of the quick run: those whose cases are about what differs on this system, and one of each other kind.
QUICK="windows:: discovery:: manifest:: opening:: elevated:: paths:: manifest_text:: surfaces:: surface_queries:: negotiation:: unknown_device:: library::"

need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
need wine wine
need /usr/lib/wine/wine64 wine64
need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
# The standard library calls it while it is compiled for 32 bits.
need i686-w64-mingw32-dlltool binutils-mingw-w64-i686
if [ -n "$lacking" ]; then
    [ "${1:-}" = quick ] || die 3 "missing; apt-get install --no-install-recommends$lacking libstd-rust-web-dev"
    say "SKIPPED: the cases for Windows need$lacking"
    exit 0
fi

# cargo WORD ARGUMENT...: with the compiler that has the source of the standard library.
of_debian() {
    local word=$1
    shift
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$WINDOWS/cases cargo "$word" --locked --quiet "$@"
}
# The programs of the cases, as cargo names them, and the library under the name that programs ask for.
build() {
    of_debian build -Zbuild-std=std,panic_unwind,test --target "$TRIPLE" -p vulkan-loader
    of_debian test --no-run -Zbuild-std=std,panic_unwind,test --target "$TRIPLE" -p loader-tests --test drivers --test layers \
        --test app --message-format=json-render-diagnostics | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' >"$WINDOWS/programs"
    cp "$BUILT/vulkan.dll" "$WINDOWS/cases/vulkan-1.dll"
    local programs
    mapfile -t programs <"$WINDOWS/programs"
    # Each child maps its program, and each case copies its drivers.
    x86_64-w64-mingw32-strip "$WINDOWS/cases/vulkan-1.dll" "$BUILT"/deps/{mock_driver,mock_layer,sample_layer}.dll "${programs[@]}"
    # Wine 8 lacks it; where a newer one has it, that one has the same function.
    x86_64-w64-mingw32-gcc -O1 -Wall -Wextra -Werror -shared tests/windows/bcryptprimitives.c -o "$BUILT/deps/bcryptprimitives.dll" -ladvapi32
}
# What Wine is started with. Crashes are what some cases want: no debugger is to look at them.
export WINEPREFIX=$WINDOWS/prefix WINEDEBUG=-all WINEDLLOVERRIDES="winedbg.exe=d;mscoree=d;mshtml=d"
# Rounds of the case that is asked for a number: a system call takes ten times as long there.
export LAYER_ROUNDS=${LAYER_ROUNDS:-10}
end_of_wine() {
    wineserver -k || true
}
# cases PROGRAM WORD...: prints the counts, what failed and what was left out.
cases() {
    local program=$1 name log=$WINDOWS/cases.log status=0
    shift
    name=$(basename "$program" | sed 's/-[0-9a-f]*\.exe$//')
    (cd "$(dirname "$program")" && VKL_LIBRARY="Z:$WINDOWS/cases/vulkan-1.dll" timeout --kill-after=10 1500 \
        wine "$program" --test-threads "$THREADS" --show-output "$@") >"$log" 2>&1 </dev/null || status=$?
    tr -d '\r' <"$log" | awk -v name="$name" -v status="$status" '
        /^  skip  / { if (!seen[$0]++) { skip++; print } }
        /^test result: / { pass += $4; fail += $6; ended = 1 }
        END {
            if (!ended) { print "  FAIL  windows: " name " did not end: status " status; exit }
            # A case that is left out passes for the program that runs it.
            print name ": " pass - skip " passed, " fail " failed"
        }'
    grep '^test ' "$log" >>"$WINDOWS/run" || true
    if [ "$status" -ne 0 ]; then
        failed=1
        tr -d '\r' <"$log" | awk '/^failures:$/ { on = 1 } on && !/^test result/ && count++ < 400'
    fi
}
compiles() {
    if of_debian check -Zbuild-std=core,alloc,std,panic_abort --target "$1" -p vulkan-loader; then
        say "  ok    windows: it compiles for $1"
    else
        say "  FAIL  windows: it compiles for $1"
        failed=1
    fi
}

mkdir -p "$WINDOWS"
build
trap end_of_wine EXIT
# A server that stays: else each program starts one anew. One that runs already refuses, and none runs without its folder.
mkdir -p "$WINEPREFIX"
wineserver --persistent || true
wineboot --init >"$WINDOWS/wine.log" 2>&1
words=()
if [ "${1:-}" = quick ]; then
    read -r -a words <<<"$QUICK"
fi
[ -z "${CASE:-}" ] || words=("$CASE")
[ "$(wc -l <"$WINDOWS/programs")" -eq 3 ] || die 1 "cargo named other programs than drivers, layers and app: $(cat "$WINDOWS/programs")"
: >"$WINDOWS/run"
while read -r program; do
    cases "$program" "${words[@]}"
done <"$WINDOWS/programs"
for word in "${words[@]}"; do
    grep -qF "test $word" "$WINDOWS/run" || {
        say "  FAIL  windows: no case has $word in its name"
        failed=1
    }
done
compiles i686-pc-windows-gnu
compiles x86_64-pc-windows-msvc
exit "$failed"
