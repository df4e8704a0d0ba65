#!/usr/bin/env bash
# XML to snapshot, if the XML was fetched; snapshot and policy to generated/. Files that stay the same are not touched.
. "$(dirname "$0")/common.sh"

INPUT=${VKL_REGISTRY_INPUT:-registry/input}

if [ -f "$INPUT/vk.xml" ]; then
    make/registry.sh check
    $CARGO run --locked --quiet -p vkgen -- import --vk-xml "$INPUT/vk.xml" --video-xml "$INPUT/video.xml"
else
    say "$INPUT/ is empty (make registry fills it): generating from the committed snapshot"
fi
$CARGO run --locked --quiet -p vkgen -- emit
