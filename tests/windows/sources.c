/* Tests how the loader finds, opens and orders its files in Windows: the registry, adapters, devices, packages,
 * settings, load order and long paths. Other tests check files that the loader finds through folders and variables. The
 * program needs no driver of the machine. It writes manifests into a scratch folder and values into the registry. Under
 * Wine, this is Wine's registry. The program redirects the loader's imports to its own functions, which replace
 * functions that Wine lacks. Each line `ok` or `FAIL` is a test, and the exit status is the number of failed tests.
 * drivers.h contains the tests with drivers, and edges.h contains the tests with extreme answers of the system. For
 * some tests, the program starts itself again with one more argument.
 *
 *     sources.exe FOLDER               (with driver.dll and vulkan-1.dll in the program's folder)
 *     sources.exe FOLDER groups        prints the names of the groups of tests
 *     sources.exe FOLDER only GROUP    runs one group */
#include <fcntl.h>
#include <io.h>
#include "edges.h"

static void layers_in_keys(void) {
    fresh();
    elevated = 0;
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\one.json", "one"));
    listed(HKEY_CURRENT_USER, L"ExplicitLayers", layer(L"u\\two.json", "two"));
    listed(HKEY_LOCAL_MACHINE, L"ImplicitLayers", layer(L"m\\three.json", "three"));
    const DWORD one = 1, zero = 0;
    value(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\off.json", "off"), REG_DWORD, &one, 4);
    value(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\text.json", "text"), REG_SZ, L"a longer text", 28);
    value(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\a_text.json", "a_text"), REG_SZ, L"a longer text", 28);
    value(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\bytes.json", "bytes"), REG_BINARY, &zero, 4);
    /* Wine returns the values of a key in the order of their names, so `bytes` comes before `one`. */
    is(layers(), "three bytes one two ", "LAY-46 LAY-48 keys of machine and user, and values of four zero bytes");
    says("Located json file \"", "DRV-41 what is listed is told");
    elevated = 1;
    is(layers(), "three bytes one ", "LAY-47 nothing of the user when elevated");

    fresh();
    layer(L"Gerät 日本\\ñ.json", "wide");
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", path(L"Gerät 日本"));
    is(layers(), "wide ", "LAY-51 LAY-53 a folder, and text beyond ASCII");

    fresh();
    is(layers(), "", "nothing is listed");
    says("WARNING | LAYER: The registry lists no explicit layer", "LAY-52 no explicit layers: a warning");
    check(!strstr(last_log, "no implicit layer"), "LAY-52 no implicit ones: not a word");
    says("Found no registry files in HKEY_LOCAL_MACHINE\\SOFTWARE\\Khronos\\Vulkan\\ExplicitLayers", "DRV-41 an empty key is told");
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\one.json", "one"));
    is(layers(), "one ", "what the registry lists anew is found");
}

static void long_paths(void) {
    fresh();
    wchar_t name[500];
    swprintf(name, 500, L"%ls\\file.json", deep());
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(name, "file"));
    is(layers(), "file ", "LAY-53 a file with a long path");
    fresh();
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", path(L"%ls", deep()));
    is(layers(), "file ", "LAY-53 a folder with a long path");
}

static void settings(void) {
    char text[2000];
    fresh();
    const wchar_t *in = layer(L"s\\in.json", "in_settings");
    sprintf(text, "{\"file_format_version\":\"1.0.0\",\"settings\":{\"layers\":[{\"name\":\"in_settings\",\"path\":\"%s\",\"control\":\"auto\"}]}}", quoted(in));
    file(path(L"s\\vk_loader_settings.json"), text);
    file(path(L"e\\vk_loader_settings.json"), "{\"file_format_version\":\"1.0.0\",\"settings\":{\"layers\":[]}}");
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\one.json", "one"));
    listed(HKEY_LOCAL_MACHINE, L"LoaderSettings", path(L"s\\other.json"));
    value(HKEY_LOCAL_MACHINE, L"LoaderSettings", path(L"s\\vk_loader_settings.json"), REG_SZ, L"whatever", 18);
    listed(HKEY_CURRENT_USER, L"LoaderSettings", path(L"e\\vk_loader_settings.json"));
    is(layers(), "in_settings ", "APP-242 the machine's settings when elevated, whatever data");
    elevated = 0;
    is(layers(), "", "APP-242 the user's settings first");
    DeleteFileW(path(L"e\\vk_loader_settings.json"));
    is(layers(), "in_settings ", "APP-242 a file that is not there counts as none");
    fresh();
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", path(L"m\\one.json"));
    is(layers(), "one ", "APP-243 settings that are gone");
}

static void adapters(void) {
    fresh();
    with_kernel = 1;
    kernel.adapters = 1;
    static wchar_t list[40000];
    wchar_t *to = list;
    const wchar_t *names[] = {layer(L"k\\one.json", "one"), layer(L"k\\two.json", "two")};
    for (int index = 0; index < 2; index++)
        to = wcscpy(to, names[index]) + wcslen(names[index]) + 1;
    kernel.type = REG_MULTI_SZ, kernel.data = list, kernel.size = (DWORD)((to - list) * 2 + 2);
    is(layers(), "one two ", "LAY-49 LAY-50 a list of the kernel");
    check(kernel.first == REG_MULTI_SZ, "LAY-49 a list is asked for before a text");
    kernel.size -= 4;
    is(layers(), "one two ", "LAY-49 LAY-50 a list of the kernel, without its terminators");
    check(!strcmp(kernel.name, "VulkanExplicitLayers") && kernel.translated, "LAY-49 the value, with paths translated");
    check(kernel.closed == 4, "adapters are given back");
    kernel.size += 4;
    kernel.form = BY_SIZE;
    is(layers(), "one two ", "LAY-49 from a kernel that gives data to a second question that has their size");
    kernel.form = BY_SIZE_QUIETLY;
    is(layers(), "one two ", "LAY-49 or calls the first one a success");
    kernel.form = BY_ROOM;
    for (int index = 0; index < 9000; index++)
        *to++ = 'x';
    kernel.size = (DWORD)((to - list) * 2 + 4);
    is(layers(), "one two ", "LAY-50 a value for which there was no room at first");
    kernel.type = REG_SZ;
    is(layers(), "one ", "LAY-49 or else one text");
    kernel.size = 8 << 20;
    is(layers(), "", "LAY-50 a size beyond belief");
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", names[0]);
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"k\\three.json", "three"));
    kernel.type = REG_MULTI_SZ, kernel.size = (DWORD)(wcslen(names[0]) + wcslen(names[1]) + 3) * 2;
    is(layers(), "one two three ", "LAY-45 LAY-51 adapters before keys, each path once");
    char again[2300];
    sprintf(again, "INFO | LAYER:   Skipping adding of json file \"%s\" from registry \"HKEY_LOCAL_MACHINE\\SOFTWARE\\Khronos\\Vulkan\\ExplicitLayers\""
                   " to the list due to duplication", utf8(names[0]));
    says(again, "DRV-41 and one that is listed again is told");
    wow64 = 1;
    layers();
    check(!strcmp(kernel.name, "VulkanExplicitLayersWow"), "LAY-49 a process of 32 bits on a system of 64 asks for a value of its own");
    wow64 = 0;
    kernel.coming = 1;
    is(layers(), "one two three ", "LAY-49 an adapter that comes between two questions");
    check(kernel.adapters == 2 && !kernel.coming, "which the kernel is asked anew for");
}

/* Tests the states of devices. 0x400 is DN_HAS_PROBLEM, and 0x100 is DN_NEED_RESTART. Problem 14 is
 * CM_PROB_NEED_RESTART, and problem 22 means that the device is disabled. */
static void device_states(void) {
    static const struct { int device; ULONG status, problem; DWORD told; const char *found, *what; } rows[] = {
        {1, 0x400, 14, 0, "device4 ", "LAY-50 a device that works only after a restart is skipped, and its components"},
        {1, 0x500, 14, 0, "device4 ", "LAY-50 so it is when it asks for the restart as well"},
        {1, 0x100, 0, 0, "device3 device4 ", "LAY-50 one that works and asks for a restart is used"},
        {1, 0x100, 14, 0, "device3 device4 ", "LAY-50 a problem that the status does not confirm is none"},
        {1, 0x500, 22, 0, "device3 device4 ", "LAY-50 another problem stops nothing"},
        {1, 0, 0, 13, "device4 ", "LAY-50 a device without a status is skipped, and its components"},
        {3, 0x400, 14, 0, "device3 device4 ", "LAY-50 a component that waits for a restart is used"},
        {3, 0, 0, 13, "device3 device4 ", "LAY-50 and one without a status"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        states[rows[row].device].status = rows[row].status, states[rows[row].device].problem = rows[row].problem;
        states[rows[row].device].told = rows[row].told;
        is(layers(), rows[row].found, rows[row].what);
        if (!strcmp(rows[row].found, "device4 "))
            says(rows[row].told ? "INFO | LAYER:   Skipping device D1, whose status cannot be read"
                                : "INFO | LAYER:   Skipping device D1, which waits for a restart", "LAY-50 which is told");
        memset(states, 0, sizeof states);
    }
}

static void device_keys(void) {
    const wchar_t value_name[] = L"VulkanExplicitLayers";
    fresh();
    is(layers(), "", "LAY-49 the configuration manager of this system lists nothing");
    with_devices = with_kernel = 1;
    const wchar_t *names[5];
    for (int device = 1; device < 5; device++) {
        wchar_t name[32];
        char layer_name[32];
        swprintf(name, 32, L"d\\device%d.json", device), sprintf(layer_name, "device%d", device);
        names[device] = layer(name, layer_name);
        held_by(device, value_name, REG_SZ, names[device], wcslen(names[device]) * 2);
    }
    is(layers(), "device1 device4 ", "LAY-49 LAY-50 display devices, without terminators; a device's own value hides those of components");
    held_by(1, value_name, REG_MULTI_SZ, names[1], wcslen(names[1]) * 2);
    is(layers(), "device1 device4 ", "LAY-49 so does a list of its own");
    held_by(1, value_name, REG_BINARY, names[1], 20);
    is(layers(), "device3 device4 ", "LAY-49 unless it lists no paths");
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, DEVICES L"1");
    is(layers(), "device3 device4 ", "LAY-49 the component of a device without a key");
    held_by(1, L"Other", REG_SZ, L"", 2);
    is(layers(), "device3 device4 ", "LAY-49 and of one whose key lacks the value");
    changing.capitals = 1;
    is(layers(), "device3 device4 ", "LAY-49 a component whose class is in capitals");
    changing.capitals = 0, changing.both = 1;
    is(layers(), "device2 device4 ", "LAY-49 the first one of two");
    changing.both = 0;
    device_states();
    held_by(3, value_name, REG_BINARY, names[3], 20);
    is(layers(), "device4 ", "LAY-50 bytes are no path");
    says("ERROR | LAYER:  Registry value D3\\VulkanExplicitLayers", "LAY-50 and that is an error");
    wchar_t both[1100] = {0};
    wcscpy(both, names[3]), wcscpy(both + wcslen(both) + 1, names[2]);
    held_by(3, value_name, REG_MULTI_SZ, both, sizeof both);
    is(layers(), "device3 device2 device4 ", "LAY-50 a list of a component");
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, DEVICES L"4");
    is(layers(), "device3 device2 ", "LAY-50 a device without a key");
    says("INFO | LAYER:   Found no registry value D4\\VulkanExplicitLayers", "LAY-50 which is told");
    with_kernel = 0;
    is(layers(), "device3 device2 ", "LAY-49 devices are asked also where the kernel has no functions for adapters");
    with_kernel = 1;
    kernel.adapters = 1;
    kernel.type = REG_SZ, kernel.data = names[4], kernel.size = (DWORD)wcslen(names[4]) * 2;
    is(layers(), "device4 ", "LAY-49 what the kernel's adapters list makes them unneeded");
}

static void store(void) {
    fresh();
    layer(L"package\\p.json", "package");
    package = path(L"package");
    listed(HKEY_LOCAL_MACHINE, L"ImplicitLayers", layer(L"m\\three.json", "three"));
    is(layers(), "package three ", "DRV-36 LAY-45 the folder of a package, for implicit layers only");
    elevated = 0;
    SetEnvironmentVariableW(L"VK_IMPLICIT_LAYER_PATH", L"");
    is(layers(), "", "LAY-45 APP-214a a replacing variable, even an empty one");
    elevated = 1;
    is(layers(), "package three ", "APP-211 which does not count when elevated");
    SetEnvironmentVariableW(L"VK_IMPLICIT_LAYER_PATH", NULL);
}

/* Tests the integrity levels of the process. 0x2100 is SECURITY_MANDATORY_MEDIUM_PLUS_RID. */
static void levels(void) {
    static const struct { DWORD level; int no_token, no_level; const char *found, *what; } rows[] = {
        {SECURITY_MANDATORY_LOW_RID, 0, 0, "user ", "APP-211 LAY-47 a low level is not elevated"},
        {SECURITY_MANDATORY_MEDIUM_RID, 0, 0, "user ", "APP-211 nor a medium one"},
        {0x2100, 0, 0, "user ", "APP-211 nor one above"},
        {SECURITY_MANDATORY_HIGH_RID - 1, 0, 0, "user ", "APP-211 nor one just below the high one"},
        {SECURITY_MANDATORY_HIGH_RID, 0, 0, "", "APP-211 a high one is"},
        {SECURITY_MANDATORY_SYSTEM_RID, 0, 0, "", "APP-211 and the system's"},
        {SECURITY_MANDATORY_MEDIUM_RID, 1, 0, "", "APP-211 a process without a token counts as elevated"},
        {SECURITY_MANDATORY_MEDIUM_RID, 0, 1, "", "APP-211 and one whose level cannot be read"},
    };
    fresh();
    listed(HKEY_CURRENT_USER, L"ExplicitLayers", layer(L"u\\user.json", "user"));
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        level = rows[row].level, no_token = rows[row].no_token, no_level = rows[row].no_level;
        is(layers(), rows[row].found, rows[row].what);
    }
    check(tokens.opened && tokens.closed == tokens.opened, "APP-211 each token is closed");
    check(!tokens.changing, "APP-211 and was opened for reading only");
}

/* Tests the commands that the library has only on Windows. Also tests that the library does no work before the first
 * call. */
static void entry(void) {
    check(GetProcAddress(loader, "vkCreateWin32SurfaceKHR") && GetProcAddress(loader, "vkGetPhysicalDeviceWin32PresentationSupportKHR")
              && !GetProcAddress(loader, "vkCreateXcbSurfaceKHR"),
          "APP-5 the commands of this system's windows");
    check(!*logged(), "APP-9 DRV-239 nothing runs while the library is loaded");
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", L"a secret value");
    uint32_t version;
    FN(vkEnumerateInstanceVersion)(&version);
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", NULL);
    last_log = logged();
    says("Vulkan Loader Version", "APP-9 but in the first call");
    says("VK_DRIVER_FILES is ignored", "DRV-5 APP-211 which variables do not count is told");
    check(!strstr(last_log, "secret"), "APP-211 and no value");
    check(!strstr(last_log, "VK_ADD_DRIVER_FILES is ignored"), "APP-211 nor a variable that is not set");
    check(strstr(debugged, "Vulkan Loader Version") && strstr(debugged, "] INFO:  "), "APP-235 debuggers get the same text");
    FN(vkEnumerateInstanceVersion)(&version);
    check(!strstr(logged(), "Vulkan Loader Version"), "APP-9 and not in the next");
}

static void resource(void) {
    wchar_t name[512];
    GetModuleFileNameW(loader, name, 512);
    HMODULE version = LoadLibraryA("version.dll");
    BOOL(WINAPI *get)(const wchar_t *, DWORD, DWORD, void *) = (void *)GetProcAddress(version, "GetFileVersionInfoW");
    BOOL(WINAPI *query)(const void *, const wchar_t *, void **, UINT *) = (void *)GetProcAddress(version, "VerQueryValueW");
    char block[4096];
    VS_FIXEDFILEINFO *fixed;
    wchar_t *text;
    UINT length;
    uint32_t own_version = 0;
    FN(vkEnumerateInstanceVersion)(&own_version);
    if (!check(get(name, 0, sizeof block, block) && query(block, L"\\", (void **)&fixed, &length), "the library has a version resource"))
        return;
    const DWORD wide = (VK_API_VERSION_MAJOR(own_version) << 16) | VK_API_VERSION_MINOR(own_version);
    check(fixed->dwFileVersionMS == wide && fixed->dwFileVersionLS == VK_API_VERSION_PATCH(own_version) << 16, "with the version of the header");
    check(query(block, L"\\StringFileInfo\\040904B0\\OriginalFilename", (void **)&text, &length) && !wcscmp(text, L"vulkan-1.dll"), "and its name");
}

static void leaving(void) {
    fresh();
    FreeLibrary(loader);
    check(!GetModuleHandleW(L"vulkan-1.dll"), "APP-9 the library leaves the process");
    loader = LoadLibraryW(L"vulkan-1.dll");
    is(layers(), "", "APP-9 and comes back");
    says("Vulkan Loader Version", "APP-9 as new");
}

/* Work of a second process of this program: opens a driver with a query, and ends the process. If `ending` is `unload`,
 * first unloads the loader, and the loader must then close the driver's library. */
static void child(const wchar_t *ending) {
    uint32_t none = 0;
    files_are_links = !wcscmp(ending, L"link");
    FN(vkEnumerateInstanceExtensionProperties)(NULL, &none, NULL);
    ends_at_close = !files_are_links && wcscmp(ending, L"trace");
    if (!wcscmp(ending, L"unload"))
        FreeLibrary(loader);
    ExitProcess(98);
}
static void endings(void) {
    fresh();
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(L"end\\end.json", quoted(own)));
    check(ended(L"unload") == 99, "APP-9 a driver's library is closed when the loader is unloaded");
    check(ended(L"exit") == 98, "APP-9 and nothing is done at the end of the process");
}

static const struct { const wchar_t *name; void (*run)(void); } groups[] = {
    {L"entry", entry}, {L"layers_in_keys", layers_in_keys}, {L"long_paths", long_paths}, {L"settings", settings},
    {L"adapters", adapters}, {L"device_keys", device_keys}, {L"store", store}, {L"vendors", vendors}, {L"vendor_names", vendor_names},
    {L"order", order}, {L"features", features}, {L"levels", levels}, {L"direct", direct}, {L"libraries", libraries}, {L"views", views},
    {L"missing_libraries", missing_libraries}, {L"long_names", long_names}, {L"changing_values", changing_values},
    {L"changing_devices", changing_devices}, {L"changing_adapters", changing_adapters}, {L"changing_graphics", changing_graphics},
    {L"growing_values", growing_values}, {L"folders", folders}, {L"unreadable", unreadable},
    {L"failing_packages", failing_packages}, {L"numbers", numbers}, {L"lengths", lengths}, {L"bare_names", bare_names},
    {L"texts", texts}, {L"traces", traces}, {L"resource", resource}, {L"endings", endings},
};

/* Runs the group with this name, or all groups if there is no name. With `only_names`, only prints the names of the
 * groups. */
static int run_groups(const wchar_t *name, int only_names) {
    for (size_t index = 0; index < sizeof groups / sizeof groups[0]; index++)
        if (only_names)
            printf("%ls\n", groups[index].name);
        else if (!name || !wcscmp(name, groups[index].name))
            groups[index].run();
    return failed;
}

int wmain(int count, wchar_t **arguments) {
    if (count < 2)
        return 100;
    if (count == 3 && !wcscmp(arguments[2], L"groups"))
        return run_groups(NULL, 1);
    GetFullPathNameW(arguments[1], 512, root, NULL);
    CreateDirectoryW(root, NULL);
    log_file = CreateFileW(path(L"log"), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, 0, NULL);
    SetStdHandle(STD_ERROR_HANDLE, log_file);
    /* The Khronos loader writes through the C library, so the standard error of the C library must be the same file. */
    _dup2(_open_osfhandle((intptr_t)log_file, _O_BINARY), 2);
    setvbuf(stderr, NULL, _IONBF, 0);
    SetEnvironmentVariableW(L"VK_LOADER_DEBUG", L"all");
    GetModuleFileNameW(NULL, own, 500);
    wcscpy(wcsrchr(own, '\\') + 1, L"driver.dll");
    loader = LoadLibraryW(L"vulkan-1.dll");
    if (!loader)
        return 101;
    import("GetTokenInformation", token);
    import("OpenProcessToken", open_token);
    import("CloseHandle", close_handle);
    import("IsWow64Process", is_wow64);
    import("LoadLibraryExA", load_system);
    import("FreeLibrary", close_library);
    import("GetProcAddress", look_up);
    import("OutputDebugStringW", debug);
    import("OutputDebugStringA", debug_bytes);
    import("RegEnumValueW", enum_value);
    import("RegQueryValueExW", query_value);
    import("RegOpenKeyExW", open_key);
    import("RegCloseKey", close_key);
    import("CreateFileW", create_file);
    import("FindNextFileW", next_file);
    real_read = import("NtReadFile", read_file);
    import("GetFileInformationByHandle", file_information);
    import("GetFileInformationByHandleEx", link_information);
    import("GetSystemWindowsDirectoryW", system_windows);
    /* The processes that test traces are not elevated, because an elevated process writes no trace. */
    elevated = count < 3 || (wcscmp(arguments[2], L"trace") && wcscmp(arguments[2], L"link"));
    real_load = import("LoadLibraryExW", load);
    import("LoadLibraryW", load_plain);
    setvbuf(stdout, NULL, _IONBF, 0);
    if (count == 3) {
        usual_adapters();
        child(arguments[2]);
    }
    if (count > 3)
        return run_groups(arguments[3], 0);
    run_groups(NULL, 0);
    if (!check(system_libraries.opened > 4 && !system_libraries.elsewhere, "libraries of the system come from its own folder"))
        printf("      %d of %d do not: %s\n", system_libraries.elsewhere, system_libraries.opened, system_libraries.names);
    /* The loader keeps dxgi.dll, the library of adapters, open. */
    if (!check(system_libraries.closed == system_libraries.opened - 1, "and each but one is closed after its use"))
        printf("      %d opened, %d closed\n", system_libraries.opened, system_libraries.closed);
    if (!check(registry.opened > 20 && registry.opened == registry.closed && !registry.changing, "keys are opened for reading, and each is closed once"))
        printf("      %d opened, %d of them for more, %d closed\n", registry.opened, registry.changing, registry.closed);
    leaving();
    fresh();
    return failed;
}
