# Counts what a vk.xml provides to API `vulkan`, without a parser. The tests compare these counts with the counts of the registry crate.
#
#   awk -f count.awk vk.xml
#
# Prints the [counts] of pin.toml. Each record is a tag and the text after it. The script shares no code with the crate, so that a mistake
# in one of them does not affect the other.

BEGIN { RS = "<" }

# Returns the value of an attribute, or "" if the attribute is missing.
function attribute(name,    at, rest) {
    at = index(tag, " " name "=\"")
    if (!at) return ""
    rest = substr(tag, at + length(name) + 3)
    return substr(rest, 1, index(rest, "\"") - 1)
}

function has(name) { return index(tag, " " name "=\"") > 0 }

# Returns true if a comma-separated list of APIs names vulkan. An absent list means all APIs.
function ours(name) { return !has(name) || index("," attribute(name) ",", ",vulkan,") > 0 }

function show(key, value) { printf "%s = %d\n", key, value }

{
    end = index($0, ">")
    tag = substr($0, 1, end)
    text = substr($0, end + 1)
    gsub(/[ \t\r\n]+/, " ", tag)
    gsub(/[ \t\r\n]+/, " ", text)
    name = tag
    sub(/[ >].*/, "", name)
    closed = tag ~ /\/>$/
}

name ~ /^!/ || name ~ /^\?/ || end == 0 { next }

# Stores the chapter of the file to which the following elements belong.
name == "types" || name == "commands" { chapter = name; next }
name == "/types" || name == "/commands" { chapter = ""; next }

# Collects types: the elements and text between <type category="..."> and its end, one level deep.
chapter == "types" && name == "type" && has("category") {
    category = attribute("category")
    is_ours = ours("api")
    parent = attribute("parent")
    alias = has("alias")
    outer = attribute("name")
    macro = ""
    if (closed) category = ""
    next
}
chapter == "types" && category == "handle" && name == "type" { macro = text; next }
chapter == "types" && category == "bitmask" && name == "type" { macro = text; next }
chapter == "types" && name == "name" && category == "handle" && is_ours && !alias {
    handle[text] = macro == "VK_DEFINE_HANDLE" ? "dispatchable" : "other"
    parent_of[text] = parent
    next
}
chapter == "types" && name == "name" && category == "bitmask" && is_ours && !alias {
    if (macro == "VkFlags64") wide[text] = 1
    next
}
chapter == "types" { next }

# Collects commands: their names, aliases and arguments.
chapter == "commands" && name == "command" {
    if (has("alias")) { defined[attribute("name")] = 1; alias_of[attribute("name")] = attribute("alias"); next }
    counts_here = ours("api")
    exports_here = has("export") && ours("export")
    in_proto = 0; arguments = 0; skipping = 0
    next
}
chapter == "commands" && name == "implicitexternsyncparams" { skipping = 1; next }
chapter == "commands" && name == "/implicitexternsyncparams" { skipping = 0; next }
chapter == "commands" && !counts_here { next }
chapter == "commands" && name == "proto" { in_proto = 1; next }
chapter == "commands" && name == "/proto" { in_proto = 0; next }
chapter == "commands" && name == "name" && in_proto {
    command = text; defined[command] = 1; exported[command] = exports_here; first[command] = ""
    next
}
chapter == "commands" && name == "param" && !skipping && ours("api") { arguments++; of_type = ""; next }
chapter == "commands" && name == "type" && arguments == 1 && of_type == "" { of_type = text; next }
# The text after the type of the first argument. If the text contains a star, the argument is a pointer.
chapter == "commands" && name == "/type" && arguments == 1 && of_type != "" {
    if (index(text, "*") == 0) first[command] = of_type
    arguments = 1.5
    next
}
chapter == "commands" { next }

# Collects providers: features and extensions, with the names that they require.
name == "feature" && has("number") {
    provider = attribute("name"); counts_provider = ours("api"); number = attribute("number"); extension = 0
    next
}
name == "extension" && has("supported") {
    provider = attribute("name"); extension = 1; number = ""
    counts_provider = ours("supported")
    if (attribute("supported") == "disabled") reserved++
    if (counts_provider) {
        extensions++
        kind[provider] = attribute("type")
        platform[provider] = attribute("platform")
        if (kind[provider] == "instance") instance_extensions++
    }
    next
}
name == "/feature" || name == "/extension" { provider = ""; next }
name == "require" { in_require = counts_provider && ours("api"); conditional = has("depends"); next }
name == "/require" { in_require = 0; next }
provider == "" || !in_require { next }
name == "type" { required_type[attribute("name")] = 1; next }
name == "command" {
    command = attribute("name")
    required[command] = 1
    if (!extension) { core[command] = 1; next }
    if (!((command, provider) in given)) { given[command, provider] = 1; providers[command]++; all[command] = all[command] " " provider }
    if (!conditional) plain[command] = 1
    next
}

# Returns the level of a command by the type of its first argument: follows the parents up to an instance, physical device or device.
function level(type,    next_type, steps) {
    if (handle[type] != "dispatchable") return "global"
    if (type == "VkInstance") return "instance"
    if (type == "VkPhysicalDevice") return "physical-device"
    for (next_type = type; next_type != "" && steps < 20; steps++) {
        if (next_type == "VkDevice") return "device"
        next_type = parent_of[next_type]
    }
    return "lost"
}

# Returns true if all extensions that provide a command have the same kind, or need the same platform.
function all_are(command, table, value,    names, n, i) {
    n = split(all[command], names, " ")
    for (i = 1; i <= n; i++) if (table[names[i]] != value) return 0
    return n > 0
}

# Returns true if one of the extensions that provide a command is in a list.
function any_of(command, list,    names, n, i) {
    n = split(all[command], names, " ")
    for (i = 1; i <= n; i++) if (index(list, " " names[i] " ")) return 1
    return 0
}

END {
    surfaces = " VK_KHR_surface VK_KHR_display VK_KHR_swapchain VK_KHR_display_swapchain VK_KHR_get_surface_capabilities2" \
        " VK_KHR_get_display_properties2 VK_EXT_headless_surface "
    on_linux = surfaces "VK_KHR_xlib_surface VK_KHR_xcb_surface VK_KHR_wayland_surface "
    on_windows = surfaces "VK_KHR_win32_surface "
    for (command in required) {
        commands++
        target = (command in alias_of) ? alias_of[command] : command
        of = first[target]
        here = level(of)
        levels[here]++
        if (here == "device") by_handle[of]++
        if (command in core) core_commands++
        if (command in alias_of) { aliases++; if (target in core) aliases_of_core++ }
        else if (exported[command]) exported_definitions++
        if (providers[command] == 2) two_providers++
        if (providers[command] > most) most = providers[command]
        if (!(command in core) && !(command in plain)) conditional_commands++
        if (here == "physical-device" && !(command in core) && all_are(command, kind, "device")) of_device_extension++
        if (here == "device" && !(command in core) && all_are(command, kind, "instance")) of_instance_extension++
        if (all_are(command, platform, "provisional") && !(command in core)) provisional++
        if ((command in core) || any_of(command, on_linux)) linux++
        if ((command in core) || any_of(command, on_windows)) windows++
    }
    for (command in defined) if (!(command in required)) unlisted++
    for (type in handle) if (type in required_type) { handles++; if (handle[type] == "dispatchable") dispatchable++ }
    for (type in wide) if (type in required_type) wide_flags++

    print "[counts]"
    show("commands", commands)
    show("core-commands", core_commands)
    show("aliases", aliases)
    show("aliases-of-core", aliases_of_core)
    show("exported-definitions", exported_definitions)
    show("unlisted-commands", unlisted)
    show("two-providers", two_providers)
    show("most-providers", most)
    show("conditional-commands", conditional_commands)
    show("provisional-commands", provisional)
    show("physical-device-commands-of-device-extensions", of_device_extension)
    show("device-commands-of-instance-extensions", of_instance_extension)
    show("handles", handles)
    show("dispatchable-handles", dispatchable)
    show("wide-flags", wide_flags)
    show("extensions", extensions)
    show("instance-extensions", instance_extensions)
    show("reserved-extensions", reserved)
    print "\n[counts.level]"
    show("global", levels["global"])
    show("instance", levels["instance"])
    show("physical-device", levels["physical-device"])
    show("device", levels["device"])
    print "\n[counts.device-level-handle]"
    # Sorts the handles by use and then by name, so that the order of the table has no meaning.
    while (1) {
        best = ""
        for (type in by_handle)
            if (best == "" || by_handle[type] > by_handle[best] || by_handle[type] == by_handle[best] && type < best) best = type
        if (best == "") break
        show(best, by_handle[best])
        delete by_handle[best]
    }
    print "\n[counts.exports]"
    show("linux", linux)
    show("windows", windows)
}
