#!/usr/bin/env bash
# XML to snapshot, if the XML was fetched; snapshot and policy to generated/. Files that stay the same are not touched.
. "$(dirname "$0")/common.sh"

if [ -f registry/input/vk.xml ]; then
    $CARGO run --locked --quiet -p vkgen -- import \
        --vk-xml registry/input/vk.xml --video-xml registry/input/video.xml
else
    say "registry/input/ is empty (make registry fills it): generating from the committed snapshot"
fi
$CARGO run --locked --quiet -p vkgen -- emit
