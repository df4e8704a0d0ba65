#!/usr/bin/env bash
# Converts the XML to the snapshot, if the XML was fetched. Then writes generated/ from snapshot and policy. The script does not write files
# with unchanged content.
#
# With the argument `check`, the script does not change the files. Two independent checks then show that the committed files follow from the
# inputs. `vkgen check` compares them in memory. The program diff compares them with the files of an empty folder into which everything is
# generated, and also finds stale files.
. "$(dirname "$0")/common.sh"

INPUT=${VKL_REGISTRY_INPUT:-registry/input}
xml=()
if [ -f "$INPUT/vk.xml" ]; then
    make/registry.sh check
    xml=(--vk-xml "$INPUT/vk.xml" --video-xml "$INPUT/video.xml")
fi
case ${1:-} in
"")
    if [ ${#xml[@]} -gt 0 ]; then
        vkgen import "${xml[@]}"
    else
        say "$INPUT/ is empty (make registry fills it): generating from the committed snapshot"
    fi
    vkgen emit
    exit
    ;;
check) ;;
*) die 3 "what is $1? check, or nothing" ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ ${#xml[@]} -gt 0 ]; then
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
