#!/usr/bin/env bash
# Real programs as package managers have them, under the library and under another loader (PEER, as for `make peer`);
# tests/clients does the work. Arguments choose clients by parts of their names; without any all run, and tests/clients.md is written.
. "$(dirname "$0")/common.sh"

check_peer
[ -n "${VKL_LIBRARY:-}" ] || $CARGO build --locked --quiet --release -p vulkan-loader
make/programs.sh
use_peer
export VKL_PEER_LIBRARY=$PEER_LIBRARY VKL_LIBRARY=$LIBRARY VKL_PROGRAMS=$PROGRAMS VKL_CLIENTS=$TARGET/clients
if [ ${#PEER_RUN[@]} -gt 0 ]; then
    # A root of its own has no compiler: what is built from source is built here, and runs there.
    python3 tests/clients prepare "$@"
    # And it trusts only those whom its own packages name.
    trusted=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
    if [ -f "$trusted" ]; then
        cp "$trusted" "$VKL_CLIENTS/certificates.pem"
        for name in SSL_CERT_FILE PIP_CERT NODE_EXTRA_CA_CERTS npm_config_cafile; do
            export "$name=$VKL_CLIENTS/certificates.pem"
        done
    fi
fi
exec "${PEER_RUN[@]}" python3 tests/clients "$@"
