#!/usr/bin/env bash
# install | uninstall: the library, its links and its package files below DESTDIR (APP-1, APP-7, APP-8).
. "$(dirname "$0")/common.sh"

PREFIX=${PREFIX:-/usr/local}
LIBDIR=${LIBDIR:-lib}
SONAME=libvulkan.so.1
FILE=libvulkan.so.$VERSION

# LIBDIR is relative to PREFIX unless it is absolute; only then does vulkan.pc hold it as it is.
case $LIBDIR in
"$PREFIX"/*) LIBDIR=${LIBDIR#"$PREFIX"/} ;;
esac
case $LIBDIR in
/*) libdir=$LIBDIR in_pc=$LIBDIR ;;
*) libdir=$PREFIX/$LIBDIR in_pc='${exec_prefix}'/$LIBDIR ;;
esac
case $PREFIX in /*) ;; *) die 3 "PREFIX must be absolute, and is $PREFIX" ;; esac

# vulkan.pc takes blanks and most signs between quotes; what ends a quote, a comment or a list it cannot hold.
for name in PREFIX LIBDIR; do
    [[ ${!name} != *[\"\\\$\`\#\;[:cntrl:]]* ]] ||
        die 3 "$name must not contain any of \" \\ \$ \` # ; or a line end: vulkan.pc cannot name such a folder. It is ${!name}"
    # A blank there is no part of a value.
    [[ ${!name} != *" " ]] || die 3 "$name must not end in a blank, which vulkan.pc would lose. It is '${!name}'"
done

to=${DESTDIR:-}$libdir
package=$to/cmake/VulkanLoader

# The byte at offset 4 of an ELF file is 1 for 32 bits and 2 for 64.
pointer_size() {
    case $(od -An -tu1 -j4 -N1 "$1" | tr -d ' ') in
    1) echo 4 ;;
    2) echo 8 ;;
    *) die 2 "$1 is not an ELF library" ;;
    esac
}

# fill TEMPLATE FILE: replaces the words between @ signs; folders last, as they may contain anything.
fill() {
    local text
    text=$(<"packaging/$1.in")
    text=${text//@VERSION@/"$VERSION"}
    text=${text//@MAJOR@/"${VERSION%%.*}"}
    text=${text//@FILE@/"$FILE"}
    text=${text//@SONAME@/"$SONAME"}
    text=${text//@POINTER_SIZE@/"$pointer_size"}
    text=${text//@LIBDIR_FROM_EXEC_PREFIX@/"$in_pc"}
    text=${text//@PREFIX@/"$PREFIX"}
    printf '%s\n' "$text" >"$2"
    chmod 644 "$2"
}

install_all() {
    [ -f "$LIBRARY" ] || die 2 "$LIBRARY is not built: make build"
    local pointer_size
    pointer_size=$(pointer_size "$LIBRARY")
    install -d "$to/pkgconfig" "$package"
    install -m 644 "$LIBRARY" "$to/$FILE"
    ln -sfn "$FILE" "$to/$SONAME"
    ln -sfn "$SONAME" "$to/libvulkan.so"
    fill vulkan.pc "$to/pkgconfig/vulkan.pc"
    fill VulkanLoaderConfig.cmake "$package/VulkanLoaderConfig.cmake"
    fill VulkanLoaderConfigVersion.cmake "$package/VulkanLoaderConfigVersion.cmake"
    say "Installed $to/$FILE"
    [ -n "${DESTDIR:-}" ] || say "Programs find it once $libdir is searched: ldconfig, or LD_LIBRARY_PATH"
}

uninstall_all() {
    # Links go only if they are ours: another loader may have taken the name since.
    [ "$(readlink "$to/$SONAME")" != "$FILE" ] || rm -f "$to/$SONAME"
    [ -e "$to/$SONAME" ] || [ "$(readlink "$to/libvulkan.so")" != "$SONAME" ] || rm -f "$to/libvulkan.so"
    rm -f "$to/$FILE" "$to/pkgconfig/vulkan.pc" "$package"/VulkanLoaderConfig{,Version}.cmake
    local folder
    for folder in "$package" "$to/cmake" "$to/pkgconfig"; do
        rmdir "$folder" 2>/dev/null || true
    done
    say "Removed $to/$FILE"
}

case ${1:-} in
install) install_all ;;
uninstall) uninstall_all ;;
*) die 3 "which: install or uninstall?" ;;
esac
