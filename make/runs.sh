#!/usr/bin/env bash
# runs.sh peer | differential | catalogue | clients | soak ARGUMENT...: long runs, of the behaviour tests or of real programs.
. "$(dirname "$0")/common.sh"

# Runs the behaviour tests on a Khronos loader, to show that they require the behaviour of the Khronos loader. PEER is the path of that
# loader, `sid`, or empty for the installed loader of the system. tests/peer.txt lists the known failures with reasons. A listed test that
# passes is an error. Arguments go to cargo.
peer() {
    use_peer
    say "Behaviour tests on $PEER_LIBRARY${PEER:+ ($PEER)}"
    VKL_PEER=1 VKL_LIBRARY=$PEER_LIBRARY CARGO="timeout 1800 $CARGO" cargo_beside_peer test --locked --no-fail-fast -p loader-tests "$@"
}

# Plays the scenes of tests/differential under the library and under a Khronos loader, and compares everything that drivers, layers and the
# program can see. PEER is the path of the Khronos loader, or `sid`, which is the default because tests/differential.txt explains the
# differences from the newest loader. Arguments select scenes by words in their names.
differential() {
    PEER=${PEER:-sid}
    check_peer
    library_built
    use_peer
    say "$LIBRARY and $PEER_LIBRARY ($PEER)"
    VKL_LIBRARY=$(realpath "$LIBRARY") VKL_PEER_LIBRARY=$PEER_LIBRARY cargo_beside_peer test --locked --quiet -p loader-tests --test differential -- "$@"
}

# Test modules that take long with a catalogue, and test modules about catalogues.
SLOW="catalogue catalogue_file catalogue_image catalogue_machine catalogue_reading catalogue_verified many_devices real service service_hostile service_limits service_needs service_place service_server short_memory wrong_drivers"
# Runs the behaviour tests with a driver catalogue, which `vkloader` makes for each test. Each test runs with a correct catalogue, and with
# a catalogue that has only wrong entries. Each test also runs with recorded drivers, which remain closed. tests/catalogue.txt lists the
# tests with other results, each with its reason. Arguments are groups of tests: app, drivers, layers. The default is all groups. `make
# test` runs `quick`, which has the groups app and drivers without the modules in SLOW, and without records, which take long to make. CASE
# names the tests to run, one in each line.
catalogue() {
    local name module mode modes=(current lying lazy) skipped=() groups=()
    if [ "${1:-}" = quick ]; then
        set -- app drivers
        modes=(current lying)
        for module in $SLOW; do skipped+=(--skip "$module::"); done
    fi
    [ $# -gt 0 ] || set -- app drivers layers
    for name; do
        case $name in
        app | drivers | layers) groups+=(--test "$name") ;;
        *) die 3 "there is no group $name, but app, drivers and layers" ;;
        esac
    done
    library_built
    # Builds vkloader and vk-loader-service, like make/build.sh. For one program alone, cargo would compile shared crates again, with fewer
    # features. VKL_VKLOADER names a vkloader that is already built.
    [ -n "${VKL_VKLOADER:-}" ] || build_tools vkloader vk-loader-service
    for mode in "${modes[@]}"; do
        say "The cases of $* with a $mode driver catalogue"
        VKL_TEST_CATALOGUE=$mode VKL_LIBRARY=$(realpath "$LIBRARY") VKL_VKLOADER=${VKL_VKLOADER:-$RELEASE/vkloader} \
            python3 tests/run.py --rows "$mode" -p loader-tests "${groups[@]}" -- "${skipped[@]}" || failed=1
    done
    return "$failed"
}

# Runs real programs from package registries with the library and with another loader (PEER, the same as for `peer`), through tests/clients.
# Arguments select clients by parts of their names. Without arguments, all clients run, and tests/clients.md is written.
clients() {
    check_peer
    library_built
    make/programs.sh
    use_peer
    export VKL_PEER_LIBRARY=$PEER_LIBRARY VKL_LIBRARY=$LIBRARY VKL_PROGRAMS=$PROGRAMS VKL_CLIENTS=$TARGET/clients
    if [ ${#PEER_RUN[@]} -gt 0 ]; then
        # The root of Debian has no compiler, so this system builds the programs that run in the root.
        python3 tests/clients prepare "$@"
        # The root of Debian trusts only the certificates of its own packages.
        trusted=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
        if [ -f "$trusted" ]; then
            cp "$trusted" "$VKL_CLIENTS/certificates.pem"
            for name in SSL_CERT_FILE PIP_CERT NODE_EXTRA_CA_CERTS npm_config_cafile; do
                export "$name=$VKL_CLIENTS/certificates.pem"
            done
        fi
    fi
    exec "${PEER_RUN[@]}" python3 tests/clients "$@"
}

# soak MINUTES [WORD...]: runs thousands of short processes with the real layers of this system. The code is in tests/soak. VKL_LIBRARY can
# name another library, for example the loader of the system.
soak() {
    local minutes=${1:-}
    [[ $minutes =~ ^[1-9][0-9]{0,3}$ ]] || die 3 "for how many minutes: make soak MINUTES=10"
    shift
    make/setup.sh test
    library_built
    make/programs.sh
    VKL_LIBRARY=$LIBRARY VKL_PROGRAMS=$PROGRAMS exec python3 tests/soak "$minutes" "$@"
}

case ${1:-} in
peer | differential | catalogue | clients | soak) "$@" ;;
*) die 3 "which: peer, differential, catalogue, clients or soak?" ;;
esac
