#!/usr/bin/env bash
# Tests the packages in a complete Debian 12. Debian's programs run on Debian's loader and then on our loader, and the results must be the
# same. The test installs and removes drivers, and the drivers hang and crash. The root boots, and the test installs our next version. At
# the end, Debian's loader is installed again, and no file of ours remains. The script makes the root once, and every run uses a copy of the
# root. I386_LIBRARY names a library for 32 bits, which the script packs and installs too.
. "$(dirname "$0")/../../make/common.sh"

HERE=$TARGET/system
GROUP=system
PACKAGES="libvulkan1 vulkan-tools mesa-vulkan-drivers libgl1-mesa-dri mesa-utils mpv ffmpeg gstreamer1.0-tools gstreamer1.0-plugins-base
gstreamer1.0-plugins-bad vulkan-validationlayers xvfb glmark2-x11 systemd udev dbus man-db bash-completion zsh fish procps"
# Packages whose .deb files the script stores: Debian's loader for the end of the test, its development package, and a driver that the test
# installs and removes. KEPT_I386 is for 32-bit programs, if packages for 32-bit programs exist for the processor.
KEPT="libvulkan1 libvulkan-dev mesa-vulkan-drivers"
KEPT_I386="libc6:i386 libgcc-s1:i386 gcc-12-base:i386 libvulkan1:i386"
CONTENT="$PACKAGES $KEPT $KEPT_I386"
BASE=$HERE/base
COPY=$HERE/root
[ "$(id -u)" = 0 ] || die 2 "making a root of Debian takes the superuser"
need mmdebstrap mmdebstrap
need dpkg-deb dpkg
need cc gcc
[ -z "$lacking" ] || die 2 "missing:$lacking"
mkdir -p "$HERE"

if [ "$(cat "$BASE/packages" 2>/dev/null)" != "$CONTENT" ]; then
    say "Making a root of Debian 12 in $BASE"
    rm -rf "$BASE" "$BASE.new"
    keep="mkdir /root/debian && cd /root/debian && apt-get download $KEPT && dpkg --add-architecture i386"
    keep+=" && { apt-get -o Acquire::Check-Valid-Until=false update; apt-get download $KEPT_I386 || true; }"
    # A mirror can still serve an index whose `Valid-Until` date has passed. The index is usable nevertheless.
    mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include="$(echo $PACKAGES | tr ' ' ,)" \
        --customize-hook="chroot \"\$1\" sh -c '$keep'" \
        bookworm "$BASE.new" >"$HERE/root.log" 2>&1 || die 2 "cannot make the root: $(tail -n 3 "$HERE/root.log") (see $HERE/root.log)"
    say "$CONTENT" >"$BASE.new/packages"
    mv "$BASE.new" "$BASE"
fi
# Folder with the packages to test. The default is packages of this commit.
DEBS=${DEBS:-}
if [ -z "$DEBS" ]; then
    make/package.sh deb >"$HERE/deb.log" 2>&1 || die 1 "no packages: $(tail -n 5 "$HERE/deb.log") (see $HERE/deb.log)"
    DEBS=$TARGET/deb
fi

rm -rf "$COPY"
cp -a --reflink=auto "$BASE" "$COPY"
trap 'rm -rf "$COPY"' EXIT

# Commands that mount the usual file systems of a program at "$root".
USUAL='mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount --rbind /sys "$root/sys"'
MOUNTS=$USUAL
# inside COMMAND...: runs a command in the root, without a network. The shell commands in MOUNTS mount file systems in the root before the
# command runs. Mounts and processes end with the command.
inside() {
    timeout --kill-after=10 900 unshare --mount --pid --net --fork --kill-child bash -euc '
        root=$1
        eval "$2"
        shift 2
        mount -t tmpfs tmpfs "$root/tmp"
        ip link set lo up 2>/dev/null || true
        exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=/tmp \
            DEBIAN_FRONTEND=noninteractive "$@"' inside "$COPY" "$MOUNTS" "$@"
}
# apt runs as root, because only root can read the folder of the package.
APT="apt-get -y -o APT::Sandbox::User=root install"
# around MOUNTS COMMAND...: does the same as `inside`, with the given MOUNTS.
around() {
    local MOUNTS=$1
    shift
    inside "$@"
}

# repack PACKAGE OUT: writes a changed copy of PACKAGE to OUT. The function `change`, which the caller defines, runs in the unpacked folder
# and changes the copy.
repack() {
    local folder=$HERE/repack
    rm -rf "$folder"
    dpkg-deb -R "$1" "$folder"
    (cd "$folder" && change)
    dpkg-deb --root-owner-group -b "$folder" "$2" >/dev/null
    rm -rf "$folder"
}
NEXT=${VERSION%.*}.$((${VERSION##*.} + 1))
next_version() {
    local library
    sed -i "s/$VERSION/$NEXT/g" DEBIAN/control
    for library in usr/lib/*/libvulkan.so.1; do
        mv "$(dirname "$library")/libvulkan.so.$VERSION" "$(dirname "$library")/libvulkan.so.$NEXT"
        ln -sfn "libvulkan.so.$NEXT" "$library"
    done
    sed -i "s/libvulkan.so.$VERSION/libvulkan.so.$NEXT/" DEBIAN/md5sums
}

installed() {
    inside dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' | awk '$2 == "installed" { print $1 }' | sort
}
# Prints the paths of libvulkan.so.1 that programs load.
found() {
    inside ldconfig -p | awk '$1 == "libvulkan.so.1" { print $NF }' | while read -r file; do
        basename "$(readlink "$COPY$file")"
    done
}
ours() {
    local name files
    for name in libvulkan1-rs vkloader vk-loader-service; do
        files=$(compgen -G "$DEBS/${name}_*.deb")
        say "${files%%$'\n'*}"
    done
}

before() {
    inside sh /root/system/programs.sh /root/before
    installed >"$HERE/before.list"
    [ "$(find "$COPY/root/before" -type f | wc -l)" -ge 10 ]
}
replaced() {
    inside sh -c 'dpkg -i /root/ours/*.deb'
    installed >"$HERE/after.list"
    # Only libvulkan1 may be missing, because our package replaces it.
    local gone came
    gone=$(comm -23 "$HERE/before.list" "$HERE/after.list" | tr '\n' ' ')
    came=$(comm -13 "$HERE/before.list" "$HERE/after.list" | tr '\n' ' ')
    say "figure gone: $gone, came: $came"
    [ "${gone%%:*}" = libvulkan1 ] && [ "$(wc -w <<<"$gone")" = 1 ]
}
consistent() {
    local wrong
    inside apt-get check
    wrong=$(inside dpkg --audit)
    say "$wrong"
    [ -z "$wrong" ]
}
shows() {
    local file
    file=$(found)
    say "figure libvulkan.so.1 is $file"
    [ "$file" = "$1" ]
}
same() {
    inside sh /root/system/programs.sh "/root/$1"
    python3 tests/system/compare.py "$COPY/root/before" "$COPY/root/$1" | sed 's/^  ok    /figure /; s/^  FAIL  /figure DIFFERS: /'
    return "${PIPESTATUS[0]}"
}
explains() {
    inside vkloader --version
    # The exit status must be 0, because lavapipe is installed and `vkloader explain` finds its device.
    inside vkloader explain >/dev/null
    inside vk-loader-service --version
    inside sh /root/system/pages.sh
}
upgraded() {
    rm "$COPY/$CATALOGUE"
    inside sh -c 'dpkg -i /root/next/*.deb'
    # The upgrade must have written the removed catalogue again, for the new library.
    [ -s "$COPY/$CATALOGUE" ]
    shows "libvulkan.so.$NEXT"
    # No file of the earlier version may remain.
    [ -z "$(compgen -G "$COPY/usr/lib/*/libvulkan.so.$VERSION")" ]
    inside vulkaninfo --summary
}
# libvulkan-dev depends on a libvulkan1 of exactly its own version. With our package alone, dpkg cannot configure libvulkan-dev, and the
# other packages stay consistent. If our package also provides that version, dpkg accepts libvulkan-dev.
headers() {
    local wanted
    wanted=$(dpkg-deb -f "$(compgen -G "$COPY/root/debian/libvulkan1_*_amd64.deb")" Version)
    not inside sh -c 'dpkg -i /root/debian/libvulkan-dev_*.deb'
    inside dpkg --purge --force-depends libvulkan-dev
    consistent
    say "figure without VKL_PROVIDES libvulkan-dev is refused"
    inside sh -c 'dpkg -i /root/provides/*.deb && dpkg -i /root/debian/libvulkan-dev_*.deb'
    consistent
    say "figure with VKL_PROVIDES=$wanted it is taken"
    inside dpkg --purge libvulkan-dev
}
back() {
    # The root has no network, so apt installs the stored package file. Users would run `apt-get install libvulkan1`.
    inside sh -c "$APT /root/debian/libvulkan1_*_amd64.deb"
    inside dpkg --purge libvulkan1-rs
    [ -z "$(compgen -G "$COPY/usr/lib/*/libvulkan.so.1.4.*")" ]
    [ -d "$COPY/etc/vulkan/icd.d" ]
    # Files that an administrator put into the folders for manifests must remain.
    echo '{}' >"$COPY/etc/vulkan/icd.d/own.json"
    inside sh -c 'dpkg --purge vkloader vk-loader-service'
    rm "$COPY/etc/vulkan/icd.d/own.json"
    [ ! -e "$COPY/var/cache/vulkan-loader" ]
    installed | diff "$HERE/before.list" -
}

. tests/system/cases.sh

begin=$SECONDS
mkdir -p "$COPY"/root/{system,ours,next,provides,bad,i386}
cp tests/system/{programs,pages,booted}.sh "$COPY/root/system/"
mapfile -t packages < <(ours)
[ ${#packages[@]} -gt 0 ] || die 1 "there are no packages in $DEBS"
cp "${packages[@]}" "$COPY/root/ours/"
change() { next_version; }
repack "${packages[0]}" "$COPY/root/next/libvulkan1-rs.deb"
change() { sed -i "s/^Provides: .*/&, libvulkan1 (= $(dpkg-deb -f "$COPY"/root/debian/libvulkan1_*_amd64.deb Version))/" DEBIAN/control; }
repack "$COPY/root/next/libvulkan1-rs.deb" "$COPY/root/provides/libvulkan1-rs.deb"
bad_drivers

debians=$(found)
check "programs run on Debian's loader" before
files >"$HERE/before.files"
check "ours is installed in its place" replaced
check "packages fit" consistent
check "programs find ours" shows "libvulkan.so.$VERSION"
check "programs do the same on ours" same after
check "the programs and their pages" explains
check "packages of drivers renew the catalogue" drivers_come_and_go
check "a driver that crashes, and one that hangs" bad_drivers_come_and_go
# The previous test can have failed, so the package can be installed or not.
inside sh -c '! dpkg-query -W bad-drivers || dpkg --purge bad-drivers' >/dev/null 2>&1
check "a root without devices and processes" bare
check "a cache that cannot be written to" read_only
check "a root that is filled from outside" from_outside
check "systemd boots with the units" boots
check "Debian's library is refused by dpkg alone" refused
if [ -n "${I386_LIBRARY:-}" ]; then
    check "beside one for 32 bits" multiarch
else
    say "  skip  $GROUP: beside one for 32 bits: I386_LIBRARY names none"
fi
check "a next version of ours" upgraded
check "packages fit after it" consistent
check "libvulkan-dev" headers
check "Debian's is back" back
check "programs find Debian's again" shows "$debians"
check "packages fit again" consistent
check "an installation that was cut off" cut_off
check "nothing is left" nothing_left
check "programs do the same as before" same again
say "Took $((SECONDS - begin)) s"
exit $failed
