#!/usr/bin/env bash
# Packages for Debian, from the source archive, in a folder of their own and without a network. REVISION is the number behind the
# header's; VKL_PROVIDES names versions of libvulkan1 to provide beside our own (docs/packaging.md); MAINTAINER is who answers for them.
. "$(dirname "$0")/common.sh"

NAME=vulkan-loader-rs
OUT=$TARGET/deb
MAINTAINER=${MAINTAINER:-The authors of $NAME <maintainers@$NAME.invalid>}
need dh debhelper
need dpkg-buildpackage dpkg-dev
[ -z "$lacking" ] || die 2 "missing:$lacking"
# Debian's own cargo and rustc, if they are here, as its builders have no others.
PATH=/usr/bin:$PATH
export PATH

archive=$TARGET/dist/$NAME-$VERSION.tar.xz
make/dist.sh >/dev/null
epoch=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$epoch}
rm -rf "$OUT"
# Modes of files are part of what is packed.
umask 022
mkdir -p "$OUT"
# debhelper takes no blank in a folder's name, nor what make reads as something else.
here=$OUT
case $OUT in
*[!A-Za-z0-9/._+-]*)
    here=$(mktemp -d)
    trap 'rm -rf "$here"' EXIT
    ;;
esac
cp "$archive" "$here/${NAME}_$VERSION.orig.tar.xz"
tar -xJf "$archive" -C "$here"
tree=$here/$NAME-$VERSION
cp -r packaging/debian "$tree/debian"

date=$(LC_ALL=C date --utc --date="@$SOURCE_DATE_EPOCH" --rfc-email)
crates=$(cd "$tree" && python3 make/copyright.py)
for file in control copyright changelog.in; do
    text=$(<"$tree/debian/$file")
    text=${text//@VERSION@/"$VERSION"}
    text=${text//@REVISION@/"${REVISION:-1}"}
    text=${text//@MAINTAINER@/"$MAINTAINER"}
    text=${text//@DATE@/"$date"}
    text=${text//@CRATES@/"$crates"}
    rm "$tree/debian/$file"
    printf '%s\n' "$text" >"$tree/debian/${file%.in}"
done

# Whoever may make a network of its own builds in one that is empty.
alone=()
! unshare --net true 2>/dev/null || alone=(unshare --net)
arguments=(-us -uc)
[ -x /usr/bin/cargo ] || {
    say "Debian's cargo is not installed: building with $(command -v "$CARGO")"
    arguments+=(-d)
}
(cd "$tree" && env -u CARGO_TARGET_DIR -u DESTDIR -u PREFIX -u LIBDIR -u MAKEFLAGS -u MAKELEVEL "${alone[@]}" dpkg-buildpackage "${arguments[@]}")
rm -rf "$tree"
[ "$here" = "$OUT" ] || mv "$here"/* "$OUT/"
for package in "$OUT"/*.deb; do
    say "$package"
done
