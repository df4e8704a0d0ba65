#!/usr/bin/env bash
# Tries bump.sh in a clone of this checkout: a header that fits, one that needs a decision, one that is damaged, and one
# whose tests fail. After each failure the clone must be exactly as it was. Needs the pinned XML; no network.
. "$(dirname "$0")/common.sh"

[ -f registry/input/vk.xml ] || { say "SKIPPED: no registry/input/vk.xml; make registry fetches it"; exit 0; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CARGO_TARGET_DIR=$TARGET
clone=$scratch/clone
git clone --quiet "$ROOT" "$clone"
mkdir -p "$clone/registry/input"
cp registry/input/vk.xml registry/input/video.xml "$clone/registry/input/"
passed=0 failed=0
PATCH=${VERSION##*.}
NEXT=${VERSION%.*}.$((PATCH + 1))

# header EDIT: a made-up next header, the pinned one with a sed program applied.
header() {
    local folder=$clone/registry/input/$NEXT
    mkdir -p "$folder"
    sed -e "s|<name>VK_HEADER_VERSION</name> $PATCH<|<name>VK_HEADER_VERSION</name> $((PATCH + 1))<|" -e "$1" \
        registry/input/vk.xml >"$folder/vk.xml"
    cp registry/input/video.xml "$folder/"
}

# Everything below the clone with its content and time, what git ignores included.
state() { (cd "$clone" && find . -path ./.git -prune -o -type f -printf '%p %T@ ' -exec sha256sum {} \; | sort); }

# holds NAME COMMAND...: counts whether the command succeeds.
holds() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "FAILED: $name"
        cat "$scratch/log"
    fi
}

# refused NAME EDIT TEXT [TEST]: the bump must fail, say TEXT and change nothing.
refused() {
    header "$2"
    local before status=0
    before=$(state)
    BUMP_TEST=${4:-true} "$clone/make/bump.sh" "$NEXT" >"$scratch/log" 2>&1 || status=$?
    holds "$1: it fails" [ $status != 0 ]
    holds "$1: nothing changes" [ "$before" = "$(state)" ]
    holds "$1: it says why" grep -q -e "$3" "$scratch/log"
}

refused "an unknown element needs a judgement" \
    's|</registry>|<jugglers/></registry>|' 'error\[unknown-element\]'
refused "a special command needs a treatment" \
    's|<proto><type>void</type> <name>vkCmdDraw</name></proto>|&<param><type>VkSurfaceKHR</type> <name>surface</name></param>|' \
    'error\[unclassified-command\]: vkCmdDraw\|error\[new-global-command\]: vkCmdDraw'
refused "a damaged file is no registry" 's|</registry>||' 'error\[not-well-formed\]'
refused "tests that fail stop the bump" '' 'The header stays' false

DEFINITION='<command export="vulkan"><proto><type>void</type> <name>vkCmdJuggle</name></proto>'
DEFINITION+='<param><type>VkCommandBuffer</type> <name>commandBuffer</name></param></command>'
header "s|<command name=\"vkCmdDraw\" */>|&<command name=\"vkCmdJuggle\"/>|; s|</commands>|$DEFINITION&|"
status=0
BUMP_TEST=true "$clone/make/bump.sh" "$NEXT" >"$scratch/log" 2>&1 || status=$?
holds "a header that fits is taken" [ $status = 0 ]
changed=$(git -C "$clone" status --short)
for file in Cargo.toml Cargo.lock tests/fuzz/Cargo.lock registry/pin.toml registry/snapshot/commands.txt generated/trampoline/command_buffer.rs; do
    holds "$file changes with the header" grep -q "^ M $file\$" <<<"$changed"
done
others=$(grep -v '^ M \(Cargo\|tests/fuzz/Cargo.lock$\|registry/\|generated/\)' <<<"$changed" || true)
holds "nothing else changes" [ -z "$others" ]
for report in md html; do
    holds "the $report report tells of the new command" grep -q vkCmdJuggle "$clone/registry-diff.$report"
done
cd "$clone"
holds "the tree is up to date" \
    "$TARGET/release/vkgen" check --vk-xml registry/input/vk.xml --video-xml registry/input/video.xml

say "bump: $passed passed, $failed failed"
[ $failed = 0 ]
