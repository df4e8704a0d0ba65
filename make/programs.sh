#!/usr/bin/env bash
# Builds what the scripted tests run: the C programs, the one in Rust, and a mock driver with its manifest.
. "$(dirname "$0")/common.sh"

[ -f "$LIBRARY" ] || die 2 "$LIBRARY is not built: make build"
$CARGO build --locked --quiet -p ash-client -p mock-driver
library_folder "$LIBRARY" "$PROGRAMS/lib"
build_programs tests/programs "$PROGRAMS"
ln -sfn "$TARGET/debug/ash-client" "$PROGRAMS/ash-client"

# The mock driver reads the text file beside it, so it gets a folder of its own.
mock=$PROGRAMS/mock
mkdir -p "$mock"
cp "$TARGET/debug/libmock_driver.so" "$mock/libmock_driver.so"
cat >"$mock/libmock_driver.conf" <<'END'
name mock
device Mock GPU
END
cat >"$mock/mock_driver.json" <<'END'
{
    "file_format_version": "1.0.1",
    "ICD": { "library_path": "./libmock_driver.so", "api_version": "1.3.280" }
}
END
