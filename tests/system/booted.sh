#!/bin/sh
# Runs in the booted root, where systemd starts this script. Checks that the units behave as the manual pages describe,
# with a driver that hangs.
set -eu
catalogue=/var/cache/vulkan-loader/catalogue-x86_64.bin

# until_true WHAT COMMAND...: waits up to a minute until COMMAND succeeds. WHAT describes the awaited state in the message of a failure.
until_true() {
    what=$1
    shift
    for _ in $(seq 120); do
        ! "$@" || return 0
        sleep 0.5
    done
    echo "never: $what"
    systemctl --no-pager status 'vulkan-loader-*' || true
    exit 1
}
# not COMMAND...: succeeds only if the command fails. With `!` instead, the shell would continue in both cases.
not() {
    ! "$@"
}
state() {
    systemctl show --property "$2" --value "$1"
}
is() {
    [ "$(state "$1" "$2")" = "$3" ]
}

is vulkan-loader-catalogue.service UnitFileState enabled
is vulkan-loader-catalogue.path ActiveState active
is vulkan-loader-linker.path ActiveState active
is vulkan-loader-service.socket UnitFileState disabled
is vulkan-loader-service.socket ActiveState inactive
echo "figure enabled: the catalogue, not the service"

# The system reached multi-user.target before it started this script, although the update of the catalogue still waits for the driver that
# hangs.
is vulkan-loader-catalogue.service ActiveState activating
echo "figure the boot waits for no driver that hangs"
until_true "the catalogue is asked at boot" is vulkan-loader-catalogue.service ActiveState inactive
is vulkan-loader-catalogue.service Result success
[ -s "$catalogue" ]
vkloader catalogue show | grep -q HUNG
begun=$(state vulkan-loader-catalogue.service ExecMainStartTimestampMonotonic)
ended=$(state vulkan-loader-catalogue.service ExecMainExitTimestampMonotonic)
echo "figure the catalogue is made at boot, in $(((ended - begun) / 1000000)) s"

dpkg --purge bad-drivers
[ -s "$catalogue" ]
# At first, the update that the purge started still runs. Later, only the change of the linker's cache starts an update.
for _ in 1 2 3; do
    rm "$catalogue"
    ldconfig
    until_true "ldconfig renews it" test -s "$catalogue"
    until_true "the update ends" is vulkan-loader-catalogue.service ActiveState inactive
done
vkloader catalogue show >/root/system/shown
not grep HUNG /root/system/shown
echo "figure ldconfig renews it"

mkdir -p /usr/lib/vulkan-icd
vk-loader-service package --replace /usr/lib/x86_64-linux-gnu/libvulkan_lvp.so /usr/share/vulkan/icd.d/lvp_icd.x86_64.json /usr/lib/vulkan-icd/lavapipe
systemctl enable --now vulkan-loader-service.socket
is vulkan-loader-service.service ActiveState inactive
vkloader service || true
is vulkan-loader-service.service ActiveState active
echo "figure the first client starts the service, as $(ps -o user= -p "$(state vulkan-loader-service.service MainPID)")"
running=$(state vulkan-loader-service.service MainPID)
dpkg -i /root/ours/vk-loader-service_*.deb
is vulkan-loader-service.service ActiveState active
is vulkan-loader-service.socket ActiveState active
[ "$(state vulkan-loader-service.service MainPID)" != "$running" ]
echo "figure one that runs is started anew with its package"
dpkg --remove vk-loader-service
is vulkan-loader-service.service ActiveState inactive
is vulkan-loader-service.socket ActiveState inactive
not pgrep -x vk-loader-servi
echo "figure and ends with it"
dpkg --purge vk-loader-service
dpkg -i /root/ours/vk-loader-service_*.deb
is vulkan-loader-service.socket UnitFileState disabled
rm -r /usr/lib/vulkan-icd

failed=$(systemctl --failed --plain --no-legend)
echo "$failed"
[ -z "$failed" ]
