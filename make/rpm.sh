#!/usr/bin/env bash
# Packages for Fedora and its relatives, from the source archive and without a network. REVISION is the number behind the header's.
. "$(dirname "$0")/common.sh"

NAME=vulkan-loader-rs
OUT=$TARGET/rpm
need rpmbuild rpm
[ -z "$lacking" ] || die 2 "missing:$lacking"
[ ! -x /usr/bin/cargo ] || PATH=/usr/bin:$PATH
export PATH

make/dist.sh >/dev/null
epoch=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$epoch}
rm -rf "$OUT"
# Modes of files are part of what is packed.
umask 022
mkdir -p "$OUT"
# rpm puts the text of the spec into the source package as it reads it, with the paths of its folders: they are the same everywhere.
here=/var/tmp/$NAME-rpm
if ! mkdir "$here" 2>/dev/null; then
    say "$here is there, and may be another build's: packing elsewhere, which the source package will bear and the others its checksum"
    here=$(mktemp -d "$here.XXXXXX")
fi
trap 'rm -rf "$here"' EXIT
mkdir "$here"/{SOURCES,SPECS}
install -m 644 -t "$here/SOURCES" "$TARGET/dist/$NAME-$VERSION.tar.xz"
# What is there, as conditions of the spec.
catalogue=0
! grep -q Catalogue loader/vkloader/src/commands.rs || catalogue=1
spec=$(<packaging/rpm/$NAME.spec.in)
spec=${spec//@VERSION@/"$VERSION"}
spec=${spec//@REVISION@/"${REVISION:-1}"}
spec=${spec//@CATALOGUE@/"$catalogue"}
spec=${spec//@DATE@/"$(LC_ALL=C date --utc --date="@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')"}
printf '%s\n' "$spec" >"$here/SPECS/$NAME.spec"

# rpmbuild makes the home that it is told of.
[ -d "${HOME:-}" ] || export HOME=$here
alone=()
! unshare --net true 2>/dev/null || alone=(unshare --net)
env -u CARGO_TARGET_DIR -u DESTDIR -u PREFIX -u LIBDIR -u MAKEFLAGS -u MAKELEVEL "${alone[@]}" rpmbuild -ba \
    --define "_topdir $here" --define "_buildhost reproducible" --define "use_source_date_epoch_as_buildtime 1" \
    --define "clamp_mtime_to_source_date_epoch 1" --define "_srcdefattr (0644,root,root)" "$here/SPECS/$NAME.spec"
rm -rf "$here"/{BUILD,BUILDROOT}
mv "$here"/* "$OUT/"
# A macro that is not there leaves a script empty, and nothing says so.
for package in "$OUT"/RPMS/*/{vkloader,vk-loader-service}-[0-9]*.rpm; do
    scripts=$(rpm -qp --scripts "$package")
    [ "$(grep -cE 'systemctl|systemd-update-helper' <<<"$scripts")" -ge 2 ] || die 1 "$package does nothing with its units: $scripts"
done
find "$OUT" -name '*.rpm'
