#!/usr/bin/env bash
# Runs the behaviour cases on vulkan-1.dll under Wine, each in its own process and its own part of the registry. Skips the cases listed in
# tests/windows/left_out.txt. `quick` runs only the modules below, as make/test.sh does; otherwise all cases run. CASE names one case. The
# loader is also compiled for 32 bits with Microsoft's tools, and for 64 bits where all cases run.
#
# `i686` runs tests/windows/sources.c and some modules of the cases as programs of 32 bits, in a root of Debian 12 that has Wine for both word
# sizes. The root is made at first use and then kept; the superuser alone can make and enter it, so others are told that this is skipped.
#
# All is built for debugging, which is quicker; tests/windows/release.sh has the release.
. "$(dirname "$0")/../../make/common.sh"

WINDOWS=$TARGET/windows
MODE=${1:-}
case $MODE in
i686) TRIPLE=i686-pc-windows-gnu COMPILER=i686-w64-mingw32 OUT=$WINDOWS/i686 SUITES=(app) ;;
"" | quick) TRIPLE=x86_64-pc-windows-gnu COMPILER=x86_64-w64-mingw32 OUT=$WINDOWS/cases SUITES=(drivers layers app) ;;
*) die 3 "there is no mode $MODE: quick, i686 or nothing" ;;
esac
BUILT=$WINDOWS/cases/$TRIPLE/debug
ROOT32=$WINDOWS/root32
GROUP=windows
# Cases that run side by side. A wine process waits for the one server of all of them most of the time.
THREADS=$(($(nproc) + 1))
# Modules of the quick run: those about differences of this system, and one of each other kind.
QUICK="windows:: discovery:: manifest:: opening:: elevated:: paths:: manifest_text:: surfaces:: surface_queries:: negotiation:: unknown_device:: library::"
# Modules of the group `app` for 32 bits. The list leaves out modules that need adapters, which Wine lists only with OpenGL. It also leaves out
# those whose calls end in functions of the mocks without arguments: on x86, a function removes its arguments from the stack.
I686="allocation:: callbacks:: chains:: device_lookup:: elevated:: handles:: logging:: lookup:: lookup_table:: messages:: messengers:: settings:: \
settings_drivers:: threads:: waiting:: windows::"

need /usr/lib/rustlib/src/rust/library/std rust-web-src
need /usr/bin/rustc rustc-web
need /usr/bin/cargo cargo-web
if [ "$MODE" = i686 ]; then
    need i686-w64-mingw32-gcc gcc-mingw-w64-i686
    need mmdebstrap mmdebstrap
    need unshare util-linux
    [ "$(id -u)" = 0 ] || { say "SKIPPED: programs of 32 bits for Windows run in a root of Debian, which takes the superuser" && exit 0; }
else
    need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    need wine wine
    need /usr/lib/wine/wine64 wine64
fi
if [ -n "$lacking" ]; then
    [ -n "$MODE" ] || die 3 "missing; apt-get install --no-install-recommends$lacking libstd-rust-web-dev"
    say "SKIPPED: the cases for Windows need$lacking"
    exit 0
fi

# of_debian FOLDER WORD ARGUMENT...: runs cargo with the compiler that has the source of the standard library. The library is built without
# backtraces, which would take a sixth of the time and name nothing in stripped programs.
of_debian() {
    local folder=$1 word=$2
    shift 2
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$WINDOWS/$folder \
        CARGO_TARGET_I686_PC_WINDOWS_GNU_RUSTFLAGS=-Lnative=$OUT cargo "$word" --locked --quiet \
        -Zbuild-std-features=panic-unwind "$@"
}
# Two object files that programs of 32 bits begin and end with: a standard library that is built from its source lacks them.
startup() {
    local name
    for name in rsbegin rsend; do
        RUSTC_BOOTSTRAP=1 /usr/bin/rustc --target "$TRIPLE" --crate-type lib --emit obj -o "$OUT/$name.o" \
            "/usr/lib/rustlib/src/rust/library/rtstartup/$name.rs"
    done
}
# The programs of the cases, as cargo names them, and the library under the name that programs ask for.
build() {
    [ "$MODE" != i686 ] || startup
    # In one call, so that cargo compiles what both share once.
    of_debian cases build -Zbuild-std=std,panic_unwind,test --target "$TRIPLE" -p vulkan-loader -p loader-tests --lib \
        "${SUITES[@]/#/--test=}" --message-format=json-render-diagnostics | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' >"$OUT/programs"
    cp "$BUILT/vulkan.dll" "$OUT/vulkan-1.dll"
    local programs
    mapfile -t programs <"$OUT/programs"
    # Each child maps its program, and each case copies its drivers.
    "$COMPILER-strip" "$OUT/vulkan-1.dll" "$BUILT"/deps/{mock_driver,mock_layer,sample_layer}.dll "${programs[@]}"
    # Wine 8 lacks this library. Newer versions that have it have the same function.
    "$COMPILER-gcc" -O1 -Wall -Wextra -Werror -shared tests/windows/bcryptprimitives.c -o "$BUILT/deps/bcryptprimitives.dll" -ladvapi32 \
        -Wl,--kill-at
}
# Environment of Wine. Some cases crash on purpose, so Wine's debugger is disabled.
export WINEPREFIX=$OUT/prefix WINEDEBUG=-all WINEDLLOVERRIDES="winedbg.exe=d;mscoree=d;mshtml=d"
# Rounds of the case that is asked for a number: a system call takes ten times as long there.
export LAYER_ROUNDS=${LAYER_ROUNDS:-10}
# where PROGRAM ARGUMENT...: a program of Wine; for 32 bits in the root, which sees the project, its output and what is temporary.
where() {
    if [ "$MODE" != i686 ]; then
        "$@"
        return
    fi
    unshare --mount --propagation private bash -euc '
        root=$1 here=$2
        shift 2
        for place in /proc /dev /sys; do mount --rbind "$place" "$root$place"; done
        for place in "$ROOT" "$TARGET" /tmp "${TMPDIR:-/tmp}"; do mkdir -p "$root$place" && mount --bind "$place" "$root$place"; done
        exec chroot "$root" /usr/bin/env -C "$here" HOME="$TARGET" "$@"' where "$ROOT32" "$PWD" "$@"
}
export ROOT TARGET
# Wine for both word sizes. Updates of the distribution are left out: their lists for the two processors may be of different hours.
root32() {
    local mirror
    [ ! -d "$ROOT32" ] || return 0
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | sed -n 1p)
    rm -rf "$ROOT32.new"
    say "Making a root of Debian 12 in $ROOT32"
    mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --architectures=amd64,i386 --include=wine,wine64,wine32:i386 \
        bookworm "$ROOT32.new" ${mirror:+"$mirror"} >"$WINDOWS/root32.log" 2>&1 </dev/null || {
        say "SKIPPED: no root for programs of 32 bits: $(grep -m 1 '^E: ' "$WINDOWS/root32.log" || true)"
        rm -rf "$ROOT32.new"
        exit 0
    }
    mv "$ROOT32.new" "$ROOT32"
}
end_of_wine() {
    where wineserver -k || true
}
# cases PROGRAM WORD...: prints the counts, what failed and what was left out.
cases() {
    local program=$1 name log=$OUT/cases.log status=0
    shift
    name=$(basename "$program" | sed 's/-[0-9a-f]*\.exe$//')
    (cd "$(dirname "$program")" && VKL_LIBRARY="Z:$OUT/vulkan-1.dll" where timeout --kill-after=10 1500 \
        wine "$program" --test-threads "$THREADS" --show-output "$@") >"$log" 2>&1 </dev/null || status=$?
    tr -d '\r' <"$log" | awk -v name="$name" -v status="$status" -v counts="$OUT/counts" '
        /^  skip  / { if (!seen[$0]++) { skip++; print } }
        /^test result: / { pass += $4; fail += $6; ended = 1 }
        END {
            if (!ended) { print "  FAIL  windows: " name " did not end: status " status; exit }
            # A left-out case ends with success.
            line = name ": " pass - skip " passed, " fail " failed"
            print line
            print line >>counts
        }'
    grep '^test ' "$log" >>"$OUT/run" || true
    if [ "$status" -ne 0 ]; then
        failed=1
        tr -d '\r' <"$log" | awk '/^failures:$/ { on = 1 } on && !/^test result/ && count++ < 400'
    fi
}
# compiles TRIPLE...: checks the library for these targets, in the folder of the cases, because both run the same programs while they compile.
compiles() {
    of_debian cases check -Zbuild-std=core,alloc,std,panic_abort "${@/#/--target=}" -p vulkan-loader >"$WINDOWS/checks.log" 2>&1
}
compiled() {
    if wait "$CHECKS"; then
        say "  ok    windows: it compiles for $*"
    else
        say "  FAIL  windows: it compiles for $*"
        cat "$WINDOWS/checks.log"
        failed=1
    fi
}
# The cases of 32 bits on this system alone: the keys of WOW6432Node, and values with their own names.
sources() {
    make --silent -C tests/windows OUT="$OUT/sources" CC="$COMPILER-gcc" DLLTOOL="$COMPILER-dlltool" DLL="$OUT/vulkan-1.dll" &&
        (cd "$OUT/sources" && cp "$BUILT/deps/bcryptprimitives.dll" . && where timeout --kill-after=10 600 wine sources.exe scratch)
}

mkdir -p "$OUT"
triples=()
case $MODE in
"") triples=(i686-pc-windows-msvc x86_64-pc-windows-msvc) ;;
# Word size and tools in one: no line of the loader is for one of the two only.
quick) triples=(i686-pc-windows-msvc) ;;
i686) root32 ;;
esac
trap end_of_wine EXIT
# A server that keeps running, because otherwise each program starts a new one. If a server runs already, it refuses; without its folder,
# none runs.
mkdir -p "$WINEPREFIX"
where wineserver --persistent || true
where wineboot --init >"$OUT/wine.log" 2>&1 &
booted=$!
build
if [ ${#triples[@]} -gt 0 ]; then
    compiles "${triples[@]}" &
    CHECKS=$!
fi
wait "$booted" || true
words=()
if [ "$MODE" = quick ]; then
    read -r -a words <<<"$QUICK"
elif [ "$MODE" = i686 ]; then
    read -r -a words <<<"$I686"
fi
[ -z "${CASE:-}" ] || words=("$CASE")
[ "$(wc -l <"$OUT/programs")" -eq ${#SUITES[@]} ] || die 1 "cargo named other programs than ${SUITES[*]}: $(cat "$OUT/programs")"
: >"$OUT/run"
: >"$OUT/counts"
while read -r program; do
    cases "$program" "${words[@]}"
done <"$OUT/programs"
for word in "${words[@]}"; do
    grep -qF "test $word" "$OUT/run" || {
        say "  FAIL  windows: no case has $word in its name"
        failed=1
    }
done
if [ "$MODE" = i686 ]; then
    HERE=$OUT
    check "what only this system has, in 32 bits" sources
fi
[ ${#triples[@]} -eq 0 ] || compiled "${triples[@]}"
[ "$MODE" = quick ] || [ -n "${CASE:-}" ] ||
    seen "Windows ${TRIPLE%%-*}, cases" "$([ "$failed" -eq 0 ] || say "failures; ")$(where wine --version): $(paste -sd ';' "$OUT/counts")"
exit "$failed"
