#!/usr/bin/env bash
# Two independent answers to one question: is what is committed what the inputs give? `vkgen check` compares in memory;
# then everything is generated into an empty folder and compared by diff, so that no stale file survives.
. "$(dirname "$0")/common.sh"

# VKGEN names a generator that was already built from these sources.
vkgen() {
    if [ -x "${VKGEN:-}" ]; then "$VKGEN" "$@"; else $CARGO run --locked --quiet -p vkgen -- "$@"; fi
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

INPUT=${VKL_REGISTRY_INPUT:-registry/input}
xml=()
if [ -f "$INPUT/vk.xml" ]; then
    make/registry.sh check
    xml=(--vk-xml "$INPUT/vk.xml" --video-xml "$INPUT/video.xml")
    vkgen import "${xml[@]}" --snapshot "$scratch/snapshot" >/dev/null
    diff -r registry/snapshot "$scratch/snapshot"
    say "registry/snapshot is what vk.xml gives"
else
    say "$INPUT/ is empty (make registry fills it): the snapshot is not compared with the XML"
fi
vkgen check "${xml[@]}"
vkgen emit --generated "$scratch/generated" >/dev/null
diff -r generated "$scratch/generated"
say "generated/ is what the snapshot and the policy give"
