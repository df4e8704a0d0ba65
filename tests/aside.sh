#!/usr/bin/env bash
# Tests a bundled library that passes all calls to the system's library if that library is newer. The tests run in roots of Debian. A tree
# like the one in an AppImage contains the bundled library and a program, which are linked with the C library of Debian 11. The tests differ
# in the library that the system has. The driver is Mesa's software driver. Arguments select roots from the list SYSTEMS. The default is all
# roots.
. "$(dirname "$0")/../make/common.sh"
. tests/roots.sh

SYSTEMS="bullseye bookworm sid"
GROUP=aside HERE=$TARGET/bundle
TREE=$HERE/AppDir SHOWN=figure
# Path at which an AppImage would mount the tree, and folder of the system's libraries.
MOUNTED=/tmp/.mount_app
FOLDER=usr/lib/x86_64-linux-gnu

for system in ${*:-$SYSTEMS}; do
    [[ " $SYSTEMS " == *" $system "* ]] || die 3 "there is no system $system, but $SYSTEMS"
done
need mmdebstrap mmdebstrap
need bwrap bubblewrap
need /usr/include/vulkan/vulkan.h libvulkan-dev
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking"
[ "$(uname -m)" = x86_64 ] || die 3 "the roots are those of x86-64"

# build FILE VALUE: builds the library, and copies it to FILE. With VALUE 1, the library passes its calls to a newer library of the system.
build() {
    VKL_STEPS_ASIDE=$2 LIBRARY_ONLY=yes SYSROOT=$sysroot CARGO_TARGET_DIR=$HERE/cargo make/build.sh
    install -D "$HERE/cargo/release/libvulkan.so" "$1"
}
# Writes the tree: a program, the library, and a script that starts the program with the tree's folder in LD_LIBRARY_PATH.
bundle() {
    library_folder "$TREE/usr/lib/libvulkan.so.1" "$HERE/programs/lib"
    CC="$HERE/cargo/linker -idirafter /usr/include" build_programs tests/programs "$HERE/programs" hello
    install -D "$HERE/programs/hello" "$TREE/usr/bin/hello"
    cat >"$TREE/AppRun" <<'RUN'
#!/bin/sh
here=${0%/*}
LD_LIBRARY_PATH=$here/usr/lib exec "$here/usr/bin/hello" "$@"
RUN
    chmod +x "$TREE/AppRun"
}

# system NAME COMMAND ARGUMENT...: copies /usr of the root NAME as hard links to $HERE/system/usr, and runs COMMAND, which can change the
# copy.
system() {
    ROOT_OF_SYSTEM=$ROOTS/$1
    rm -rf "$HERE/system" "$TREE/usr/lib/libvulkan_lvp.so" && mkdir -p "$HERE/system"
    cp -al "$ROOT_OF_SYSTEM/usr" "$HERE/system/usr"
    shift
    "$@"
}
# as_system LIBRARY NUMBERS: replaces the system's library by LIBRARY. NUMBERS is the version in the new file name.
as_system() {
    rm -f "$HERE/system/$FOLDER"/libvulkan.so.1*
    cp "$(realpath "$1")" "$HERE/system/$FOLDER/libvulkan.so.$2"
    ln -s "libvulkan.so.$2" "$HERE/system/$FOLDER/libvulkan.so.1"
}
# Removes the folder from the library path in the driver's manifest. Puts a file that has the name of the driver's library, but is not a
# library, into TREE.
hide_driver() {
    local manifest
    manifest=$(compgen -G "$HERE/system/usr/share/vulkan/icd.d/lvp_icd*.json")
    sed -i.old 's|"library_path": *".*"|"library_path": "libvulkan_lvp.so"|' "$manifest"
    rm -f "$manifest.old"
    say "not a library" >"$TREE/usr/lib/libvulkan_lvp.so"
}
# started TREE: runs the program of TREE in a sandbox with the copied /usr, and prints the output of the program and of the loaders. Fails
# if the program fails.
started() {
    local status=0
    # shellcheck disable=SC2046 -- links prints several arguments
    env -i PATH=/usr/bin:/bin VK_LOADER_DEBUG=info,error bwrap --ro-bind "$HERE/system/usr" /usr $(links "$ROOT_OF_SYSTEM") --proc /proc --dev /dev \
        --tmpfs /tmp --ro-bind "$1" "$MOUNTED" --unshare-all --die-with-parent "$MOUNTED/AppRun" >"$HERE/output" 2>&1 || status=$?
    cat "$HERE/output"
    return "$status"
}
# says TEXT: succeeds if the output of the last run contains TEXT. lacks TEXT: succeeds if the output does not contain TEXT.
says() {
    grep --quiet --fixed-strings "$1" "$HERE/output"
}
lacks() {
    not says "$1"
}

# older SYSTEM: tests the root SYSTEM with its own library, which has an older version than the bundled library.
older() {
    system "$1" true
    started "$TREE"
    says "Not stepping aside for /$FOLDER/libvulkan.so.1: version "
    lacks "Stepping aside for"
    says "1 of 1 devices worked"
}
# newer SYSTEM: tests the root SYSTEM after its library was renamed, so that the file name contains a newer version.
newer() {
    system "$1" as_system "$ROOTS/$1/$FOLDER/libvulkan.so.1" 1.9.0
    started "$TREE"
    says "Stepping aside for /$FOLDER/libvulkan.so.1, which is not older"
    says "1 of 1 devices worked"
}
# ours SYSTEM: tests the root SYSTEM with a library of this project that was built without the feature that passes calls on.
ours() {
    system "$1" as_system "$HERE/plain/libvulkan.so.1" "$VERSION"
    started "$TREE"
    says "Stepping aside for /$FOLDER/libvulkan.so.1, which is not older"
    [ "$(grep -c "Vulkan Loader Version $VERSION" "$HERE/output")" = 2 ]
    says "1 of 1 devices worked"
}
# hidden SYSTEM: tests a tree that contains a damaged file with the bare name of the driver's library. The bundled library must find the
# driver's device. A plain build in its place opens the damaged file, and finds no device.
hidden() {
    system "$1" hide_driver
    started "$TREE"
    says "1 of 1 devices worked"
    rm -rf "$HERE/other" && cp -a "$TREE" "$HERE/other"
    cp "$HERE/plain/libvulkan.so.1" "$HERE/other/usr/lib/libvulkan.so.1"
    not started "$HERE/other"
    lacks "devices worked"
}

sysroot=$(make/sysroot.sh bullseye)
mkdir -p "$HERE"
rm -rf "$TREE"
build "$HERE/plain/libvulkan.so.1" 0
build "$TREE/usr/lib/libvulkan.so.1" 1
bundle
for system in ${*:-$SYSTEMS}; do
    unpack "$system" "$system"
    check "$system: the system's library is older" older "$system"
    check "$system: Khronos's library, named newer" newer "$system"
    check "$system: this library is the system's" ours "$system"
    check "$system: a bare name that the tree hides" hidden "$system"
done
exit "$failed"
