#!/usr/bin/env bash
# Runs the behaviour cases on vulkan-1.dll under Wine, each in a separate process with a separate part of the registry. The programs of
# the cases run at the same time, each with a separate Wine prefix. Skips the cases listed in tests/windows/left_out.txt. With `quick`, as
# in make/test.sh, only the modules below run. CASE selects cases by their names, one in each line. The script also compiles the loader for
# 32 bits with Microsoft's tools, and for 64 bits if all cases run.
#
# `i686` runs tests/windows/sources.c and some modules of the cases as programs of 32 bits. The first run makes a root of Debian 12 that has
# Wine for both word sizes. Only the superuser can make and enter this root. For other users, the script skips this step and prints a
# message.
#
# All programs are debug builds, because these builds take less time. tests/windows/release.sh tests the release build.
. "$(dirname "$0")/../../make/common.sh"

WINDOWS=$TARGET/windows
MODE=${1:-}
case $MODE in
i686) TRIPLE=i686-pc-windows-gnu COMPILER=i686-w64-mingw32 OUT=$WINDOWS/i686 SUITES=(app) ;;
"") TRIPLE=x86_64-pc-windows-gnu COMPILER=x86_64-w64-mingw32 OUT=$WINDOWS/cases SUITES=(drivers layers app) ;;
quick) TRIPLE=x86_64-pc-windows-gnu COMPILER=x86_64-w64-mingw32 OUT=$WINDOWS/cases SUITES=(windows_drivers windows_layers windows_app) ;;
*) die 3 "there is no mode $MODE: quick, i686 or nothing" ;;
esac
BUILT=$WINDOWS/cases/$TRIPLE/debug
ROOT32=$WINDOWS/root32
# Folder of the standard library's source.
SOURCE=/usr/lib/rustlib/src/rust/library
GROUP=windows
# Number of cases of a program that run at the same time. A process of Wine waits most of the time for the server of its prefix.
THREADS=$(($(nproc) + 1))
# Modules of the quick run: the modules about special features of Windows, and one module of each other kind. The list does not contain
# modules about code that is the same on all systems, such as the code that reads JSON. The programs of the quick run are compiled from
# tests/windows/*.rs, which list these modules again.
QUICK="windows:: discovery:: manifest:: opening:: elevated:: paths:: surfaces:: surface_queries:: negotiation:: unknown_device:: library::"
CASES=()
[ -z "${CASE:-}" ] || mapfile -t CASES <<<"$CASE"
# If a case is in a module outside the quick run, the script builds the programs with all modules.
if [ "$MODE" = quick ]; then
    for name in "${CASES[@]}"; do
        [[ " $QUICK " = *" ${name%%::*}:: "* ]] || SUITES=(drivers layers app)
    done
fi
# Modules of the group `app` for 32 bits. The list does not contain modules that need adapters, because Wine lists adapters only with
# OpenGL. The list also does not contain modules that call functions of the mocks without arguments. On x86, a function removes its
# arguments from the stack.
I686="allocation:: callbacks:: chains:: device_lookup:: elevated:: handles:: logging:: lookup:: lookup_table:: messages:: messengers:: settings:: \
settings_drivers:: threads:: waiting:: windows::"

need "$SOURCE/std" rust-web-src
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

# Makes a tree of links to the source of the standard library in $OUT/library, without the functions for AVX-512, which take a quarter of the
# time of `core`. No crate here uses these functions. If the source has other lines between these functions, they stay. The two changed
# files keep their times, so cargo does not compile `core` again.
without_avx512() {
    local tree=$OUT/library file range='/^mod avx512/,/^pub use /'
    rm -rf "$tree"
    cp --recursive --symbolic-link "$SOURCE" "$tree"
    for file in x86/mod.rs x86_64/mod.rs; do
        file=stdarch/crates/core_arch/src/$file
        [ -z "$(sed --quiet "$range { /avx512/! { /./ p } }" "$SOURCE/$file")" ] || continue
        sed --in-place "$range d" "$tree/$file"
        touch --reference="$SOURCE/$file" "$tree/$file"
    done
}
# Compiler flag with which programs of 32 bits find the object files of `startup`. A flag in this variable may contain blanks.
OWN_FLAGS=()
[ "$MODE" != i686 ] || OWN_FLAGS=("CARGO_ENCODED_RUSTFLAGS=-Lnative=$OUT")
# of_debian FOLDER WORD ARGUMENT...: runs `cargo WORD` with the compiler that has the source of the standard library, and with FOLDER for
# the output. The standard library is built without backtraces, which would take a sixth of the time, and show no names in stripped
# programs. The mocks are not optimised, because the cases here call them seldom. If cargo does not know the variable for the source of the
# standard library, it uses the whole source.
of_debian() {
    local folder=$1 word=$2
    shift 2
    PATH=/usr/bin:$PATH RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT=$OUT/library \
        CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$WINDOWS/$folder \
        env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS "${OWN_FLAGS[@]}" cargo "$word" --locked --quiet \
        -Zbuild-std-features=panic-unwind --config "profile.dev.package.mock-driver.opt-level=0" \
        --config "profile.dev.package.mock-layer.opt-level=0" "$@"
}
# Builds the two object files with which programs of 32 bits begin and end. A standard library that is built from its source lacks these
# files.
startup() {
    local name
    for name in rsbegin rsend; do
        RUSTC_BOOTSTRAP=1 /usr/bin/rustc --target "$TRIPLE" --crate-type lib --emit obj -o "$OUT/$name.o" \
            "$SOURCE/rtstartup/$name.rs"
    done
}
# Builds the programs of the cases under cargo's names, and the library under the name that programs open.
build() {
    [ "$MODE" != i686 ] || startup
    # The command also builds the libraries that the programs open, because their packages are dependencies (tests/Cargo.toml).
    of_debian cases build -Zbuild-std=std,panic_unwind,test --target "$TRIPLE" -p loader-tests "${SUITES[@]/#/--test=}" \
        --message-format=json-render-diagnostics |
        sed -nE 's/.*"executable":"(([^"\\]|\\.)*)".*/\1/p' | sed -E 's/\\(.)/\1/g' >"$OUT/programs"
    cp "$BUILT/deps/vulkan.dll" "$OUT/vulkan-1.dll"
    local programs
    mapfile -t programs <"$OUT/programs"
    # Each child maps its program, and each case copies its drivers. Small files therefore save time.
    "$COMPILER-strip" "$OUT/vulkan-1.dll" "$BUILT"/deps/{mock_driver,mock_layer,sample_layer}.dll "${programs[@]}"
    # Wine 8 lacks bcryptprimitives.dll, so this command builds a replacement. Newer versions of Wine contain the library with the same
    # function.
    "$COMPILER-gcc" -O1 -Wall -Wextra -Werror -shared tests/windows/bcryptprimitives.c -o "$BUILT/deps/bcryptprimitives.dll" -ladvapi32 \
        -Wl,--kill-at
}
# Environment of Wine. Some cases crash on purpose, so Wine's debugger is disabled. The programs of the cases have prefixes of their own.
# Wine converts names of files with the locale of the environment, which may be C.
export LC_ALL=C.UTF-8
export WINEPREFIX=$OUT/prefix WINEDEBUG=-all WINEDLLOVERRIDES="winedbg.exe=d;mscoree=d;mshtml=d"
# Number of rounds of the case in reentry.rs with two threads. The number is small, because system calls take ten times as long under Wine.
export LAYER_ROUNDS=${LAYER_ROUNDS:-10}
# On two processors, each program of the quick run uses one of them, with its Wine server. Each request to the server wakes two processes
# one after the other, which takes longer between processors.
PROCESSORS=()
if [ "$MODE" = quick ] && [ "$(nproc)" -eq 2 ]; then
    read -r -a PROCESSORS < <(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,]/ /')
fi
PINNED=()
# where PROGRAM ARGUMENT...: runs a program under Wine. Programs of 32 bits run in the root, which contains the project, its output and the
# temporary files.
where() {
    if [ "$MODE" != i686 ]; then
        "${PINNED[@]}" "$@"
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
# Makes the root with Wine for both word sizes. The root has no updates of the distribution, because the lists of updates for the two
# processors can have different ages.
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
    local prefix
    for prefix in "$WINEPREFIX" "${SUITES[@]/#/$WINEPREFIX-}"; do
        [ ! -d "$prefix" ] || WINEPREFIX=$prefix where wineserver --kill || true
    done
}
# Makes the Wine prefix, and one prefix for each program. All prefixes have the same drive C, and each has its own registry.
prefixes() {
    local suite
    mkdir -p "$WINEPREFIX"
    # Ends servers that an interrupted run left.
    end_of_wine
    where wineboot --init || true
    # The server writes the registry to its files when it ends.
    where wineserver --kill || true
    where wineserver --wait
    for suite in "${SUITES[@]}"; do
        rm -rf "$WINEPREFIX-$suite"
        mkdir "$WINEPREFIX-$suite"
        ln -s ../prefix/drive_c "$WINEPREFIX-$suite/drive_c"
        cp --archive "$WINEPREFIX"/{*.reg,.update-timestamp,dosdevices} "$WINEPREFIX-$suite/"
    done
}
# cases SUITE WORD...: runs the cases of a test program whose paths contain a WORD. Writes the counts, the failed cases and the skipped
# cases to SUITE.report, and the whole output to SUITE.log.
cases() {
    local suite=$1 program status=0 WINEPREFIX=$WINEPREFIX-$1
    local log=$OUT/$suite.log name=${suite#windows_}
    shift
    program=$(grep "/$suite-[0-9a-f]*\\.exe\$" "$OUT/programs")
    # Starts a Wine server that continues to run, because otherwise each program starts a new server.
    where wineserver --persistent
    (cd "$(dirname "$program")" && VKL_LIBRARY="Z:$OUT/vulkan-1.dll" where timeout --kill-after=10 1500 \
        wine "$program" --test-threads "$THREADS" --show-output "$@") >"$log" 2>&1 </dev/null || status=$?
    {
        tr -d '\r' <"$log" | awk -v name="$name" -v status="$status" '
            /^  skip  / { if (!seen[$0]++) { skip++; print } }
            /^test result: / { pass += $4; fail += $6; ended = 1 }
            END {
                if (!ended) { print "  FAIL  windows: " name " did not end: status " status; exit }
                # The test program counts a skipped case as a success.
                print name ": " pass - skip " passed, " fail " failed"
            }'
        [ "$status" -eq 0 ] || tr -d '\r' <"$log" | awk '/^failures:$/ { on = 1 } on && !/^test result/ && count++ < 400'
    } >"$OUT/$suite.report"
    return "$status"
}
# compiles TRIPLE...: checks that the loader compiles for each TRIPLE. The check has a separate build folder, so that it does not wait for
# the build of the cases, which often has work for only one processor. Even for a check, cargo compiles the standard library completely. A
# program in place of the compiler therefore requests only metadata, and reads only metadata of other crates. The compiler then makes no
# machine code, and does not optimise functions that other crates may need.
compiles() {
    local triple file
    printf '%s\n' '#!/bin/bash' 'case " $* " in *" --target "*)' \
        'set -- "${@/#--emit=dep-info,metadata,link/--emit=dep-info,metadata}"' 'set -- "${@/%.rlib/.rmeta}" ;;' \
        'esac' 'exec "$@"' >"$WINDOWS/checks-rustc"
    chmod +x "$WINDOWS/checks-rustc"
    RUSTC_WRAPPER=$WINDOWS/checks-rustc of_debian checks check -Zbuild-std=core,alloc,std,panic_abort "${@/#/--target=}" -p vulkan-loader
    # Cargo compiles a crate again in the next run if its file with machine code is missing. These files are therefore empty.
    for triple; do
        for file in "$WINDOWS/checks/$triple"/debug/deps/lib*.rmeta; do
            touch --reference="$file" "${file%.rmeta}.rlib"
        done
    done
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
# Runs the tests of sources.c. Some of these tests are only for 32 bits: the tests of registry keys below WOW6432Node, and of registry
# values whose names are only for 32 bits.
sources() {
    make --silent -C tests/windows OUT="$OUT/sources" CC="$COMPILER-gcc" DLLTOOL="$COMPILER-dlltool" DLL="$OUT/vulkan-1.dll" &&
        (cd "$OUT/sources" && cp "$BUILT/deps/bcryptprimitives.dll" . && where timeout --kill-after=10 600 wine sources.exe scratch)
}

mkdir -p "$OUT"
triples=()
case $MODE in
"") triples=(i686-pc-windows-msvc x86_64-pc-windows-msvc) ;;
# One target checks both the word size and the tools, because no line of the loader depends on the combination.
quick) triples=(i686-pc-windows-msvc) ;;
i686) root32 ;;
esac
# Ends the servers of Wine, and waits for the check, which a failed build leaves running.
ended() {
    [ -z "${CHECKS:-}" ] || wait "$CHECKS" || true
    end_of_wine
}
trap ended EXIT
without_avx512
if [ ${#triples[@]} -gt 0 ]; then
    compiles "${triples[@]}" >"$WINDOWS/checks.log" 2>&1 &
    CHECKS=$!
fi
prefixes >"$OUT/wine.log" 2>&1 &
booted=$!
build
wait "$booted" || die 1 "no Wine prefixes: $(tail -n 5 "$OUT/wine.log")"
words=()
if [ "$MODE" = quick ]; then
    read -r -a words <<<"$QUICK"
elif [ "$MODE" = i686 ]; then
    read -r -a words <<<"$I686"
fi
[ ${#CASES[@]} -eq 0 ] || words=("${CASES[@]}")
[ "$(wc -l <"$OUT/programs")" -eq ${#SUITES[@]} ] || die 1 "cargo named other programs than ${SUITES[*]}: $(cat "$OUT/programs")"
running=()
for suite in "${SUITES[@]}"; do
    # The first program has most of the cases, and the other programs share a processor.
    [ ${#PROCESSORS[@]} -eq 0 ] || PINNED=(taskset --cpu-list "${PROCESSORS[${#running[@]} > 0]}")
    cases "$suite" "${words[@]}" &
    running+=($!)
done
PINNED=()
for child in "${running[@]}"; do
    wait "$child" || failed=1
done
reports=("${SUITES[@]/%/.report}")
cat "${reports[@]/#/$OUT/}"
logs=("${SUITES[@]/%/.log}")
for word in "${words[@]}"; do
    grep -qF "test $word" "${logs[@]/#/$OUT/}" || {
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
    seen "Windows ${TRIPLE%%-*}, cases" "$([ "$failed" -eq 0 ] || say "failures; ")$(where wine --version): $(grep -h ' passed, ' "${reports[@]/#/$OUT/}" | paste -sd ';')"
exit "$failed"
