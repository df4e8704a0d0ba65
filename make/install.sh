#!/usr/bin/env bash
# install | uninstall: installs or removes the library, vkloader and the driver service. The library has its links, vulkan.pc and CMake
# files, and vkloader has its own library. The programs have units, manual pages and completions. All paths are below DESTDIR (APP-1, APP-7,
# APP-8).
#
# install-32: installs vkloader of a 32-bit build with its library. The 64-bit vkloader below the same PREFIX also examines 32-bit programs
# with that library. CATALOGUE=no makes no driver catalogue. UNITS=no installs neither the units nor the udev rule. UNITDIR and RULESDIR
# name other folders for the units and the rule, absolute or below PREFIX. LIBRARY_ONLY=yes installs or removes the library alone, without
# programs, pages and units.
#
# framework | ios-framework: installs the library as vulkan.framework below DESTDIR, in the form that macOS or iOS requires.
. "$(dirname "$0")/common.sh"

# All users must be able to read installed files, even if the installing user has a stricter umask.
umask 022

PREFIX=${PREFIX:-/usr/local}
LIBDIR=${LIBDIR:-lib}
# Folder of zsh completions, below PREFIX. Debian's folder is different from the folder of most systems.
ZSHDIR=${ZSHDIR:-share/zsh/site-functions}
# Mode of the library's file. As in CMake, the default is 644 on Debian and its derivatives, and 755 on other systems, for example Fedora,
# SUSE, Arch and Gentoo.
if [ -z "${LIBMODE:-}" ]; then
    LIBMODE=755
    [ ! -e /etc/debian_version ] || LIBMODE=644
fi
[[ $LIBMODE == ?(0)[0-7][0-7][0-7] ]] || die 3 "LIBMODE must be a mode such as 644, and is $LIBMODE"
# File name of the library, names of the links to it, and the name (SONAME) in the library.
case $LIBRARY in
*.dylib) FILE=libvulkan.$VERSION.dylib LINK=libvulkan.1.dylib PLAIN=libvulkan.dylib SONAME=@rpath/libvulkan.1.dylib ;;
*) FILE=libvulkan.so.$VERSION LINK=libvulkan.so.1 PLAIN=libvulkan.so SONAME=libvulkan.so.1 ;;
esac

# LIBDIR is relative to PREFIX unless it is absolute. vulkan.pc contains an absolute LIBDIR unchanged.
case $LIBDIR in
"$PREFIX"/*) LIBDIR=${LIBDIR#"$PREFIX"/} ;;
esac
case $LIBDIR in
/*) libdir=$LIBDIR in_pc=$LIBDIR ;;
*) libdir=$PREFIX/$LIBDIR in_pc='${exec_prefix}'/$LIBDIR ;;
esac
case $PREFIX in /*) ;; *) die 3 "PREFIX must be absolute, and is $PREFIX" ;; esac

# In vulkan.pc, quoted values may contain blanks and most other characters. The script refuses characters that end a quote, begin a comment
# or separate the elements of a list.
for name in PREFIX LIBDIR; do
    [[ ${!name} != *[\"\\\$\`\#\;[:cntrl:]]* ]] ||
        die 3 "$name must not contain any of \" \\ \$ \` # ; or a line end: vulkan.pc cannot name such a folder. It is ${!name}"
    # pkg-config removes a blank at the end of a value.
    [[ ${!name} != *" " ]] || die 3 "$name must not end in a blank, which vulkan.pc would lose. It is '${!name}'"
done

to=${DESTDIR:-}$libdir
programs=${DESTDIR:-}$PREFIX/bin
# below_prefix FOLDER: prints an absolute folder unchanged, and any other folder below PREFIX.
below_prefix() {
    case $1 in /*) printf %s "$1" ;; *) printf %s "$PREFIX/$1" ;; esac
}
units=${DESTDIR:-}$(below_prefix "${UNITDIR:-lib/systemd/system}")
rules=${DESTDIR:-}$(below_prefix "${RULESDIR:-lib/udev/rules.d}")
# Folder for the library of vkloader. vkloader uses this library on systems whose programs use another loader, or have no loader.
CARRIED=libexec/vulkan-loader-rs
carried=${DESTDIR:-}$PREFIX/$CARRIED
# The number 70 in the name makes udev read this file of rules after systemd's rules, which name devices.
RULES=70-vulkan-loader-catalogue.rules
UNIT_FILES=(vulkan-loader-service.{service,socket} vulkan-loader-catalogue.{service,path} vulkan-loader-linker.path)
package=$to/cmake/VulkanLoader
# LIBRARY_ONLY=yes is for the library of a second architecture, if the programs are already installed. The programs read files about
# processes and devices that only Linux has, so other systems get no programs.
has_programs=yes
[ "$PLAIN" = libvulkan.so ] && [ "${LIBRARY_ONLY:-}" != yes ] || has_programs=no
# First line of files whose names other loaders use too, which shows that this script installed the file.
MARK='Installed by vulkan-loader-rs, whose make uninstall removes it.'

# Prints the pointer size of a file. The byte at offset 4 of an ELF file is 1 for 32 bits and 2 for 64. Object files of Apple's systems, and
# their files for several processors, begin with other numbers.
pointer_size() {
    case $(od -An -tx1 -N5 "$1" | tr -d ' ') in
    7f454c4601) echo 4 ;;
    7f454c4602 | cffaedfe* | cafebabe*) echo 8 ;;
    *) die 2 "$1 is neither an ELF library nor one of macOS" ;;
    esac
}

# fill TEMPLATE FILE: writes FILE from packaging/TEMPLATE.in, and replaces the words between @ signs. Replaces the words for folders last,
# because the name of a folder may contain anything, even @ signs.
fill() {
    local text
    text=$(<"packaging/$1.in")
    text=${text//@MARK@/"$MARK"}
    text=${text//@VERSION@/"$VERSION"}
    text=${text//@MAJOR@/"${VERSION%%.*}"}
    text=${text//@FILE@/"$FILE"}
    text=${text//@SONAME@/"$SONAME"}
    text=${text//@POINTER_SIZE@/"$pointer_size"}
    text=${text//@LIBDIR_FROM_EXEC_PREFIX@/"$in_pc"}
    # For systemd, a percent sign starts a specifier.
    text=${text//@UNIT_PREFIX@/"${PREFIX//%/%%}"}
    text=${text//@PREFIX@/"$PREFIX"}
    printf '%s\n' "$text" >"$2"
    chmod 644 "$2"
}

# page_files: prints each manual page and completion, with its path below PREFIX.
page_files() {
    local file name
    for file in "$PAGES"/man/*.[1-9]; do
        printf '%s\t%s\n' "$file" "share/man/man${file##*.}/${file##*/}"
    done
    for name in vkloader vk-loader-service; do
        printf '%s\t%s\n' "$PAGES/bash/$name.bash" "share/bash-completion/completions/$name" \
            "$PAGES/fish/$name.fish" "share/fish/vendor_completions.d/$name.fish" "$PAGES/zsh/_$name" "$ZSHDIR/_$name"
    done
}

install_pages() {
    local file place
    [ "$PAGES" != no ] || return 0
    if [ ! -d "$PAGES/man" ]; then
        say "$PAGES does not exist: manual pages and completions are not installed (make build writes them)"
        return 0
    fi
    while IFS=$'\t' read -r file place; do
        install -d "${DESTDIR:-}$PREFIX/$(dirname "$place")"
        install -m 644 "$file" "${DESTDIR:-}$PREFIX/$place"
    done < <(page_files)
}

# Removes manual pages, which are named after a program, or after a program and one of its commands.
uninstall_pages() {
    local base=${DESTDIR:-}$PREFIX name folder
    for name in vkloader vk-loader-service; do
        rm -f "$base/share/man/man"[18]"/$name".[18] "$base/share/man/man"[18]"/$name"-*.[18] "$base/share/bash-completion/completions/$name" \
            "$base/share/fish/vendor_completions.d/$name.fish" "$base/$ZSHDIR/_$name"
    done
    rm -f "$base/share/man/man5/vk-loader-service.json.5" "$base/share/man/man7/vulkan-loader.7"
    for folder in share/man/man{1,5,7,8} share/bash-completion/completions share/fish/vendor_completions.d "$ZSHDIR"; do
        rmdir "$base/$folder" 2>/dev/null || true
        # The folders of manual pages belong to the system. The folders of completions may have been created by this script, so they are
        # removed if they are empty.
        [[ $folder == share/man/* ]] || rmdir "$base/${folder%/*}" 2>/dev/null || true
    done
}

install_units() {
    local name
    install -d "$units" "$rules"
    for name in "${UNIT_FILES[@]}"; do
        fill "systemd/$name" "$units/$name"
    done
    install -m 644 packaging/systemd/vulkan-loader-catalogue.rules "$rules/$RULES"
}

# install_carried PREFIX: installs the private library of the vkloader below PREFIX.
install_carried() {
    install -d "$1/$CARRIED"
    install -m "$LIBMODE" "$LIBRARY" "$1/$CARRIED/libvulkan.so.1"
}

install_32() {
    [ -f "$LIBRARY" ] || die 2 "$LIBRARY is not built: make build with CARGO_BUILD_TARGET"
    [ -f "$TOOLS/vkloader" ] || die 2 "$TOOLS/vkloader is not built: make build with CARGO_BUILD_TARGET"
    [ "$(pointer_size "$LIBRARY")" = 4 ] || die 3 "$LIBRARY is not for 32 bits"
    install -d "$carried/32/bin"
    install -m 755 "$TOOLS/vkloader" "$carried/32/bin/vkloader"
    install_carried "$carried/32"
    say "Installed $carried/32/bin/vkloader"
}

install_all() {
    [ -f "$LIBRARY" ] || die 2 "$LIBRARY is not built: make build"
    local pointer_size
    pointer_size=$(pointer_size "$LIBRARY")
    install -d "$to/pkgconfig" "$package"
    if [ "$has_programs" = yes ]; then
        install -d "$programs"
        local name
        for name in vkloader vk-loader-service; do
            [ -f "$TOOLS/$name" ] || die 2 "$TOOLS/$name is not built: make build"
            install -m 755 "$TOOLS/$name" "$programs/$name"
        done
        install_carried "${DESTDIR:-}$PREFIX"
        install_pages
        [ "${UNITS:-}" = no ] || install_units
    fi
    install -m "$LIBMODE" "$LIBRARY" "$to/$FILE"
    ln -sfn "$FILE" "$to/$LINK"
    ln -sfn "$LINK" "$to/$PLAIN"
    fill vulkan.pc "$to/pkgconfig/vulkan.pc"
    fill VulkanLoaderConfig.cmake "$package/VulkanLoaderConfig.cmake"
    fill VulkanLoaderConfigVersion.cmake "$package/VulkanLoaderConfigVersion.cmake"
    say "Installed $to/$FILE"
    [ "$LINK" != libvulkan.so.1 ] || [ -n "${DESTDIR:-}" ] || say "Programs find it once $libdir is searched: ldconfig, or LD_LIBRARY_PATH"
    install_catalogue
}

# Removes the programs with their libraries, units and pages.
uninstall_programs() {
    local name folder
    for name in "${UNIT_FILES[@]}"; do
        rm -f "$units/$name"
    done
    rm -f "$programs"/{vkloader,vk-loader-service} "$rules/$RULES"
    rm -f "$carried/libvulkan.so.1" "$carried/32/bin/vkloader" "$carried/32/$CARRIED/libvulkan.so.1"
    uninstall_pages
    for folder in "$carried/32/bin" "$carried/32/$CARRIED" "$carried/32/libexec" "$carried/32" "$carried" "${carried%/*}" \
        "$units" "${units%/*}" "$rules" "${rules%/*}"; do
        rmdir "$folder" 2>/dev/null || true
    done
}

uninstall_all() {
    uninstall_catalogue
    # Removes a link only if it points to the installed file, because another loader may have replaced the link since.
    [ "$(readlink "$to/$LINK")" != "$FILE" ] || rm -f "$to/$LINK"
    [ -e "$to/$LINK" ] || [ "$(readlink "$to/$PLAIN")" != "$LINK" ] || rm -f "$to/$PLAIN"
    local name folder
    [ "$has_programs" = no ] || uninstall_programs
    rm -f "$to/$FILE"
    for name in "$to/pkgconfig/vulkan.pc" "$package"/VulkanLoaderConfig{,Version}.cmake; do
        ! grep -qsF "# $MARK" "$name" || rm -f "$name"
    done
    for folder in "$package" "$to/cmake" "$to/pkgconfig"; do
        rmdir "$folder" 2>/dev/null || true
    done
    say "Removed $to/$FILE"
}

# is_of_system: succeeds if root installs the programs, with a catalogue, on the running system. The prefix must be one below which programs
# search for libraries, and systemd for units.
is_of_system() {
    [ -z "${DESTDIR:-}" ] && [ "$(id -u)" = 0 ] && [ "$has_programs" = yes ] && [ "${CATALOGUE:-yes}" = yes ] || return 1
    case $PREFIX in /usr | /usr/local) ;; *) return 1 ;; esac
}

# Makes a driver catalogue, and starts the units that update it. The installation succeeds even if one of these steps fails, because
# programs open every driver if there is no catalogue.
install_catalogue() {
    is_of_system || return 0
    if [ -d /run/systemd/system ] && [ "${UNITS:-}" != no ]; then
        systemctl daemon-reload && systemctl enable --now vulkan-loader-{catalogue,linker}.path &&
            systemctl enable vulkan-loader-catalogue.service || say "systemd did not take the units of the driver catalogue"
    fi
    timeout --kill-after=5 120 "$programs/vkloader" catalogue update --library "$to/$LINK" </dev/null ||
        say "No driver catalogue was made: vkloader catalogue update tries again"
}

uninstall_catalogue() {
    is_of_system || return 0
    if [ -d /run/systemd/system ] && [ -e "$units/vulkan-loader-catalogue.path" ]; then
        systemctl disable --now vulkan-loader-{catalogue,linker}.path vulkan-loader-catalogue.service || true
    fi
    rm -rf /var/cache/vulkan-loader
}

# framework INSIDE RESOURCES: writes a framework. The library goes into the folder INSIDE, and its description into RESOURCES. If INSIDE is
# not the top folder, links in the top folder point to the library and to RESOURCES.
framework() {
    local inside=$1 resources=$2 root=$to/vulkan.framework
    [ -f "$LIBRARY" ] || die 2 "$LIBRARY is not built: make build"
    local pointer_size
    pointer_size=$(pointer_size "$LIBRARY")
    install -d "$root/$inside" "$root/$resources"
    install -m 755 "$LIBRARY" "$root/$inside/vulkan"
    fill Info.plist "$root/$resources/Info.plist"
    if [ "$inside" != . ]; then
        ln -sfn A "$root/Versions/Current"
        ln -sfn Versions/Current/vulkan "$root/vulkan"
        ln -sfn Versions/Current/Resources "$root/Resources"
    fi
    # Programs that are linked against the library search for the install name that the library contains.
    local name=@rpath/vulkan.framework/$inside/vulkan
    name=${name/.\//}
    if command -v install_name_tool >/dev/null; then
        install_name_tool -id "$name" "$root/$inside/vulkan"
    else
        say "There is no install_name_tool here: the library is still named $SONAME inside"
    fi
    say "Installed $root"
}

case ${1:-} in
install) install_all ;;
install-32) install_32 ;;
framework) framework Versions/A Versions/A/Resources ;;
ios-framework) framework . . ;;
uninstall) uninstall_all ;;
*) die 3 "which: install, install-32, uninstall, framework or ios-framework?" ;;
esac
