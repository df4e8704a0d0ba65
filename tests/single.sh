#!/usr/bin/env bash
# Tests the single file of `make single` in systems with different C libraries. The systems are roots of Debian and Ubuntu with Mesa's
# software driver, a root with musl and a driver in C, and a sandbox that contains only /usr. Arguments select systems from the list
# SYSTEMS. The default is all systems.
# The script makes each root once and then uses it again. UBUNTU names a mirror of Ubuntu with the options of a line in sources.list, such
# as "[signed-by=/usr/share/keyrings/ubuntu-archive-keyring.gpg] MIRROR". Without this variable, the script skips Ubuntu.
. "$(dirname "$0")/../make/common.sh"
. tests/roots.sh

SYSTEMS="bullseye bookworm trixie sid ubuntu musl usr"
FILE=$TARGET/single/vkloader
GROUP=single HERE=$TARGET/single/tried

need mmdebstrap mmdebstrap
need bwrap bubblewrap
need musl-gcc musl-tools
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking"
[ -x "$FILE" ] || die 2 "there is no $FILE: make single"
mkdir -p "$HERE" "$ROOTS"

# Makes a root with the C library musl, a shell, this loader, and a driver that is built for musl.
unpack_musl() {
    local root=$ROOTS/musl
    [ -d "$root" ] && return
    rm -rf "$root.new"
    mkdir -p "$root.new"/{bin,lib,usr/share/vulkan/icd.d}
    cp "$TARGET/single/sets/musl/libvulkan.so.1" "$root.new/lib"
    cp "$(musl_library)" "$root.new/lib/ld-musl-x86_64.so.1"
    ln -s ld-musl-x86_64.so.1 "$root.new/lib/libc.so"
    printf 'int main(void) { return 0; }\n' | musl-gcc -x c -o "$root.new/bin/sh" -
    musl-gcc -idirafter /usr/include -std=gnu11 -O1 -fPIC -shared tests/targets/driver.c -o "$root.new/lib/driver.so"
    printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "/lib/driver.so", "api_version": "1.0.0"}}\n' \
        >"$root.new/usr/share/vulkan/icd.d/driver.json"
    mv "$root.new" "$root"
}
musl_library() {
    realpath /lib/ld-musl-x86_64.so.1
}

# explained ARGUMENT...: runs `vkloader explain` from the single file in a sandbox. The ARGUMENTs are for bubblewrap. A device must be
# usable, and no file or process may remain after the run.
explained() {
    local status=0 left=$HERE/tmp
    rm -rf "$left" && mkdir -p "$left"
    env -i PATH=/usr/bin:/bin bwrap "$@" --proc /proc --dev /dev --bind "$left" /tmp --ro-bind "$FILE" /tmp.vkloader \
        --unshare-all --die-with-parent /tmp.vkloader explain --summary >"$HERE/output" 2>&1 || status=$?
    cat "$HERE/output"
    [ "$status" -eq 0 ] || return 1
    [ -z "$(ls -A "$left")" ] || { ls -lR "$left"; return 1; }
    sed -n 's/^/figure /p' "$HERE/output" | sed -n 1,3p
}
in_root() {
    explained --ro-bind "$ROOTS/$1/usr" /usr $(links "$ROOTS/$1")
}

for system in ${*:-$SYSTEMS}; do
    MIRROR=
    case $system in
    bullseye | bookworm | trixie | sid) unpack "$system" "$system" ;;
    ubuntu)
        [ -n "${UBUNTU:-}" ] || { say "  skip  single: Ubuntu: UBUNTU names no mirror"; continue; }
        MIRROR="deb $UBUNTU jammy main universe"
        unpack ubuntu jammy
        ;;
    musl) unpack_musl ;;
    usr)
        check "a sandbox that sees only /usr" explained --ro-bind /usr /usr $(links /)
        continue
        ;;
    *) die 3 "there is no system $system, but $SYSTEMS" ;;
    esac
    check "$system" in_root "$system"
done
exit "$failed"
