#!/usr/bin/env bash
# Makes archives and packages of this commit twice. The second build differs from the first in the names and depths of folders, the time,
# language, time zone, home, file mode and number of jobs. As root, the script also changes the user and the name of the machine. All files
# must be equal, byte for byte. If they differ, diffoscope prints the differences. Neither installed files nor their debugging symbols may
# contain a path of the machine. RPM=1 includes Fedora's packages, which builds everything two more times. KEEP=1 compares the results of an
# earlier run.
. "$(dirname "$0")/../make/common.sh"

GROUP=reproducible
HERE=$TARGET/reproducible
FIRST=$HERE/one
# The name of this folder contains a blank. Missing quotes therefore cause an error.
SECOND="$HERE/another folder/deeper"
wanted=(dist deb)
need dpkg-deb dpkg
need objcopy binutils
if [ -n "${RPM:-}" ]; then
    wanted+=(rpm)
    need rpmbuild rpm
    need rpm2cpio rpm2cpio
    need cpio cpio
fi
[ -z "$lacking" ] || die 2 "missing:$lacking"
commit=$(git rev-parse HEAD 2>/dev/null) || die 2 "this is no git repository: what is packed is a commit"

# pack FOLDER MASK COMMAND...: packs the clone in FOLDER with the umask MASK. COMMAND receives the call of make as arguments, and runs it.
pack() {
    local folder=$1 mask=$2
    shift 2
    say "Packing in $folder"
    (cd "$folder" && umask "$mask" && env -u CARGO_TARGET_DIR -u SOURCE_DATE_EPOCH "$@" make "${wanted[@]}") >"$folder.log" 2>&1 ||
        die 1 "$(tail -n 5 "$folder.log") (see $folder.log)"
}
clone() {
    git clone --quiet --shared --no-checkout "$ROOT" "$1"
    git -C "$1" checkout --quiet --detach "$commit"
}

# other_language: sets the language to Turkish, with files in a folder for LOCPATH. In Turkish, the lower case of I, the sort order and the
# form of numbers are different. The files for Turkish are in Debian's package `locales`.
other_language() {
    local name=tr_TR.UTF-8
    localedef -i tr_TR -f UTF-8 "$HERE/locales/$name" 2>/dev/null || [ -f "$HERE/locales/$name/LC_CTYPE" ] || return 0
    around+=("LOCPATH=$HERE/locales" "LC_ALL=$name" "LANGUAGE=tr")
    varied+=(language)
}

# Sets `around` to a command that runs a program in a changed environment. The environment differs from this script's in as many ways as
# this machine allows. Sets `varied` to the differences.
otherwise() {
    around=(env "HOME=$HERE/home" "CARGO_HOME=$HERE/home/crates" "RUSTUP_HOME=${RUSTUP_HOME:-${HOME:-}/.rustup}" TZ=Pacific/Kiritimati
        CARGO_BUILD_JOBS=1)
    varied=(folder home "file mode" "time zone" jobs)
    mkdir -p "$HERE/home" "$HERE/locales"
    other_language
    # The date is far from the real date, because a difference of minutes has fewer effects. The crates must be downloaded before, because
    # no server's certificate is valid on that date.
    (cd "$SECOND" && CARGO_HOME=$HERE/home/crates $CARGO fetch --quiet --locked)
    if command -v faketime >/dev/null; then
        around+=(faketime -m -f "+400d")
        varied+=(time)
    fi
    if [ "$(id -u)" = 0 ] && unshare --uts true 2>/dev/null; then
        chown -R 65534:65534 "${SECOND%/*}" "$HERE/home"
        # Other users cannot run a cargo in root's home, but they can run Debian's cargo, which is the next cargo in PATH.
        if setpriv --reuid=65534 --regid=65534 --clear-groups "${around[@]}" "$CARGO" --version >/dev/null 2>&1; then
            varied+=(user)
            around=(setpriv --reuid=65534 --regid=65534 --clear-groups "${around[@]}")
        fi
        varied+=(host)
        around=(unshare --uts sh -c 'hostname elsewhere; exec "$@"' sh "${around[@]}")
    fi
}

if [ -z "${KEEP:-}" ]; then
    rm -rf "$HERE"
    mkdir -p "$HERE" "${SECOND%/*}"
    clone "$FIRST"
    clone "$SECOND"
    pack "$FIRST" 022 LC_ALL=C.UTF-8 TZ=UTC
    otherwise
    pack "$SECOND" 027 "${around[@]}"
    (IFS=, && say "Different: ${varied[*]}") | sed 's/,/, /g'
fi

# same FILE: succeeds if FILE is the same in the target folders of both clones.
same() {
    sha256sum <"$FIRST/target/$1"
    cmp "$FIRST/target/$1" "$SECOND/target/$1" ||
        { command -v diffoscope >/dev/null && diffoscope "$FIRST/target/$1" "$SECOND/target/$1"; }
}
# Checks that installed files, compressed or not, contain no path of this machine.
pathless() {
    local unpacked=$HERE/unpacked file
    rm -rf "$unpacked"
    mkdir "$unpacked"
    case $1 in
    *.deb) dpkg-deb -x "$FIRST/target/$1" "$unpacked" ;;
    *.rpm) rpm2cpio "$FIRST/target/$1" | (cd "$unpacked" && cpio --quiet -idm) ;;
    esac
    find "$unpacked" -name '*.gz' -exec gunzip {} +
    find "$unpacked" -type f -size +20k | while read -r file; do
        ! file_is_elf "$file" || objcopy --decompress-debug-sections "$file"
    done
    if grep -rlF -e "$HERE" -e "$ROOT" -e "$CARGO_FOLDER" "$unpacked"; then
        return 1
    fi
}
file_is_elf() {
    [ "$(head -c 4 "$1" | tr -d '\177')" = ELF ]
}
# files FOLDER: lists the files to release in FOLDER/target.
files() {
    cd "$1/target"
    find "${wanted[@]}" -type f \( -name '*.deb' -o -name '*.rpm' -o -name '*.dsc' -o -name '*.tar.xz' -o -name '*.spdx.json' \) | LC_ALL=C sort
}
same_files() {
    diff <(files "$FIRST") <(files "$SECOND")
}

check "the same files" same_files
while read -r file; do
    check "$file" same "$file"
    case $file in
    *.src.rpm) ;;
    *.deb | *.rpm) check "no path in $file" pathless "$file" ;;
    esac
done < <(files "$FIRST")
exit $failed
