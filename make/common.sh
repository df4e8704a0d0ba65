# Paths and functions for the other scripts, which source this file.
if [ $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1])) -lt 404 ]; then
    printf '%s: bash 4.4 or newer is needed, and this is %s\n' "$0" "$BASH_VERSION" >&2
    exit 2
fi
set -euo pipefail
# Settings of the user that change what a shell, grep and Python do.
set +o posix
unset BASH_ENV CDPATH ENV GREP_OPTIONS POSIXLY_CORRECT "${!PYTHON@}"

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$ROOT"

CARGO=${CARGO:-cargo}
# Cargo's output goes to this folder in each call, also if cargo's configuration names another folder.
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
case $TARGET in /*) ;; *) TARGET=$ROOT/$TARGET ;; esac
export CARGO_TARGET_DIR=$TARGET

# Folder of cargo's configuration, and folder in which cargo unpacks crates. The shell expands ~ even if HOME is unset.
CARGO_FOLDER=${CARGO_HOME:-~/.cargo}
CRATES=$CARGO_FOLDER/registry/src

# configured_target: prints the target that cargo's configuration files set, if any.
configured_target() {
    local folder=$ROOT files=()
    files=("$CARGO_FOLDER"/config{,.toml})
    while files+=("$folder"/.cargo/config{,.toml}) && [ "$folder" != / ]; do
        folder=$(dirname "$folder")
    done
    ! grep -qsE '^ *(build\.)?target *=' "${files[@]}" ||
        RUSTC_BOOTSTRAP=1 env -u CARGO_BUILD_TARGET $CARGO -Zunstable-options config get --format json-value build.target 2>/dev/null | tr -d '"[]' || true
}
CARGO_BUILD_TARGET=${CARGO_BUILD_TARGET:-$(configured_target)}
if [ -n "$CARGO_BUILD_TARGET" ]; then export CARGO_BUILD_TARGET; else unset CARGO_BUILD_TARGET; fi

# pin KEY: prints the value of KEY in registry/pin.toml. Examples: `pin header`, `pin '"vk.xml"'`.
pin() {
    sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" registry/pin.toml
}
# An interrupted bump may have left the tree without registry/pin.toml.
VERSION=$(pin header) || VERSION=

# built_below FOLDER: prints the folder with the profiles' folders below a target folder. If CARGO_BUILD_TARGET is set, even to this machine's
# own target, cargo uses a subfolder with its name.
built_below() {
    say "$1${CARGO_BUILD_TARGET:+/$(basename "$CARGO_BUILD_TARGET" .json)}"
}
say() {
    printf '%s\n' "$*"
}

BUILT=$(built_below "$TARGET")
RELEASE=$BUILT/release
# Folder of the built vkloader and vk-loader-service. VKL_TOOLS may name another folder, as the tests do.
TOOLS=${VKL_TOOLS:-$RELEASE}

# Path of the built library. VKL_LIBRARY may name any other libvulkan.so.1 to test.
case ${CARGO_BUILD_TARGET:-$(uname -s)} in
Darwin | *-apple-*) LIBRARY=$RELEASE/libvulkan.dylib ;;
*) LIBRARY=$RELEASE/libvulkan.so ;;
esac
LIBRARY=${VKL_LIBRARY:-$LIBRARY}
# Folder for programs in C, and for temporary files.
PROGRAMS=$TARGET/programs

# die STATUS TEXT...: prints the text on standard error, and exits with the status.
die() {
    local status=$1
    shift
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit "$status"
}

# whole COMMAND...: runs a function that ends at its first failing command, and sets STATUS to its result. In a condition, bash would
# continue after a failure, and would use results of an earlier run in place of missing results. For the same reason, do not call `whole` in
# a condition.
whole() {
    set +e
    (
        set -e
        "$@"
    )
    STATUS=$?
    set -e
}

# not COMMAND...: fails unless the command fails. A plain `!` is not enough, because bash then continues after either result.
not() {
    ! "$@"
}

# need_rust: exits unless cargo is installed and new enough. An older cargo would fail with a message about Cargo.lock.
need_rust() {
    local want have
    want=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    have=$($CARGO --version 2>/dev/null | sed -n 's/^cargo \([0-9]*\.[0-9]*\).*/\1/p') || true
    if [ -z "$have" ]; then
        have="cargo is missing"
    elif [ "$(printf '%s\n' "$want" "$have" | sort --version-sort | sed -n 1p)" = "$want" ]; then
        return
    else
        have="cargo $have is too old"
    fi
    die 1 "$have: this project needs Rust $want or newer. On Debian 12 apt-get install cargo-web rustc-web brings one (in place of \
cargo and rustc), on any system rustup does: rustup toolchain install stable"
}

# need FILE PACKAGE: adds the package to `lacking` if the program FILE is missing. If FILE has a slash, it is the path of a file.
lacking=
need() {
    command -v "$1" >/dev/null || [ -e "$1" ] || [[ "$lacking " == *" $2 "* ]] || lacking+=" $2"
}

# Functions that run the programs for generated files. VKGEN and XTASK name programs that were already built from the sources of this tree.
vkgen() {
    if [ -x "${VKGEN:-}" ]; then "$VKGEN" "$@"; else $CARGO run --locked --quiet -p vkgen -- "$@"; fi
}
xtask() {
    if [ -x "${XTASK:-}" ]; then "$XTASK" "$@"; else $CARGO run --locked --quiet -p xtask -- "$@"; fi
}
# build_vkgen, build_xtask: build vkgen and xtask, for use in another tree.
build_vkgen() {
    [ -x "${VKGEN:-}" ] || { $CARGO build --locked --quiet --release -p vkgen && VKGEN=$RELEASE/vkgen; }
}
build_xtask() {
    [ -x "${XTASK:-}" ] || { $CARGO build --locked --quiet -p xtask && XTASK=$BUILT/debug/xtask; }
}

# library_built: builds the library under test, unless VKL_LIBRARY names another library.
library_built() {
    [ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked --quiet --release -p vulkan-loader
    [ -f "$LIBRARY" ] || die 2 "there is no $LIBRARY"
}

# build_tools PACKAGE...: builds programs with their own profile (Cargo.toml), and puts them into RELEASE, beside the library.
build_tools() {
    local name packages=()
    for name; do
        packages+=(-p "$name")
    done
    $CARGO "${CARGO_OPTIONS[@]}" build --locked --profile tools "${packages[@]}"
    mkdir -p "$RELEASE"
    for name; do
        # A program in RELEASE that is already a link to the built program stays. Any other file is removed first and not overwritten,
        # because another process can be running the file.
        [ ! "$RELEASE/$name" -ef "$BUILT/tools/$name" ] || continue
        rm -f "$RELEASE/$name"
        ln "$BUILT/tools/$name" "$RELEASE/$name" 2>/dev/null || cp -p "$BUILT/tools/$name" "$RELEASE/$name"
    done
}
# Folder of the manual pages and completions of the programs.
PAGES=${PAGES:-$RELEASE/pages}
# Options of cargo that precede the subcommand.
CARGO_OPTIONS=()

# seen RUN WORDS...: with SEEN=1, writes the results of a run to tests/seen.txt, with the date and the last commit that changed the library.
# `make documents` turns these lines into a table of docs/platforms.md.
seen() {
    local run=$1 file=tests/seen.txt
    shift
    [ "${SEEN:-}" = 1 ] || return 0
    {
        grep --invert-match --fixed-strings "$run | " $file || true
        say "$run | $(git log -1 --abbrev=9 --format=%h -- loader generated) | $(date +%F) | $*"
    } | sort >"$file.new"
    mv "$file.new" $file
}
# counted LOG: prints the number of passed and failed tests of each group, from cargo's output.
counted() {
    awk '/^     Running / { suite = $2; sub(/.*tests\//, "", suite); sub(/\/main.rs.*/, "", suite) }
        /^test result: / && suite { printf "%s%s: %d passed, %d failed", sep, suite, $4, $6; sep = "; "; suite = "" }' "$1"
}

# check WHAT COMMAND...: runs the command as a test of GROUP, and prints a line with the result. Also prints the lines of the output
# that begin with `figure` or with one of the words in SHOWN. The whole output goes to a file in the folder HERE. A failure sets `failed`.
failed=0
SHOWN="ok|device|sum"
check() {
    local what=$1 log=$HERE/case.log
    shift
    whole "$@" >"$log" 2>&1
    if [ "$STATUS" -eq 0 ]; then
        say "  ok    $GROUP: $what"
        grep -E "^($SHOWN) " "$log" || true
        sed -n 's/^figure /        /p' "$log" | tr -d '\r' | awk '!seen[$0]++'
    else
        say "  FAIL  $GROUP: $what"
        tail -n 40 "$log"
        failed=1
    fi
}

# Prints the path of the system's own loader, if it is not an installed copy of this library.
peer_library() {
    local file
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p |
        awk -v abi="$(uname -m)" '$1 == "libvulkan.so.1" && (abi != "x86_64" || /x86-64/) { print $NF }' |
        while read -r file; do
            if [ "$(basename "$(realpath "$file")")" != "libvulkan.so.$VERSION" ]; then
                say "$file"
                break
            fi
        done
}

# Chooses the loader to compare with. PEER is the path of a library, `sid` for the newest Khronos loader in a root of Debian sid, or empty
# for the installed loader of the system. Sets PEER_LIBRARY to the path of the loader, and PEER_RUN to the words before a program that uses
# it.
use_peer() {
    PEER_RUN=()
    check_peer
    case ${PEER:-} in
    sid)
        PEER_LIBRARY=$(make/sid.sh)
        PEER_RUN=("$ROOT/make/sid.sh" run)
        ;;
    *)
        PEER_LIBRARY=${PEER:-$(peer_library)}
        [ -f "$PEER_LIBRARY" ] || die 2 "no library to compare with: make setup, or PEER=/path/libvulkan.so.1, or PEER=sid"
        PEER_LIBRARY=$(realpath "$PEER_LIBRARY")
        ;;
    esac
}

# Runs cargo so that its test programs run on the system that has the Khronos loader.
cargo_beside_peer() {
    local host
    if [ ${#PEER_RUN[@]} -gt 0 ]; then
        host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
        local -x "CARGO_TARGET_${host}_RUNNER=${PEER_RUN[*]}"
    fi
    $CARGO "$@"
}

# library_folder LIBRARY FOLDER: makes FOLDER, for LD_LIBRARY_PATH. Programs find LIBRARY in it under the names libvulkan.so.1 and
# libvulkan.so.
library_folder() {
    local library=$1 folder=$2
    mkdir -p "$folder"
    ln -sfn "$(realpath "$library")" "$folder/libvulkan.so.1"
    ln -sfn libvulkan.so.1 "$folder/libvulkan.so"
}

# build_programs SOURCE OUT [PROGRAM...]: builds the listed programs of SOURCE/Makefile in the folder OUT. The default is all programs. Make
# receives a link to OUT, because make splits names at blanks.
build_programs() {
    local source=$1 out=$2 link status=0
    shift 2
    mkdir -p "$out"
    link=$(mktemp -d)
    ln -s "$out" "$link/out"
    make --silent -C "$source" OUT="$link/out" VULKAN_DIR="$link/out/lib" "${@/#/$link/out/}" || status=$?
    rm -r "$link"
    return $status
}

# Ends the script if PEER names a file that is not a loader. Scripts that build files for the comparison call this function first.
check_peer() {
    case ${PEER:-} in
    "" | sid) return 0 ;;
    esac
    [ -f "$PEER" ] || die 3 "there is no library $PEER to compare with (PEER)"
    [ "$(head -c 4 "$PEER" | tr -d '\177')" = ELF ] && grep --quiet --text vkGetInstanceProcAddr "$PEER" ||
        die 3 "$PEER is no Vulkan loader to compare with (PEER)"
}
