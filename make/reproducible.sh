#!/usr/bin/env bash
# Archives and packages of this commit, twice: in folders with other names and lengths, at other times, in another language and time
# zone, for another user's home and file mode. All files must be the same, byte for byte; diffoscope says where they are not.
# RPM=1 does so for Fedora's packages too, which builds everything once more each.
. "$(dirname "$0")/common.sh"

GROUP=reproducible
HERE=$TARGET/reproducible
rm -rf "$HERE"
mkdir -p "$HERE"
wanted=(dist deb)
[ -z "${RPM:-}" ] || wanted+=(rpm)
# A wrong date shows what a few minutes would not.
later=()
! command -v faketime >/dev/null || later=(faketime -f "+400d")
commit=$(git rev-parse HEAD)
language=$(locale -a | grep -v -E '^(C|POSIX|en_)' | head -n 1) || true

# build FOLDER COMMAND...: what is packed from a clone of the commit there, by make under the command.
build() {
    local folder=$1
    shift
    git clone --quiet --shared --no-checkout "$ROOT" "$folder"
    git -C "$folder" checkout --quiet --detach "$commit"
    say "Packing in $folder"
    (cd "$folder" && umask "$mask" && env -u CARGO_TARGET_DIR -u SOURCE_DATE_EPOCH "$@" make "${wanted[@]}") >"$folder.log" 2>&1 ||
        die 1 "$(tail -n 5 "$folder.log") (see $folder.log)"
}
mask=022 build "$HERE/one" LC_ALL=C.UTF-8 TZ=UTC
mkdir "$HERE/home"
mask=027 build "$HERE/another-folder" LC_ALL="${language:-C.UTF-8}" TZ=Pacific/Kiritimati CARGO_BUILD_JOBS=1 \
    CARGO_HOME="$HERE/home" "${later[@]}"

# same FILE: in both folders.
same() {
    sha256sum <"$HERE/one/$1"
    cmp "$HERE/one/$1" "$HERE/another-folder/$1" ||
        { command -v diffoscope >/dev/null && diffoscope "$HERE/one/$1" "$HERE/another-folder/$1"; }
}
# No path of the machine stands in what is installed.
pathless() {
    local unpacked=$HERE/unpacked
    rm -rf "$unpacked"
    dpkg-deb -x "$HERE/one/$1" "$unpacked"
    ! grep -rlF "$HERE" "$unpacked"
}
while read -r file; do
    check "$file" same "$file"
    case $file in *.deb) check "no path in $file" pathless "$file" ;; esac
done < <(cd "$HERE/one/target" && find dist deb rpm -type f \
    \( -name '*.deb' -o -name '*.rpm' -o -name '*.dsc' -o -name '*.tar.xz' -o -name '*.spdx.json' \) -printf 'target/%p\n' 2>/dev/null | sort)
exit $failed
