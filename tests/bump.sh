#!/usr/bin/env bash
# Tests bump.sh in a clone of this checkout: with new headers that are valid, need a decision, break programs or are damaged, with failing
# tests, and with invalid arguments. After each failure, the clone must be unchanged, and the output must contain the reason. More tests
# interrupt the last step of bump.sh, which delivers the new files, before, after and during each command of this step. The tests need the
# pinned XML, but no network.
. "$(dirname "$0")/../make/common.sh"

[ -f registry/input/vk.xml ] || { say "SKIPPED: no registry/input/vk.xml; make registry fetches it"; exit 0; }
[ -e .git ] || { say "SKIPPED: this is not a git checkout (a source archive?), and a bump works on one"; exit 0; }
git rev-parse --is-inside-work-tree >/dev/null

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build_vkgen
build_xtask
export VKGEN XTASK
unset BREAKING BUMP_TEST
clone=$scratch/clone
git clone --quiet "$ROOT" "$clone"
mkdir -p "$clone/registry/input"
cp registry/input/vk.xml registry/input/video.xml "$clone/registry/input/"
passed=0 failed=0
PATCH=${VERSION##*.}
NEXT=${VERSION%.*}.$((PATCH + 1))

# header EDIT: writes an invented next header, by changing the pinned header with the sed program EDIT.
header() {
    local folder=$clone/registry/input/$NEXT
    mkdir -p "$folder"
    sed -e "s|<name>VK_HEADER_VERSION</name> $PATCH<|<name>VK_HEADER_VERSION</name> $((PATCH + 1))<|" -e "$1" \
        registry/input/vk.xml >"$folder/vk.xml"
    cp registry/input/video.xml "$folder/"
}

# state FOLDER: prints all files below the folder with their contents and times, including files that git ignores. Excludes the folders .git
# and target.
state() {
    (
        cd "$1"
        for print in '-printf %p\040%T@\n' '-exec sha256sum {} +'; do
            # shellcheck disable=SC2086 -- $print contains several arguments of find
            find . \( -path ./.git -o -path ./target \) -prune -o -type f $print
        done | sort
    )
}

# holds NAME COMMAND...: counts a success if the command succeeds, and a failure otherwise.
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

# bump ARGUMENT...: calls bump.sh of the clone. Sets `status` to its exit status, and writes its output to the log.
bump() {
    status=0
    "$clone/make/bump.sh" "$@" >"$scratch/log" 2>&1 || status=$?
}

# stops NAME TEXT ARGUMENT...: checks that bump.sh with the ARGUMENTs fails, prints TEXT, and changes nothing.
stops() {
    local name=$1 text=$2 before
    shift 2
    before=$(state "$clone")
    bump "$@"
    holds "$name: it fails" [ $status != 0 ]
    holds "$name: nothing changes" [ "$before" = "$(state "$clone")" ]
    holds "$name: it says why" grep -q -e "$text" "$scratch/log"
}

# refused NAME EDIT TEXT [TEST]: checks that bump.sh refuses the header that EDIT makes, prints TEXT, and changes nothing. TEST replaces the
# command that tests the header.
refused() {
    header "$2"
    BUMP_TEST=${4:-true} stops "$1" "$3" "$NEXT"
}

# -- Calls with invalid arguments --

for wrong in 1.4.0366 1.4 1.4.x 2.0.1 "1.4.1 1.4.2"; do
    stops "$wrong is no header" "^bump.sh: $wrong is no header: 1.4.N" "$wrong"
done
stops "no header" '^bump.sh: which header?'
PIP_NO_INDEX=1 stops "the newest one without a network" '^bump.sh: there is no list of headers.* pip says: ' latest
echo >>"$clone/registry/pin.toml"
stops "uncommitted changes" '^bump.sh: commit or undo your changes.*registry/pin.toml' "$NEXT"
git -C "$clone" checkout --quiet registry/pin.toml
mv "$clone/.git" "$scratch/git"
stops "no checkout" '^bump.sh: a bump needs a git checkout' "$NEXT"
mv "$scratch/git" "$clone/.git"
if [ "$(id -u)" = 0 ]; then
    chown -R 65534 "$clone"
    GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null stops "a tree of another owner" \
        '^bump.sh: .*git says of .*dubious ownership' "$NEXT"
    chown -R 0 "$clone"
else
    say "SKIPPED: only root can try a tree of another owner"
fi

# -- Headers --

refused "an unknown element needs a judgement" \
    's|</registry>|<jugglers/></registry>|' 'error\[unknown-element\]'
refused "a special command needs a treatment" \
    's|<proto><type>void</type> <name>vkCmdDraw</name></proto>|&<param><type>VkSurfaceKHR</type> <name>surface</name></param>|' \
    'vkCmdDraw'
MEMBERS='<member values="VK_STRUCTURE_TYPE_APPLICATION_INFO"><type>VkStructureType</type> <name>sType</name></member>'
MEMBERS+='<member>const <type>void</type>* <name>pNext</name></member>'
MEMBERS+='<member><type>VkPhysicalDevice</type> <name>juggler</name></member>'
STRUCTURE='<type category="struct" name="VkJugglerInfo" structextends="VkDeviceCreateInfo">'$MEMBERS'</type>'
refused "a handle in a chain of a command that has a treatment needs a review" \
    "s|</types>|$STRUCTURE&|; s|<command name=\"vkCmdDraw\" */>|<type name=\"VkJugglerInfo\"/>&|" \
    'error\[unreviewed-treatment\]: vkCreateDevice'
holds "the report says so too" grep -q 'things\? needs\? a decision' "$scratch/log"
refused "a successor that does not exist" 's|promotedto="VK_VERSION_1_4"|promotedto="VK_VERSION_1_9"|' 'error\[unknown-successor\]'
refused "a damaged file is no registry" 's|</registry>||' 'error\[not-well-formed\]'
refused "tests that fail stop the bump" '' 'the tests of the header failed' false
# ended TREE: waits until all processes of a killed bump have ended, and their lock is released. On a busy system, this takes a moment.
ended() {
    flock --timeout 60 "$1/registry" true
}
printf '#!/bin/sh\nkill -KILL 0\n' >"$scratch/killed"
chmod +x "$scratch/killed"
before=$(state "$clone")
BUMP_TEST=$scratch/killed setsid --fork --wait "$clone/make/bump.sh" "$NEXT" >"$scratch/log" 2>&1 || true
ended "$clone"
holds "a bump that is killed while it tests: nothing changes" [ "$before" = "$(state "$clone")" ]
WITHOUT='/<extension name="VK_KHR_display_swapchain"/,/<\/extension>/s|supported="vulkan,vulkansc"|supported="disabled"|'
refused "a header without a symbol that is exported" "$WITHOUT" 'vkCreateSharedSwapchainsKHR'
holds "it says that the header breaks something" grep -q "breaks what was built for $VERSION.*BREAKING=accept" "$scratch/log"

DEFINITION='<command export="vulkan"><proto><type>void</type> <name>vkCmdJuggle</name></proto>'
DEFINITION+='<param><type>VkCommandBuffer</type> <name>commandBuffer</name></param></command>'
header "s|<command name=\"vkCmdDraw\" */>|&<command name=\"vkCmdJuggle\"/>|; s|</commands>|$DEFINITION&|"
# Writes a test command for the first bump. While the first bump tests its copy, the command starts a second bump of the same tree.
printf '#!/bin/sh\nBUMP_TEST=true "%s/make/bump.sh" %s >"%s/second" 2>&1\n[ $? = 3 ]\n' "$clone" "$NEXT" "$scratch" >"$scratch/meanwhile"
chmod +x "$scratch/meanwhile"
touch "$clone/generated/.kept.swp"
BUMP_TEST=$scratch/meanwhile bump "$NEXT"
holds "a header that fits is taken" [ $status = 0 ]
holds "a second bump at the same time is refused" grep -q '^bump.sh: another bump of this tree is at work' "$scratch/second"
holds "a file that git ignores stays" rm "$clone/generated/.kept.swp"
changed=$(git -C "$clone" status --short)
for file in Cargo.toml Cargo.lock tests/fuzz/Cargo.lock registry/pin.toml registry/snapshot/commands.txt README.md \
    docs/using.md generated/trampoline/command_buffer.rs; do
    holds "$file changes with the header" grep -q "^ M $file\$" <<<"$changed"
done
# constants.rs is excluded, because it contains the header's version and therefore always changes.
unchanged=$(grep -v ' generated/types/constants.rs$' <<<"$changed" | grep -c ' generated/types/\| generated/terminator/\| generated/object_types' || true)
holds "a file in which nothing changes does not change with the header" [ "$unchanged" = 0 ]
others=$(grep -v '^ M \(Cargo\|tests/fuzz/Cargo.lock$\|registry/\|generated/\|packaging/debian/libvulkan1-rs.symbols$\|README.md$\|docs/\)' <<<"$changed" || true)
holds "nothing else changes" [ -z "$others" ]
holds "the documents name the new header" grep -q "^Header $NEXT" "$clone/README.md"
for report in md html; do
    holds "the $report report tells of the new command" grep -q vkCmdJuggle "$clone/registry-diff.$report"
done
holds "nothing is pending" [ -z "$(git -C "$clone" for-each-ref refs/worktree)" ]
holds "its worktree is gone" [ "$(git -C "$clone" worktree list | wc -l)" = 1 ]
status=0
(
    cd "$clone"
    vkgen check --vk-xml registry/input/vk.xml --video-xml registry/input/video.xml
) >"$scratch/log" 2>&1 || status=$?
holds "the tree is up to date" [ $status = 0 ]
status=0
(cd "$clone" && xtask documents --check) >"$scratch/log" 2>&1 || status=$?
holds "the documents are up to date" [ $status = 0 ]

# -- An interrupted delivery --

# Makes a small tree in its state before a bump, and in its state after the bump, which bump.sh must still deliver. In the bump, files
# change, appear and disappear, also files that git ignores.
tree=$scratch/tree old=$scratch/old new=$scratch/new
mkdir -p "$old/make" "$old/registry/input" "$old/registry/snapshot" "$old/generated/gone"
cp make/common.sh make/bump.sh "$old/make/"
echo /registry/input >"$old/.gitignore"
echo /registry-diff.md >>"$old/.gitignore"
echo /target >>"$old/.gitignore"
for file in registry/pin.toml registry/input/vk.xml generated/same.rs "generated/a b.rs" generated/gone/old.rs; do
    printf 'old %s\n' "$file" >"$old/$file"
done
cp -r "$old" "$new"
rm -r "$new/generated/gone"
mkdir "$new/generated/new"
for file in registry/input/vk.xml "generated/a b.rs" generated/new/new.rs registry-diff.md; do
    printf 'new %s\n' "$file" "$file" "$file" >"$new/$file"
done
echo 'header = "1.4.2"' >"$new/registry/pin.toml"
own() { git -C "$old" -c user.name=a -c user.email=a -c core.hooksPath=/dev/null "$@"; }
own init --quiet
own add --all
own commit --quiet --message old
# committed FOLDER PARENT: commits the content of the folder, including ignored files, and prints the commit.
committed() {
    own read-tree --empty
    own --work-tree="$1" add --all --force -- . ':!target' ':!.git'
    own commit-tree -p "$2" -m pending "$(own write-tree)"
}
pending=$(committed "$new" "$(committed "$old" HEAD)")
own read-tree HEAD
own update-ref refs/worktree/bump "$pending"

content() { (cd "$1" && find . \( -name target -o -name .git \) -prune -o -type f -exec sha256sum {} + | sort); }
BEFORE=$(content "$old") AFTER=$(content "$new")

# deliver [COMMAND...]: delivers the pending bump into a fresh tree. COMMAND receives the call of bump.sh as arguments, and can interrupt
# it. Sets `status` to the exit status.
deliver() {
    rm -rf "$tree"
    cp -r "$old" "$tree"
    status=0
    setsid --fork --wait "$@" "$tree/make/bump.sh" >"$scratch/log" 2>&1 || status=$?
    ended "$tree"
}
# finishes NAME: checks that the next call of bump.sh completes the delivery, whatever state the interrupted call left.
finishes() {
    "$tree/make/bump.sh" >"$scratch/log" 2>&1 || true
    holds "$1: the next call finishes it" [ "$(content "$tree")" = "$AFTER" ]
}
deliver env
holds "a delivery that nothing interrupts" [ "$(content "$tree") $status" = "$AFTER 0" ]
holds "it says so" grep -q 'Finishing the bump to 1.4.2' "$scratch/log"
holds "nothing of it is pending" [ -z "$(git -C "$tree" for-each-ref refs/worktree)" ]
deliver false
holds "what is pending changes nothing by itself" [ "$(content "$tree")" = "$BEFORE" ]

# Creates replacements for git, rm, mkdir and sync that count their calls. At call AT, the replacement kills the whole bump, before or after
# it runs the real program.
mkdir "$scratch/steps"
cat >"$scratch/steps/git" <<'END'
#!/bin/sh
name=${0##*/}
PATH=${PATH#*:}
number=$(($(cat "$COUNT") + 1))
echo $number >"$COUNT"
[ $number = "$AT" ] || exec "$name" "$@"
[ $HOW = before ] || "$name" "$@"
kill -KILL 0
END
chmod +x "$scratch/steps/git"
for name in rm mkdir sync; do
    ln -s git "$scratch/steps/$name"
done
export COUNT=$scratch/count AT HOW
AT=none HOW=none
echo 0 >"$COUNT"
deliver env "PATH=$scratch/steps:$PATH"
steps=$(cat "$COUNT")
holds "it has steps" [ "$steps" -gt 10 ]
for HOW in before after; do
    for ((AT = 1; AT <= steps; AT++)); do
        echo 0 >"$COUNT"
        deliver env "PATH=$scratch/steps:$PATH"
        finishes "killed $HOW step $AT"
    done
done

# Creates a replacement for git that interrupts only the command that writes files. At each system call that changes a file, strace kills
# git, or makes the call fail as if the disk were full.
mkdir "$scratch/within"
cat >"$scratch/within/git" <<'END'
#!/bin/sh
PATH=${PATH#*:}
case " $* " in
*" restore "*) exec strace -f -o "$TRACE" -e "trace=$CALL" -e "inject=$CALL:$HOW:when=$AT" git "$@" ;;
*) exec git "$@" ;;
esac
END
chmod +x "$scratch/within/git"
export TRACE=$scratch/trace CALL
if strace -f -o "$TRACE" true 2>/dev/null; then
    for CALL in openat write unlink mkdir rmdir; do
        for HOW in signal=KILL error=ENOSPC; do
            for ((AT = 1; AT < 400; AT++)); do
                deliver env "PATH=$scratch/within:$PATH"
                grep -q 'INJECTED\|killed by SIGKILL' "$TRACE" || break
                finishes "$HOW at $CALL $AT"
            done
        done
    done
else
    say "SKIPPED: this system lets no strace kill a command in the middle of its work"
fi

# Tests a pending delivery to a tree in which a file was truncated, and then to a tree in which a file was changed.
for length in 0 5; do
    deliver false
    head -c $length "$new/generated/a b.rs" >"$tree/generated/a b.rs"
    rm "$tree/registry/input/vk.xml"
    finishes "a file of $length bytes and one that is gone"
done
deliver false
echo mine >"$tree/registry/input/vk.xml"
status=0
"$tree/make/bump.sh" >"$scratch/log" 2>&1 || status=$?
holds "what was changed since is not overwritten" [ "$status $(cat "$tree/registry/input/vk.xml")" = "2 mine" ]
holds "and named" grep -q 'registry/input/vk.xml was changed since the bump to 1.4.2 began' "$scratch/log"

say "bump: $passed passed, $failed failed"
[ $failed = 0 ]
