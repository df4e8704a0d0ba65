# Defines tests of our packages with packages of drivers, in bare roots, in a boot, and after interruptions. run.sh sources this file.

CATALOGUE=var/cache/vulkan-loader/catalogue-x86_64.bin

# Lists all files in the root $COPY, except for the data of other packages.
files() {
    (cd "$COPY" && find etc usr var lib* bin sbin opt srv -xdev \( -path var/lib/dpkg -o -path var/lib/apt -o -path var/log -o -path 'var/cache/*/*' -o \
        -path var/tmp -o -path 'var/lib/systemd/catalog*' -o -path var/lib/systemd/linger -o -path var/lib/systemd/timers -o -path 'var/lib/dbus/*' -o \
        -path etc/resolv.conf \) -prune -o -printf '%p %y\n' | sort)
}
# forgotten WORD: succeeds if the catalogue exists and does not contain the word.
forgotten() {
    [ -s "$COPY/$CATALOGUE" ]
    not grep -q "$1" "$COPY/$CATALOGUE"
}
# Lists this project's packages that dpkg still knows.
known() {
    inside dpkg-query -W -f '${binary:Package} ${db:Status-Abbrev}\n' | awk '/^(libvulkan1-rs|vkloader|vk-loader-service|bad-drivers)/'
}

# Makes a package with two drivers. One driver ends its process, and the other driver never answers.
bad_drivers() {
    local folder=$HERE/bad how
    rm -rf "$folder"
    mkdir -p "$folder"/{DEBIAN,usr/lib/bad-drivers,usr/share/vulkan/icd.d}
    for how in abort pause; do
        cc -shared -fPIC -D "END=$how()" -o "$folder/usr/lib/bad-drivers/$how.so" tests/system/driver.c
        printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "/usr/lib/bad-drivers/%s.so", "api_version": "1.3.0"}}\n' $how \
            >"$folder/usr/share/vulkan/icd.d/bad_$how.json"
    done
    printf '%s\n' "Package: bad-drivers" "Version: 1" "Architecture: amd64" "Maintainer: none <none@none.invalid>" "Description: drivers that do not work" \
        >"$folder/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$folder" "$COPY/root/bad/bad-drivers.deb" >/dev/null
}

# Tests that the catalogue changes with the packages of drivers, and that programs use the catalogue.
drivers_come_and_go() {
    local shown
    shown=$(inside vkloader catalogue show)
    grep -q lvp_icd <<<"$shown"
    inside dpkg --purge mesa-vulkan-drivers
    # The test reads the catalogue file itself, which must no longer contain the driver.
    forgotten lvp_icd
    inside sh -c 'dpkg -i /root/debian/mesa-vulkan-drivers_*_amd64.deb'
    inside vkloader catalogue show
    inside vkloader catalogue verify
    shown=$(inside sh -c 'VK_LOADER_DEBUG=driver vulkaninfo --summary 2>&1')
    say "$shown"
    say "figure $(grep -o 'of [^ ]*: by the driver catalogue' <<<"$shown" | sort -u | wc -l) of $(compgen -G "$COPY/usr/share/vulkan/icd.d/*.json" | wc -l) drivers are not opened"
    grep -q 'Not opening driver' <<<"$shown"
    grep -q llvmpipe <<<"$shown"
}
# Tests that broken drivers delay the installation only by seconds, and that all of their processes end.
bad_drivers_come_and_go() {
    local since=$SECONDS shown
    inside sh -c 'dpkg -i /root/bad/bad-drivers.deb && ! pgrep -x vkloader'
    say "figure the installation took $((SECONDS - since)) s"
    consistent
    shown=$(inside vkloader catalogue show || true)
    say "$shown"
    grep -q CRASHED <<<"$shown"
    grep -q HUNG <<<"$shown"
    since=$SECONDS
    inside vulkaninfo --summary
    say "figure vulkaninfo passes them by, and takes $((SECONDS - since)) s"
    inside dpkg --purge bad-drivers
    forgotten bad_
}
# Tests the installation in an image that has fewer devices and files than a usual system.
bare() {
    around 'mount -t tmpfs tmpfs "$root/dev"' sh -c 'dpkg -i /root/ours/*.deb'
    consistent
    # A process reads its own path from /proc. Without /proc, `vkloader` asks no driver, and the command succeeds.
    inside vkloader catalogue update
}
read_only() {
    around "$USUAL"' && mount --bind "$root/var/cache" "$root/var/cache" && mount -o remount,bind,ro "$root/var/cache"' \
        sh -c 'dpkg -i /root/ours/vkloader_*.deb && ! vkloader catalogue update && dpkg --purge vkloader'
    inside sh -c 'dpkg -i /root/ours/vkloader_*.deb'
    consistent
}
# dpkg can install packages in a root without entering the root. The scripts of packages then run on this machine, and only DPKG_ROOT names
# the root. In these scripts, only the lines of debhelper may call systemd: they reload systemd, and start the units that they enabled.
from_outside() {
    inside env DPKG_ROOT=/tmp/elsewhere sh -euc '
        mkdir -p /run/systemd/system /tmp/instead /tmp/elsewhere/var/cache/vulkan-loader /tmp/elsewhere/etc/systemd/system
        for name in vkloader systemctl deb-systemd-invoke; do
            printf "#!/bin/sh\necho %s \"\$@\" >>/tmp/called\n" $name >/tmp/instead/$name
            chmod +x /tmp/instead/$name
        done
        PATH=/tmp/instead:$PATH
        sh /var/lib/dpkg/info/vkloader.postinst configure
        for name in vkloader vk-loader-service; do
            sh /var/lib/dpkg/info/$name.prerm remove
        done
        sh /var/lib/dpkg/info/vkloader.postrm purge
        [ ! -e /tmp/elsewhere/var/cache/vulkan-loader ]
        rmdir /run/systemd/system
        cat /tmp/called
        ! grep -vxE "systemctl --system daemon-reload|deb-systemd-invoke start vulkan-loader-catalogue.path vulkan-loader-linker.path" /tmp/called'
    [ -s "$COPY/$CATALOGUE" ]
}

# Starts systemd as the first process of the root, with the environment of a container.
boots() {
    cp tests/system/booted.service "$COPY/etc/systemd/system/"
    rm -f "$COPY"/root/system/booted.{out,end,trace}
    inside dpkg -i /root/bad/bad-drivers.deb
    mkdir -p "$COPY/etc/systemd/system/multi-user.target.wants"
    ln -s ../booted.service "$COPY/etc/systemd/system/multi-user.target.wants/"
    inside sh -c 'systemd-analyze verify /lib/systemd/system/vulkan-loader-*'
    timeout --kill-after=10 300 unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child bash -euc '
        root=$1
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        # Mounts sysfs, which contains the devices of this machine, read-only.
        mount -t sysfs -o ro sysfs "$root/sys"
        mount -t tmpfs tmpfs "$root/dev"
        for name in null zero full random urandom tty; do
            : >"$root/dev/$name"
            mount --bind "/dev/$name" "$root/dev/$name"
        done
        ln -s /proc/self/fd "$root/dev/fd"
        mkdir "$root/dev/shm"
        for folder in dev/shm run tmp; do
            mount -t tmpfs tmpfs "$root/$folder"
        done
        mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
        hostname booted
        exec chroot "$root" /usr/bin/env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=console \
            --show-status=0 </dev/null' boots "$COPY" || true
    inside sh -c '! dpkg-query -W bad-drivers || dpkg --purge bad-drivers'
    rm "$COPY"/etc/systemd/system/{booted.service,multi-user.target.wants/booted.service}
    cat "$COPY"/root/system/booted.{trace,out}
    [ -s "$COPY/root/system/booted.end" ]
}

# Tests that dpkg refuses Debian's package, because our package conflicts with it. Only apt replaces one package with the other.
refused() {
    not inside sh -c 'dpkg -i /root/debian/libvulkan1_*_amd64.deb'
    inside dpkg --purge libvulkan1
    consistent
    shows "libvulkan.so.$VERSION"
}
# Tests a package for 32-bit x86, which differs from the package for x86-64 only in its architecture, the library and the library's folder.
multiarch() {
    local package
    compgen -G "$COPY/root/debian/libc6_*_i386.deb"
    change() {
        sed -i 's/^Architecture: .*/Architecture: i386/; s/libvulkan1:amd64/libvulkan1:i386/' DEBIAN/control
        mv usr/lib/x86_64-linux-gnu usr/lib/i386-linux-gnu
        cp "$I386_LIBRARY" "usr/lib/i386-linux-gnu/libvulkan.so.$VERSION"
        sed -i '/libvulkan/d' DEBIAN/md5sums
    }
    package=$(compgen -G "$DEBS/libvulkan1-rs_*.deb")
    repack "$package" "$COPY/root/i386/libvulkan1-rs.deb"
    # Debian's library for 32-bit programs remains when our package replaces the 64-bit library.
    inside sh -c 'dpkg -i /root/debian/*_i386.deb'
    consistent
    [ "$(found | sort)" = "$(printf '%s\n' "$debians" "libvulkan.so.$VERSION" | sort)" ]
    inside sh -c 'dpkg -i /root/i386/*.deb'
    consistent
    [ "$(known | awk '$1 ~ /^libvulkan1/ { print $1 }' | wc -l)" = 2 ]
    [ "$(inside ldconfig -p | grep -c 'libvulkan.so.1 ')" = 2 ]
    cc -m32 -o "$COPY/root/i386/version" tests/system/version.c -ldl
    say "figure for 32 bits: $(inside /root/i386/version)"
    # dpkg refuses to upgrade only the 64-bit package, because the packages of both architectures must have the same version.
    not inside sh -c 'dpkg -i /root/next/*.deb'
    inside sh -c 'dpkg --purge --force-remove-protected libvulkan1-rs:i386 libc6:i386 libgcc-s1:i386 gcc-12-base:i386'
    inside sh -c 'dpkg -i /root/ours/libvulkan1-rs_*.deb'
    consistent
}

# Interrupts dpkg after longer and longer times. After each interruption, a program must find a library, and dpkg must be able to continue.
cut_off() {
    local after cut=0 whole=0
    for after in 0.05 0.1 0.2 0.3 0.5 0.8 1.3; do
        if inside timeout --signal=KILL $after sh -c 'exec dpkg -i /root/ours/*.deb'; then
            whole=1
        else
            cut=$((cut + 1))
        fi
        inside vulkaninfo --summary >/dev/null
        # This command also completes interrupted triggers of other packages.
        inside sh -c 'dpkg -i /root/ours/*.deb || true; dpkg --configure -a && dpkg -i /root/ours/*.deb'
        consistent
        shows "libvulkan.so.$VERSION"
        inside sh -c "$APT /root/debian/libvulkan1_*_amd64.deb && dpkg --purge libvulkan1-rs vkloader vk-loader-service"
        consistent
        [ $whole = 0 ] || break
    done
    say "figure cut off $cut times"
    [ "$cut" -gt 0 ]
}
nothing_left() {
    [ -z "$(known)" ]
    files | diff "$HERE/before.files" -
}
