#!/usr/bin/env bash
# package.sh dist | deb | rpm: makes the source archive, or packages from it, in separate folders and without a network. REVISION is the
# number after the header version in the package's version.
. "$(dirname "$0")/common.sh"

NAME=vulkan-loader-rs

# Makes the source archive. The archive contains the committed files, the crates of Cargo.lock, and a list of its content. The archive can
# therefore be built without a network. The same commit always results in the same bytes, in every folder.
dist() {
    [ -d .git ] || [ -f .git ] || die 2 "this is no git repository: the archive is made from a commit"
    git diff --quiet HEAD || say "What is not committed will not be in the archive" >&2
    export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

    mkdir -p "$TARGET/dist"
    archive=$TARGET/dist/$NAME-$VERSION.tar.xz
    # Packing takes a minute, so the script uses an existing archive of this commit.
    made="$(git rev-parse HEAD) $SOURCE_DATE_EPOCH"
    if [ "$(cat "$TARGET/dist/made" 2>/dev/null)" = "$made" ] && [ -f "$archive" ]; then
        say "$archive"
        return
    fi
    scratch=$(mktemp -d "$TARGET/dist/scratch.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    # The archive has the committed bytes, even if the packer's git would change line endings and files.
    git -c core.autocrlf=false -c core.eol=lf -c core.attributesFile=/dev/null archive --prefix="$NAME-$VERSION/" HEAD | tar -x -C "$scratch"
    tree=$scratch/$NAME-$VERSION

    # Includes every crate in the lock file. Cargo refuses an archive that lacks one of these crates, even a crate for another system.
    (cd "$tree" && $CARGO vendor --quiet --locked --versioned-dirs vendor)
    mkdir "$tree/.cargo"
    cat >"$tree/.cargo/config.toml" <<'END'
# Cargo reads the crates from vendor/ and downloads nothing.
[source.crates-io]
replace-with = "vendored"
[source.vendored]
directory = "vendor"
END
    # Removes compiled files, which some crates have for other systems and for their tests, because the archive must contain only sources.
    (cd "$tree/vendor" && python3 - <<'PYTHON'
import json, pathlib
for crate in sorted(pathlib.Path().iterdir()):
    sums = crate / ".cargo-checksum.json"
    known = json.loads(sums.read_text())
    for file in sorted(known["files"]):
        if file.endswith((".a", ".dll", ".exe", ".lib", ".o", ".so")):
            (crate / file).unlink()
            del known["files"][file]
            print(f"Left out: {crate}/{file}")
    sums.write_text(json.dumps(known, separators=(",", ":"), sort_keys=True))
PYTHON
    )
    (cd "$tree" && xtask contents "$SOURCE_DATE_EPOCH" >contents.spdx.json)

    # Variables for tar and xz in the packer's environment must not affect the archive.
    unset TAR_OPTIONS XZ_OPT XZ_DEFAULTS
    # With two or more threads, xz writes the same bytes for every number of threads. With one thread, xz writes different bytes.
    LC_ALL=C tar --create --directory "$scratch" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
        --numeric-owner --mode=u+rw,go-w,a+rX "$NAME-$VERSION" | xz -6 --threads=2 >"$archive.new"
    mv "$archive.new" "$archive"
    cp "$tree/contents.spdx.json" "$TARGET/dist/$NAME-$VERSION.spdx.json"
    say "$made" >"$TARGET/dist/made"
    say "$archive"
}

# begin: makes the archive and the empty folder OUT, and sets SOURCE_DATE_EPOCH to the time of the commit.
begin() {
    (dist) >/dev/null
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
    export SOURCE_DATE_EPOCH
    rm -rf "$OUT"
    # Sets a fixed umask, because the modes of files are part of a package.
    umask 022
    mkdir -p "$OUT"
}

# Makes Debian's packages. VKL_PROVIDES names further versions of libvulkan1 to provide (docs/packaging.md). MAINTAINER is the person who is
# responsible for the packages.
deb() {
    OUT=$TARGET/deb
    MAINTAINER=${MAINTAINER:-The authors of $NAME <maintainers@$NAME.invalid>}
    need dh debhelper
    need dpkg-buildpackage dpkg-dev
    [ -z "$lacking" ] || die 2 "missing:$lacking"
    # If Debian's packages of cargo and rustc are installed, the build uses them, because Debian's build machines have no other compilers.
    PATH=/usr/bin:$PATH
    export PATH

    begin
    # debhelper does not accept blanks in a folder's name, or characters with a meaning in make.
    here=$OUT
    case $OUT in
    *[!A-Za-z0-9/._+-]*)
        here=$(mktemp -d)
        trap 'rm -rf "$here"' EXIT
        ;;
    esac
    cp "$TARGET/dist/$NAME-$VERSION.tar.xz" "$here/${NAME}_$VERSION.orig.tar.xz"
    tar -xJf "$TARGET/dist/$NAME-$VERSION.tar.xz" -C "$here"
    tree=$here/$NAME-$VERSION
    cp -r packaging/debian "$tree/debian"

    date=$(LC_ALL=C date --utc --date="@$SOURCE_DATE_EPOCH" --rfc-email)
    crates=$(cd "$tree" && xtask licences)
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

    # If the user can create a network namespace, the build runs in a namespace without networks.
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
}

# Makes packages for Fedora and related systems.
rpm() {
    OUT=$TARGET/rpm
    need rpmbuild rpm
    [ -z "$lacking" ] || die 2 "missing:$lacking"
    [ ! -x /usr/bin/cargo ] || PATH=/usr/bin:$PATH
    export PATH

    begin
    # rpm puts the spec into the source package with the paths of rpm's folders in the text. These folders must therefore be the same on
    # every machine.
    here=/var/tmp/$NAME-rpm
    if ! mkdir "$here" 2>/dev/null; then
        say "$here is there, and may be another build's: packing elsewhere, which the source package will bear and the others its checksum"
        here=$(mktemp -d "$here.XXXXXX")
    fi
    trap 'rm -rf "$here"' EXIT
    mkdir "$here"/{SOURCES,SPECS}
    install -m 644 -t "$here/SOURCES" "$TARGET/dist/$NAME-$VERSION.tar.xz"
    # Sets the spec's condition for the catalogue, if this version has a catalogue.
    catalogue=0
    ! grep -q Catalogue loader/vkloader/src/commands.rs || catalogue=1
    spec=$(<packaging/rpm/$NAME.spec.in)
    spec=${spec//@VERSION@/"$VERSION"}
    spec=${spec//@REVISION@/"${REVISION:-1}"}
    spec=${spec//@CATALOGUE@/"$catalogue"}
    spec=${spec//@DATE@/"$(LC_ALL=C date --utc --date="@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')"}
    printf '%s\n' "$spec" >"$here/SPECS/$NAME.spec"

    # rpmbuild creates its folder in HOME, so HOME must name an existing folder.
    [ -d "${HOME:-}" ] || export HOME=$here
    alone=()
    ! unshare --net true 2>/dev/null || alone=(unshare --net)
    env -u CARGO_TARGET_DIR -u DESTDIR -u PREFIX -u LIBDIR -u MAKEFLAGS -u MAKELEVEL "${alone[@]}" rpmbuild -ba \
        --define "_topdir $here" --define "_buildhost reproducible" --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" --define "_srcdefattr (0644,root,root)" "$here/SPECS/$NAME.spec"
    rm -rf "$here"/{BUILD,BUILDROOT}
    mv "$here"/* "$OUT/"
    # If a macro is missing, a script of a package is empty, and rpm does not report this. `command` runs the program, not this function.
    for package in "$OUT"/RPMS/*/{vkloader,vk-loader-service}-[0-9]*.rpm; do
        scripts=$(command rpm -qp --scripts "$package")
        [ "$(grep -cE 'systemctl|systemd-update-helper' <<<"$scripts")" -ge 2 ] || die 1 "$package does nothing with its units: $scripts"
    done
    # Programs must not use the private library of vkloader, so the package must not provide it.
    for package in "$OUT"/RPMS/*/vkloader-[0-9]*.rpm; do
        [ -z "$(command rpm -qp --provides "$package" | sed -n '/^libvulkan/p')" ] || die 1 "$package provides the library that vkloader carries"
    done
    find "$OUT" -name '*.rpm'
}

case ${1:-} in
dist | deb | rpm)
    build_xtask
    export XTASK
    "$1"
    ;;
*) die 3 "which: dist, deb or rpm?" ;;
esac
