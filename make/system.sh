#!/usr/bin/env bash
# The packages in a whole Debian 12: its programs run on its own loader, then on ours in its place, give the same results; then comes a
# next version of ours, and in the end Debian's is back. The root is made at first use and kept; each run takes a copy.
. "$(dirname "$0")/common.sh"

HERE=$TARGET/system
GROUP=system
PACKAGES="libvulkan1 vulkan-tools mesa-vulkan-drivers libgl1-mesa-dri mesa-utils mpv ffmpeg gstreamer1.0-tools gstreamer1.0-plugins-base
gstreamer1.0-plugins-bad vulkan-validationlayers xvfb glmark2-x11"
BASE=$HERE/base
COPY=$HERE/root
[ "$(id -u)" = 0 ] || die 2 "making a root of Debian takes the superuser"
need mmdebstrap mmdebstrap
need dpkg-deb dpkg
[ -z "$lacking" ] || die 2 "missing:$lacking"
mkdir -p "$HERE"

if [ "$(cat "$BASE/packages" 2>/dev/null)" != "$PACKAGES" ]; then
    say "Making a root of Debian 12 in $BASE"
    rm -rf "$BASE" "$BASE.new"
    # Debian's loader is kept to go back to, and what developers install beside it.
    mmdebstrap --variant=apt --include="$(echo $PACKAGES | tr ' ' ,)" \
        --customize-hook='chroot "$1" sh -c "mkdir /root/debian && cd /root/debian && apt-get download libvulkan1 libvulkan-dev"' \
        bookworm "$BASE.new" >"$HERE/root.log" 2>&1 || die 2 "cannot make the root: $(tail -n 3 "$HERE/root.log") (see $HERE/root.log)"
    say "$PACKAGES" >"$BASE.new/packages"
    mv "$BASE.new" "$BASE"
fi
# Packages of this very commit; DEBS is a folder with others.
DEBS=${DEBS:-}
if [ -z "$DEBS" ]; then
    make/deb.sh >"$HERE/deb.log" 2>&1 || die 1 "no packages: $(tail -n 5 "$HERE/deb.log") (see $HERE/deb.log)"
    DEBS=$TARGET/deb
fi

rm -rf "$COPY"
cp -a --reflink=auto "$BASE" "$COPY"
trap 'rm -rf "$COPY"' EXIT

# inside COMMAND...: in the root, without a network; its mounts and processes end with it.
inside() {
    timeout --kill-after=10 900 unshare --mount --pid --net --fork --kill-child bash -c '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mount -t tmpfs tmpfs "$root/tmp"
        ip link set lo up 2>/dev/null || true
        exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=/tmp \
            DEBIAN_FRONTEND=noninteractive "$@"' inside "$COPY" "$@"
}

# repack NAME FROM OUT: a copy of a package, changed by the function `change`, which runs in its unpacked folder.
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
# Which file programs get.
found() {
    inside ldconfig -p | awk '$1 == "libvulkan.so.1" { print $NF }' | while read -r file; do
        basename "$(readlink "$COPY$file")"
    done
}
ours() {
    local name
    for name in libvulkan1-rs vkloader vk-loader-service; do
        compgen -G "$DEBS/${name}_*.deb" | head -n 1
    done
}

before() {
    inside sh /root/system/programs.sh /root/before
    installed >"$HERE/before.list"
    [ "$(ls "$COPY/root/before" | wc -l)" -ge 10 ]
}
replaced() {
    inside sh -c 'dpkg -i /root/ours/*.deb'
    installed >"$HERE/after.list"
    # Gone is nothing but the one package that ours stand in for.
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
    # There is lavapipe.
    inside vkloader explain >/dev/null
    inside vk-loader-service --version
    local name
    for name in vkloader vk-loader-service; do
        inside test -s /usr/share/man/man1/$name.1.gz -a -s /usr/share/bash-completion/completions/$name
    done
    # It runs for whoever asks for it, and was not asked.
    inside test -s /lib/systemd/system/vulkan-loader-service.socket -a ! -e /etc/systemd/system/sockets.target.wants/vulkan-loader-service.socket
}
# A driver's package that comes or goes renews the catalogue; one that says nothing of drivers leaves it.
catalogue() {
    local file
    file=$(inside sh -c 'ls /var/cache/vulkan-loader/catalogue-*.json')
    inside rm "$file"
    inside sh -c 'dpkg-trigger --by-package=mesa-vulkan-drivers --no-await /usr/share/vulkan/icd.d && dpkg --triggers-only --pending'
    inside test -s "$file"
    inside vkloader catalogue show
    say "figure $file"
}
upgraded() {
    inside sh -c 'dpkg -i /root/next/*.deb'
    shows "libvulkan.so.$NEXT"
    # Nothing of the earlier one is left.
    [ -z "$(compgen -G "$COPY/usr/lib/*/libvulkan.so.$VERSION")" ]
    inside vulkaninfo --summary
}
# libvulkan-dev asks for the loader of its own version: it is refused, and nothing breaks; a package that was told to provide that
# version too is taken.
headers() {
    local wanted
    wanted=$(dpkg-deb -f "$(compgen -G "$COPY/root/debian/libvulkan1_*.deb")" Version)
    if inside sh -c 'dpkg -i /root/debian/libvulkan-dev_*.deb'; then
        return 1
    fi
    inside dpkg --purge --force-depends libvulkan-dev
    consistent
    say "figure without VKL_PROVIDES libvulkan-dev is refused"
    inside sh -c 'dpkg -i /root/provides/*.deb && dpkg -i /root/debian/libvulkan-dev_*.deb'
    consistent
    say "figure with VKL_PROVIDES=$wanted it is taken"
    inside dpkg --purge libvulkan-dev
}
back() {
    # As `apt-get install libvulkan1` where there is a network.
    inside sh -c 'apt-get -y install /root/debian/libvulkan1_*.deb'
    inside dpkg --purge libvulkan1-rs
    [ -z "$(compgen -G "$COPY/usr/lib/*/libvulkan.so.1.4.*")" ]
    [ -d "$COPY/etc/vulkan/icd.d" ]
    inside sh -c 'dpkg --purge $(dpkg-query -W -f "\${Package} " "vkloader" "vk-loader-service" 2>/dev/null)'
    installed | diff "$HERE/before.list" -
}

begin=$SECONDS
mkdir -p "$COPY"/root/{system,ours,next,provides}
cp tests/system/programs.sh "$COPY/root/system/"
mapfile -t packages < <(ours)
[ ${#packages[@]} -gt 0 ] || die 1 "there are no packages in $DEBS"
cp "${packages[@]}" "$COPY/root/ours/"
change() { next_version; }
repack "${packages[0]}" "$COPY/root/next/libvulkan1-rs.deb"
change() { sed -i "s/^Provides: .*/&, libvulkan1 (= $(dpkg-deb -f "$COPY"/root/debian/libvulkan1_*.deb Version))/" DEBIAN/control; }
repack "$COPY/root/next/libvulkan1-rs.deb" "$COPY/root/provides/libvulkan1-rs.deb"

debians=$(found)
check "programs run on Debian's loader" before
check "ours is installed in its place" replaced
check "packages fit" consistent
check "programs find ours" shows "libvulkan.so.$VERSION"
check "programs do the same on ours" same after
check "vkloader explains the system" explains
if inside vkloader catalogue update --help >/dev/null 2>&1; then
    check "packages of drivers renew the catalogue" catalogue
fi
check "a next version of ours" upgraded
check "packages fit after it" consistent
check "libvulkan-dev" headers
check "Debian's is back" back
check "programs find Debian's again" shows "$debians"
check "packages fit again" consistent
check "programs do the same as before" same again
say "Took $((SECONDS - begin)) s"
exit $failed
