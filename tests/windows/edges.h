/* Tests extreme answers of the system for tests/windows/sources.c. Some values, lists and adapters change between
 * two queries or never end, and some queries fail. Names and paths have the maximum length, and calls fail with many
 * different error numbers. */
#pragma once
#include "drivers.h"

/* Tests that the loader reads values whose names have up to 2,047 UTF-16 units (LAY-48), and that a longer name ends the
 * list. Wine sorts values by name, so the root's path determines if the first layer precedes the longer name. */
static void long_names(void) {
    static wchar_t name[2100];
    const wchar_t *last = layer(L"z\\last.json", "last");
    for (int length = 2047; length < 2049; length++) {
        fresh();
        const int head = swprintf(name, 2100, L"C:\\");
        for (int at = head; at < length; at++)
            name[at] = 'n';
        name[length] = 0;
        listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"a\\first.json", "first"));
        listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", name);
        listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", last);
        const int is_whole = length == 2047, first = wcscmp(root, name) < 0;
        const char *expected = is_whole ? "first last " : first ? "first " : "";
        is(layers(), first || is_whole ? expected : "", is_whole ? "LAY-48 a name as long as the longest" : "LAY-48 one that is longer ends the list");
    }
}

static void changing_values(void) {
    static const struct { int growing; DWORD told; const char *found, *what; } rows[] = {
        {0, 0, "one ", "LAY-50 the value of a device"},
        {1, 0, "one ", "LAY-50 one that grows between two questions"},
        {1000, 0, "", "LAY-50 one that grows without end"},
        {0, ERROR_ACCESS_DENIED, "", "LAY-50 one that may not be read"},
    };
    fresh();
    with_devices = with_kernel = 1;
    const wchar_t *at = layer(L"v\\one.json", "one");
    held_by(4, L"Other", REG_SZ, L"", 2);
    held_by(1, L"VulkanExplicitLayers", REG_SZ, at, wcslen(at) * 2 + 2);
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        registry.growing = rows[row].growing, registry.told = rows[row].told, registry.asked = 0;
        is(layers(), rows[row].found, rows[row].what);
        check(registry.asked > 0 && registry.asked < 20, "LAY-50 after few questions");
    }
    registry.growing = registry.told = 0;
    static wchar_t large[(1 << 19) + 1];
    wcscpy(large, at);
    held_by(1, L"VulkanExplicitLayers", REG_SZ, large, 1 << 20);
    is(layers(), "one ", "LAY-50 one of a megabyte");
    held_by(1, L"VulkanExplicitLayers", REG_SZ, large, sizeof large);
    is(layers(), "", "LAY-50 a larger one is not read");
}

/* Tests a configuration manager whose answers change or fail. 13 is CR_NO_SUCH_DEVNODE. */
static void changing_devices(void) {
    static const struct { int small, length, lists, unnamed, unclassed, unlocated; const char *found, *what; } rows[] = {
        {2, 0, 0, 0, 0, 0, "device3 device4 ", "LAY-49 a device that comes between two questions"},
        {1000, 0, 0, 0, 0, 0, "", "LAY-49 devices that come without end"},
        {0, 1 << 20, 0, 0, 0, 0, "device3 device4 ", "LAY-49 a list of the greatest length"},
        {0, (1 << 20) + 1, 0, 0, 0, 0, "", "LAY-49 a list that is longer"},
        {0, 0, 13, 0, 0, 0, "", "LAY-49 a list that fails"},
        {0, 0, 0, 13, 0, 0, "device3 device4 ", "LAY-50 devices without names"},
        {0, 0, 0, 0, 13, 0, "device4 ", "LAY-50 a child whose class cannot be read"},
        {0, 0, 0, 0, 0, 13, "", "LAY-49 devices that cannot be located"},
    };
    fresh();
    with_devices = with_kernel = 1;
    held_by(1, L"Other", REG_SZ, L"", 2);
    for (int device = 3; device < 5; device++) {
        wchar_t name[32];
        char layer_name[32];
        swprintf(name, 32, L"d\\device%d.json", device), sprintf(layer_name, "device%d", device);
        const wchar_t *at = layer(name, layer_name);
        held_by(device, L"VulkanExplicitLayers", REG_SZ, at, wcslen(at) * 2);
    }
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        changing.small = rows[row].small, changing.length = rows[row].length, changing.lists = rows[row].lists;
        changing.unnamed = rows[row].unnamed, changing.unclassed = rows[row].unclassed, changing.unlocated = rows[row].unlocated, changing.asked = 0;
        is(layers(), rows[row].found, rows[row].what);
        check(changing.asked < 10, "LAY-49 after few questions");
    }
    memset(&changing, 0, sizeof changing);
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, DEVICES L"3");
    changing.endless = 1;
    is(layers(), "device4 ", "LAY-50 children without end");
    check(changing.siblings < 10000, "LAY-50 of which so many are asked");
    changing.endless = 0, changing.unnamed = 13;
    layers();
    says("Found no registry value a device\\VulkanExplicitLayers", "LAY-50 what messages call a device without a name");
    changing.unnamed = 0;
}

static void changing_adapters(void) {
    fresh();
    with_kernel = 1;
    kernel.adapters = 3, kernel.leaving = 2;
    const wchar_t *at = layer(L"k\\one.json", "one");
    kernel.type = REG_SZ, kernel.data = at, kernel.size = (DWORD)wcslen(at) * 2;
    is(layers(), "one ", "LAY-49 adapters that go between two questions");
    check(kernel.closed == 2 && !kernel.strange, "LAY-49 are neither asked nor given back");
    kernel.type = REG_BINARY;
    layers();
    says("Found no registry value display adapter 00000000-00000010\\VulkanExplicitLayers", "LAY-49 what messages call an adapter");
    kernel.type = REG_SZ, kernel.adapters = 1, kernel.coming = 1, kernel.endless = 1, kernel.enumerated = 0;
    is(layers(), "", "LAY-49 adapters that come without end");
    check(kernel.enumerated < 20, "LAY-49 after few questions");
    kernel.coming = kernel.endless = 0, kernel.adapters = 1024;
    is(layers(), "one ", "LAY-49 as many adapters as may be");
    kernel.adapters = 1025;
    is(layers(), "", "LAY-49 more adapters than that are not asked");
    kernel.adapters = 1;
    for (kernel.failing = 1; kernel.failing < 3; kernel.failing++)
        is(layers(), "", "LAY-49 adapters that a failed question left");
}

/* Tests the registry value of an adapter, which the kernel returns, if the value grows between two queries. */
static void growing_values(void) {
    fresh();
    with_kernel = 1;
    static wchar_t list[2048];
    wcscpy(list, layer(L"k\\one.json", "one"));
    kernel.adapters = 1, kernel.type = REG_MULTI_SZ, kernel.data = list;
    kernel.size = (DWORD)wcslen(list) * 2 + 4, kernel.growing = 1;
    is(layers(), "one ", "LAY-50 a value of the kernel that grows between two questions");
    kernel.growing = 1000, kernel.asked = 0;
    is(layers(), "", "LAY-50 one that grows without end");
    check(kernel.asked < 20, "LAY-50 after few questions");
}

/* Tests a manifest that cannot be read. */
static void unreadable(void) {
    fresh();
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\one.json", "one"));
    read_fails = 1;
    is(layers(), "", "LAY-19 a manifest that cannot be read");
    check(reads > 0 && reads < 20, "LAY-19 after few attempts");
    read_fails = 0;
    is(layers(), "one ", "LAY-19 and that can be read again");
}

/* Tests a folder that cannot be read to its end. */
static void folders(void) {
    fresh();
    layer(L"folder\\one.json", "one");
    layer(L"folder\\unread.json", "unread");
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", path(L"folder"));
    file(path(L"folder\\inner.json\\file"), "");
    is(layers(), "one unread ", "LAY-51 the files of a folder");
    says("it is not a regular file", "BI-8 and a folder whose name ends like those of manifests is told");
    folder_fails = ERROR_ACCESS_DENIED;
    is(layers(), "one ", "LAY-19 a folder that cannot be read to its end");
    says("to its end", "LAY-19 which is told");
    folder_fails = ERROR_NOT_ENOUGH_MEMORY;
    is(layers(), "list -1", "LAY-203 APP-176 or for which memory is wanting");
    folder_fails = 0;
}

static void changing_graphics(void) {
    fresh();
    wchar_t json[] = L"drivers\\igvk" BITS L".json";
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(json, ".\\\\driver-a.dll"));
    loaded(L"driver-a", "a")->devices = 1;
    graphics.count = 2, graphics.vendors[0] = 0x8086, graphics.vendors[1] = 0x10DE;
    is(devices(0), "a0 ", "DRV-40 a driver whose vendor has an adapter");
    graphics.undescribed = 1;
    is(devices(0), "create -9", "DRV-40 an adapter that cannot be described has no vendor");
    check(!graphics.held, "DRV-40 and is given back");
    graphics.undescribed = 0, graphics.endless = 1, graphics.listed = 0;
    is(devices(0), "a0 ", "DRV-40 adapters without end");
    check(graphics.listed < 100000 && !graphics.held, "DRV-40 of which so many count");
    graphics.endless = 0, graphics.failing = 1;
    is(devices(0), "create -9", "DRV-40 a factory that failed is not used, whatever it left");
    check(!graphics.held, "DRV-40 nor given back");
    graphics.failing = 0;
}

static void failing_packages(void) {
    fresh();
    layer(L"package\\p.json", "package");
    package = path(L"package");
    for (package_fails = NO_PACKAGE; package_fails <= LONG_PATH; package_fails++)
        is(layers(), "", "DRV-36 a package whose names or folder cannot be read");
    package_fails = SEVERAL;
    is(layers(), "package ", "DRV-36 the first one of several");
    package_fails = 0;
}

/* Tests which error numbers mean that there is no file, and which error numbers mean that there is no memory. */
static void numbers(void) {
    static const struct { DWORD number; const char *found; } rows[] = {
        {ERROR_FILE_NOT_FOUND, "in_settings "}, {ERROR_PATH_NOT_FOUND, "in_settings "}, {ERROR_BAD_NETPATH, "in_settings "},
        {ERROR_NOT_ENOUGH_MEMORY, "list -1"}, {ERROR_OUTOFMEMORY, "list -1"},
    };
    char text[2000];
    fresh();
    const wchar_t *in = layer(L"s\\in.json", "in_settings");
    sprintf(text, "{\"file_format_version\":\"1.0.0\",\"settings\":{\"layers\":[{\"name\":\"in_settings\",\"path\":\"%s\",\"control\":\"auto\"}]}}", quoted(in));
    file(path(L"s\\vk_loader_settings.json"), text);
    file(path(L"absent\\vk_loader_settings.json"), "{\"file_format_version\":\"1.0.0\",\"settings\":{\"layers\":[]}}");
    listed(HKEY_LOCAL_MACHINE, L"LoaderSettings", path(L"s\\vk_loader_settings.json"));
    listed(HKEY_CURRENT_USER, L"LoaderSettings", path(L"absent\\vk_loader_settings.json"));
    elevated = 0;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        file_fails = rows[row].number;
        printf("      error %lu\n", file_fails);
        is(layers(), rows[row].found, "APP-242 what an error of a file means");
    }
    file_fails = ERROR_ACCESS_DENIED;
    check(strcmp(layers(), "in_settings "), "APP-242 a file that may not be read is not one that is absent");
    file_fails = 0;
    fresh();
    load_fails = ERROR_OUTOFMEMORY;
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(L"l\\l.json", ".\\\\driver-x.dll"));
    is(devices(0), "create -1", "LAY-203 APP-176 error 14 is want of memory");
}

/* Returns a path of `units` UTF-16 units that ends with the name. The test makes the folders of the path later. */
static const wchar_t *of_length(int units, const wchar_t *name) {
    static wchar_t out[600];
    int length = swprintf(out, 600, L"%ls\\long\\", root);
    const int end = units - (int)wcslen(name);
    for (int part = 0; length < end; length++)
        out[length] = length + 1 == end || (++part % 50 == 0 && length + 2 < end) ? '\\' : 'p';
    wcscpy(out + length, name);
    return out;
}

/* Tests paths near the limit. Windows opens a plain path only if it has at most 259 UTF-16 units. */
static void lengths(void) {
    for (int units = 258; units < 263; units++) {
        char what[64];
        sprintf(what, "LAY-53 a library whose path has %d units", units);
        copy(own, of_length(units, L"x.dll"));
        short_paths = 1, verbatim_loads = 0;
        library(quoted(of_length(units, L"x.dll")), "0 1 2 ", what);
        check((verbatim_loads > 0) == (units > 259), "LAY-53 which is written as one of any length only where it must be");
        check(!strstr(last_log, "was found to differ from OS loaded path"), "LAY-206 and the system opened that very path");
    }
    wchar_t needing[512];
    GetModuleFileNameW(NULL, needing, 500);
    wcscpy(wcsrchr(needing, '\\') + 1, L"needing.dll");
    const wchar_t *at = of_length(320, L"needing.dll");
    copy(needing, at);
    const char *named = quoted(at);
    wcscpy(wcsrchr(needing, '\\') + 1, L"helper.dll-");
    copy(needing, of_length(319, L"helper.dll"));
    library(named, "0 1 2 ", "LAY-53 LAY-200 what a library with a long path needs lies beside it");
    short_paths = 0;
}

/* Tests that the search ends when Windows finds a file that is not a library. Also tests that the search skips the
 * folder of Windows if its path is unknown. */
static void bare_names(void) {
    wchar_t before[4096];
    GetEnvironmentVariableW(L"PATH", before, 4096);
    copy(own, path(L"on-path\\driver-bare.dll"));
    SetEnvironmentVariableW(L"PATH", path(L"on-path"));
    library("driver-bare.dll", "0 1 2 ", "DRV-57 a bare name in a folder of PATH");
    fresh();
    bare_fails = ERROR_BAD_EXE_FORMAT;
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(L"l\\l.json", "driver-bare.dll"));
    is(devices(0), "create -9", "DRV-57 one that the system found and refused is not searched elsewhere");
    says("with error 193", "DRV-58 and why is told");
    bare_fails = 0;
    static const UINT lengths[] = {0, 260, 1000};
    for (windows_folder.on = 1; windows_folder.on < 4; windows_folder.on++) {
        windows_folder.length = lengths[windows_folder.on - 1];
        library("driver-bare.dll", "0 1 2 ", "DRV-57 where the folder of Windows cannot be told");
    }
    windows_folder.on = 0;
    SetEnvironmentVariableW(L"PATH", before);
}

/* Tests variables with text beyond ASCII, and a variable that is not valid Unicode. */
static void texts(void) {
    fresh();
    elevated = 0;
    layer(L"Gerät 日本\\e.json", "wide");
    SetEnvironmentVariableW(L"VK_LAYER_PATH", path(L"Gerät 日本"));
    is(layers(), "wide ", "APP-210 a variable beyond ASCII");
    check(!strstr(last_log, "is ignored"), "APP-211 no variable is said to be ignored");
    wchar_t *broken = path(L"broken");
    broken[wcslen(broken) - 1] = 0xD800;
    SetEnvironmentVariableW(L"VK_LAYER_PATH", broken);
    is(layers(), "", "APP-210 one that is no Unicode");
    SetEnvironmentVariableW(L"VK_LAYER_PATH", NULL);
    fresh();
    elevated = 0;
    wow64 = 2, with_kernel = 1, kernel.adapters = 1;
    layers();
    check(!strcmp(kernel.name, "VulkanExplicitLayers"), "LAY-49 a process whose kind cannot be told is none of 32 bits on 64");
}

/* Tests the trace of a second process. The loader appends the trace to an existing file, and writes nothing if the
 * path is a link or a folder. */
static void traces(void) {
    static char text[1 << 16];
    fresh();
    file(path(L"trace"), "before\n");
    SetEnvironmentVariableW(L"VK_LOADER_TRACE", path(L"trace"));
    check(ended(L"trace") == 98, "a process with a trace");
    DWORD length = 0;
    HANDLE in = CreateFileW(path(L"trace"), GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    ReadFile(in, text, sizeof text - 1, &length, NULL);
    CloseHandle(in);
    check(!strncmp(text, "before\n{\"event\":\"loaded\"", 24), "records are appended to the trace");
    char expected[64];
    const char *process = strstr(text, "\"process\":");
    sprintf(expected, "\"process\":%lu,", ended_process);
    check(process && !strncmp(process, expected, strlen(expected)), "with the number of the process");
    sprintf(expected, "\"thread\":\"%lx\"", ended_thread);
    check(strstr(text, expected) != NULL, "and with its thread");
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, "\"time\":")); at += 7)
        last = at;
    check(last && atoll(last + 7) > 0, "with the time since its first call");
    check(strstr(text, "vulkan-1.dll\"") && strstr(text, "sources.exe\""), "with the library and the program");
    file(path(L"trace"), "before\n");
    check(ended(L"link") == 98, "a process whose trace would be a link");
    memset(text, 0, sizeof text);
    in = CreateFileW(path(L"trace"), GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    ReadFile(in, text, sizeof text - 1, &length, NULL);
    CloseHandle(in);
    check(!strcmp(text, "before\n"), "nothing is appended through a link");
    SetEnvironmentVariableW(L"VK_LOADER_TRACE", root);
    check(ended(L"trace") == 98, "a process whose trace would be a folder");
    SetEnvironmentVariableW(L"VK_LOADER_TRACE", NULL);
}

static void missing_libraries(void) {
    static const char *const names[] = {"kernel32.dll", "gdi32.dll", "cfgmgr32.dll"};
    fresh();
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\one.json", "one"));
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        system_libraries.missing = names[index];
        is(layers(), "one ", "LAY-49 a library of the system that is missing");
    }
    system_libraries.missing = NULL;
    check(!system_libraries.unopened, "LAY-49 is not closed");
}

/* Tests that each word size has a separate view of the registry keys, and separate registry values of adapters. On a
 * system of 64 bits, the keys of 32-bit programs are below WOW6432Node. */
static void views(void) {
    const REGSAM own_view = sizeof(void *) == 8 ? KEY_WOW64_64KEY : KEY_WOW64_32KEY;
    const REGSAM other_view = own_view == KEY_WOW64_64KEY ? KEY_WOW64_32KEY : KEY_WOW64_64KEY;
    const REGSAM both[] = {own_view, other_view};
    BOOL is_wow = FALSE;
    IsWow64Process(GetCurrentProcess(), &is_wow);
    fresh();
    if (sizeof(void *) == 8 || is_wow) {
        const DWORD zero = 0;
        for (int index = 0; index < 2; index++) {
            HKEY key;
            RegCreateKeyExW(HKEY_LOCAL_MACHINE, KHRONOS L"ExplicitLayers", 0, NULL, 0, KEY_ALL_ACCESS | both[index], NULL, &key, NULL);
            const wchar_t *at = index ? layer(L"w\\other.json", "other") : layer(L"w\\own.json", "own");
            check(!RegSetValueExW(key, at, 0, REG_DWORD, (const BYTE *)&zero, 4), "a value is set in a view");
            RegCloseKey(key);
        }
        is(layers(), "own ", "DRV-39 LAY-46 only the keys of the own word size");
        HKEY key;
        if (!RegOpenKeyExW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Khronos", 0, KEY_ALL_ACCESS | other_view, &key)) {
            HKEY layers_key;
            if (!RegOpenKeyExW(key, L"Vulkan\\ExplicitLayers", 0, KEY_ALL_ACCESS | other_view, &layers_key)) {
                RegDeleteValueW(layers_key, path(L"w\\other.json"));
                RegCloseKey(layers_key);
            }
            RegCloseKey(key);
        }
    }
    fresh();
    wow64 = -1, with_kernel = 1, kernel.adapters = 1;
    layers();
    check(!strcmp(kernel.name, is_wow ? "VulkanExplicitLayersWow" : "VulkanExplicitLayers"), "LAY-49 the value for this word size");
    devices(0);
    check(!strcmp(kernel.name, is_wow ? "VulkanDriverNameWow" : "VulkanDriverName"), "DRV-37 and that of drivers");
}
