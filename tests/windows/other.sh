#!/usr/bin/env bash
# Runs the tests of tests/windows/sources.c on another vulkan-1.dll for x86-64, under Wine. OTHER=/a/vulkan-1.dll names the file. Each group
# has a separate process, because a group can crash or hang with another library. tests/windows/other.txt lists each test whose result is
# different on the Khronos loader. The script fails if a difference has no row in this list, or if a row has no difference.
. "$(dirname "$0")/../../make/common.sh"

HERE=$TARGET/windows/other
LIST=tests/windows/other.txt

[ -f "${OTHER:-}" ] || die 3 "OTHER must name a vulkan-1.dll for x86-64"
need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
need wine wine
need xvfb-run xvfb
[ -z "$lacking" ] || die 3 "missing; apt-get install --no-install-recommends$lacking"

# of_wine WORD...: runs sources.exe with the arguments WORD.
of_wine() {
    (cd "$HERE" && HOME=$HERE WINEPREFIX=$TARGET/windows/sources-prefix WINEDEBUG=-all WINEDLLOVERRIDES="winedbg.exe=d" \
        timeout --kill-after=10 60 xvfb-run -a wine sources.exe scratch "$@" </dev/null 2>/dev/null) | tr -d '\r'
}

mkdir -p "$HERE"
make --silent -C tests/windows OUT="$HERE" DLL="$OTHER"
of_wine groups >"$HERE/groups"
: >"$HERE/log"
while read -r group; do
    status=0
    of_wine only "$group" >"$HERE/group.log" || status=$?
    cat "$HERE/group.log" >>"$HERE/log"
    sed -n "s/^FAIL  */$group: /p" "$HERE/group.log" | LC_ALL=C sort -u
    # The exit status of sources.exe is the number of failures. With any other status, the group crashed or was stopped at the time limit.
    [ "$status" -eq "$(grep -c '^FAIL ' "$HERE/group.log")" ] || say "$group: does not end"
done <"$HERE/groups" | LC_ALL=C sort >"$HERE/differs"
sed -n 's/^\([^#].*\) -> .*/\1/p' $LIST | LC_ALL=C sort >"$HERE/listed"
say "$(wc -l <"$HERE/groups") groups: $(grep -c '^ok ' "$HERE/log") cases as here, $(wc -l <"$HERE/differs") different"
diff "$HERE/listed" "$HERE/differs"
