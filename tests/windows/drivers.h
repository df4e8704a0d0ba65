/* Tests drivers for tests/windows/sources.c: which drivers the loader uses, the order of their devices, and how the
 * loader finds and opens their libraries. */
#pragma once
#include "driver.h"
#include "scene.h"

/* End of the names of known vendors' manifests, which contains the word size. */
#ifdef _WIN64
#define BITS L"64"
#else
#define BITS L"32"
#endif

static struct said *said_by(const wchar_t *library) {
    return (struct said *)(void *)GetProcAddress(GetModuleHandleW(library), "said");
}

static wchar_t own[512];

/* Copies driver.dll to a driver with this name, and loads the copy, which remains loaded. Returns the variable with
 * the driver's answers, which the program can change. */
static struct said *loaded(const wchar_t *name, const char *devices_named) {
    const wchar_t *at = path(L"drivers\\%ls.dll", name);
    if (!GetModuleHandleW(at)) {
        copy(own, at);
        LoadLibraryW(at);
    }
    struct said *said = said_by(at);
    memset(said, 0, sizeof *said);
    strcpy(said->name, devices_named);
    return said;
}

/* Does the same as `loaded`, and lists the driver in the registry. */
static struct said *driver(const wchar_t *name, const char *devices_named) {
    struct said *said = loaded(name, devices_named);
    said->devices = 3;
    char library[64];
    sprintf(library, ".\\\\%s.dll", utf8(name));
    wchar_t json[64];
    swprintf(json, 64, L"drivers\\%ls.json", name);
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(json, library));
    return said;
}

static void vendors(void) {
    fresh();
    const wchar_t *names[] = {L"igvk" BITS, L"nv-vk" BITS, L"amdvlk" BITS, L"driver-a"};
    for (int index = 0; index < 4; index++) {
        wchar_t json[64];
        swprintf(json, 64, L"drivers\\%ls.json", names[index]);
        listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(json, ".\\\\driver-a.dll"));
    }
    struct said *a = driver(L"driver-a", "a");
    a->devices = 1;
    is(devices(0), "a0 a0 ", "DRV-40 of known vendors the one whose adapter Wine shows, and the unknown one");
    says("because no adapter of its vendor is present", "DRV-41 the others are named");
    graphics.count = 3, graphics.vendors[0] = 0x1414, graphics.vendors[1] = 0x10DE, graphics.vendors[2] = 0x8086;
    is(devices(0), "a0 a0 a0 ", "DRV-40 a known vendor's driver is for any of the adapters");
    says(sizeof(void *) == 8 ? "amdvlk64.json\" from registry" : "amdvlk32.json\" from registry", "DRV-40 and only that of a vendor without one is dropped");
    graphics.count = 0;
    is(devices(0), "a0 ", "DRV-40 without an adapter all of them are");
    without_dxgi = 1;
    is(devices(0), "create -9", "DRV-40 nothing when the adapters are not known");
    says("ERROR | DRIVER: The registry lists no driver", "DRV-41 that no driver is there is an error");
    says("so nothing from registry", "DRV-40 and why is told");
}

/* Tests manifests whose names are similar to the names of known vendors' manifests, and names in capitals. */
static void vendor_names(void) {
    static const struct { const wchar_t *name; const char *found, *what; } rows[] = {
        {L"igvk" BITS L".json", "create -9", "DRV-40 a known vendor without an adapter"},
        {L"IGVK" BITS L".json", "create -9", "DRV-40 the same in capitals"},
        {L"my-igvk" BITS L".json", "a0 ", "DRV-40 a name that ends like one of a known vendor is another"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        wchar_t json[64];
        fresh();
        loaded(L"driver-a", "a")->devices = 1;
        graphics.count = 1, graphics.vendors[0] = 0x10DE;
        swprintf(json, 64, L"names%d\\%ls", (int)row, rows[row].name);
        listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(json, "..\\\\drivers\\\\driver-a.dll"));
        is(devices(0), rows[row].found, rows[row].what);
    }
}

static void order(void) {
    fresh();
    struct said *a = driver(L"driver-a", "a"), *b = driver(L"driver-b", "b");
    a->ordered = 2, a->order[0] = 2, a->order[1] = 1;
    b->result = VK_ERROR_INCOMPATIBLE_DRIVER;
    is(devices(0), "a2 a1 b0 b1 b2 a0 ", "DRV-144 DRV-146 devices of adapters first, then the rest");
    check(a->asked >= 2 && b->asked >= 1, "DRV-144 drivers are asked for adapters");
    check(!strstr(last_log, "are not sorted"), "DRV-145 a driver that does not serve an adapter says so quietly");
    is(devices(1), "| a2 a1 | b0 | b1 b2 | a0 ", "DRV-155 groups follow, and their members");
    b->result = VK_ERROR_DEVICE_LOST;
    is(devices(0), "a2 a1 b0 b1 b2 a0 ", "DRV-145 other failures change nothing");
    says("WARNING:        vk_icdEnumerateAdapterPhysicalDevices of ", "DRV-145 but are told");
    b->result = VK_ERROR_OUT_OF_HOST_MEMORY;
    is(devices(0), "list -1", "DRV-145 except want of memory");
    b->result = 0, b->ordered = 1, b->order[0] = 1;
    is(devices(0), "b1 a2 a1 b0 b2 a0 ", "DRV-144 several drivers of one adapter");
    graphics.count = 2;
    graphics.luids[0] = (LUID){.LowPart = 0x80000001, .HighPart = 0x12}, graphics.luids[1] = (LUID){.LowPart = 0x3, .HighPart = -2};
    devices(0);
    check(a->luids[1] == 0x1280000001 && a->luids[0] == 0xFFFFFFFE00000003, "DRV-144 by their numbers, in the order of the system");
    check(!graphics.held, "and adapters and factories are given back");
    usual_adapters();
    b->layered = b->unlisted = 1;
    is(devices(0), "b1 a2 a1 b0 b2 a0 ", "DRV-147 a device without the extension is not asked what it translates to");
    b->unlisted = 0;
    is(devices(0), "a2 a1 b1 b0 b2 a0 ", "DRV-147 what is on Direct3D 12 comes behind the native one");
    b->version = 5, b->layered = 0;
    is(devices(0), "a2 a1 b0 b1 b2 a0 ", "DRV-71 drivers below interface 6 are not asked");
    without_dxgi = 1;
    wchar_t both[1200];
    swprintf(both, 1200, L"%ls;%ls", path(L"drivers\\driver-a.json"), path(L"drivers\\driver-b.json"));
    elevated = 0;
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", both);
    is(devices(0), "b0 b1 b2 a0 a1 a2 ", "DRV-148 no factory, no order");
    says("INFO:           The system tells no order of adapters", "DRV-148 which is told");
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", NULL);
}

static void features(void) {
    fresh();
    struct said *a = driver(L"driver-a", "a");
    char text[2048];
    sprintf(text, "{\"file_format_version\":\"1.2.0\",\"layer\":{\"name\":\"looking\",\"type\":\"GLOBAL\",\"library_path\":\"..\\\\drivers\\\\driver-a.dll\",\"api_version\":\"1.3.0\","
                  "\"implementation_version\":\"1\",\"description\":\"d\",\"disable_environment\":{\"OFF\":\"1\"}}}");
    file(path(L"f\\looking.json"), text);
    listed(HKEY_LOCAL_MACHINE, L"ImplicitLayers", path(L"f\\looking.json"));
    a->features = 7;
    devices(0);
    check(a->features == 1, "LAY-223 APP-93 layers are told of the order");
    says("driver-a.dll", "LAY-53 a message names the library of the layer");
    check(!strstr(last_log, "\\\\?\\"), "LAY-53 as people write paths");
    a->features = 7;
    without_dxgi = 1;
    elevated = 0;
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", path(L"drivers\\driver-a.json"));
    devices(0);
    check(a->features == 0, "LAY-223 and that there is none");
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", NULL);
}

/* Tests a driver that the program passes directly to the loader. A message contains the driver's address in the format
 * of the system's C library. */
static void direct(void) {
    fresh();
    const char *extension = VK_LUNARG_DIRECT_DRIVER_LOADING_EXTENSION_NAME;
    const VkDirectDriverLoadingInfoLUNARG info = {.sType = VK_STRUCTURE_TYPE_DIRECT_DRIVER_LOADING_INFO_LUNARG,
        .pfnGetInstanceProcAddr = (PFN_vkGetInstanceProcAddrLUNARG)(void (*)(void))GetProcAddress(LoadLibraryW(own), "direct_lookup")};
    const VkDirectDriverLoadingListLUNARG list = {.sType = VK_STRUCTURE_TYPE_DIRECT_DRIVER_LOADING_LIST_LUNARG,
        .mode = VK_DIRECT_DRIVER_LOADING_MODE_EXCLUSIVE_LUNARG, .driverCount = 1, .pDrivers = &info};
    const VkInstanceCreateInfo create_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pNext = &list,
        .enabledExtensionCount = 1, .ppEnabledExtensionNames = &extension};
    VkInstance instance;
    logged();
    if (check(FN(vkCreateInstance)(&create_info, NULL, &instance) == VK_SUCCESS, "DRV-80 a driver that the program gives"))
        FN(vkDestroyInstance)(instance, NULL);
    last_log = logged();
    int(__cdecl * print)(char *, const char *, ...) = (void *)GetProcAddress(LoadLibraryA("msvcrt.dll"), "sprintf");
    char text[128];
    print(text, "pfnGetInstanceProcAddr was set to %p\n", info.pfnGetInstanceProcAddr);
    says(text, "APP-232a DRV-85 an address as the C library of the system prints it");
}

/* Tests whether the loader finds the library `named`, which a driver's manifest names. `expected` contains the expected devices. */
static void library(const char *named, const char *expected, const char *what) {
    fresh();
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(L"l\\l.json", named));
    is(devices(0), expected, what);
}

/* Tests bare file names in two folders of Wine's prefix that are not in PATH. */
static void in_windows(void) {
    static const wchar_t *const folders[] = {L"", L"\\System"};
    wchar_t windows[MAX_PATH], system[MAX_PATH], beside[MAX_PATH + 32], at[2 * MAX_PATH], before[4096];
    GetEnvironmentVariableW(L"PATH", before, 4096);
    SetEnvironmentVariableW(L"PATH", path(L"on-path"));
    GetWindowsDirectoryW(windows, MAX_PATH);
    swprintf(beside, MAX_PATH + 32, L"%ls\\in-windows.dll", windows);
    const wchar_t *const later[] = {path(L"on-path\\in-windows.dll"), beside};
    for (int folder = 0; folder < 2; folder++) {
        swprintf(system, MAX_PATH, L"%ls%ls", windows, folders[folder]);
        CreateDirectoryW(system, NULL);
        swprintf(at, 2 * MAX_PATH, L"%ls\\in-windows.dll", system);
        copy(own, at);
        /* The loader must find the valid driver, because it searches the folder of the invalid file later. */
        file(later[folder], "not a library");
        library("in-windows.dll", "0 1 2 ", folder ? "DRV-57 a bare name in the folder of 16-bit Windows" : "DRV-57 a bare name in the folder of Windows");
        library("in-windows", "0 1 2 ", "DRV-57 and without its ending");
        DeleteFileW(at);
        DeleteFileW(later[folder]);
    }
    library("in-windows.dll", "create -9", "DRV-57 which is there no longer");
    SetEnvironmentVariableW(L"PATH", before);
}

static void libraries(void) {
    const char *found = "0 1 2 ";
    copy(own, path(L"current\\in-current.dll"));
    copy(own, path(L"on-path\\in-path.dll"));
    copy(own, path(L"l\\beside.dll"));
    SetCurrentDirectoryW(path(L"current"));
    library("in-current.dll", "create -9", "DRV-57 a bare name is not looked for in the current folder");
    says("with error 126", "DRV-58 and the system's number is told");
    library("driver.dll", found, "DRV-57 a bare name beside the program");
    wchar_t folders[4096];
    GetEnvironmentVariableW(L"PATH", folders, 3000);
    const wchar_t on_the_drive[] = {';', path(L"current")[0], ':', '.', ';', 0};
    wcscat(wcscat(wcscat(folders, L";.;"), on_the_drive), path(L"on-path"));
    SetEnvironmentVariableW(L"PATH", folders);
    library("in-path.dll", found, "DRV-57 a bare name in a folder of PATH");
    in_windows();
    library("in-path", found, "DRV-57 and without its ending");
    library("in-current.dll", "create -9", "DRV-57 but not where PATH leads to the current folder");
    library(".\\\\beside.dll", found, "LAY-97 below the folder of the manifest");
    library("./beside.dll", found, "LAY-97 with the other separator");
    SetCurrentDirectoryW(root);

    wchar_t name[600];
    swprintf(name, 600, L"%ls\\long.dll", deep());
    copy(own, path(L"%ls", name));
    library(quoted(path(L"%ls", name)), found, "LAY-53 a library with a long path");
    swprintf(name, 600, L"Gerät 日本\\ñ.dll");
    copy(own, path(L"%ls", name));
    library(quoted(path(L"%ls", name)), found, "LAY-53 a library with a path beyond ASCII");

    /* needing.dll needs another library, which is in the same folder. */
    wchar_t needing[512], helper[512];
    GetModuleFileNameW(NULL, needing, 500);
    wcscpy(wcsrchr(needing, '\\') + 1, L"needing.dll");
    wcscpy(helper, needing);
    wcscpy(wcsrchr(helper, '\\') + 1, L"helper.dll-");
    copy(needing, path(L"n\\needing.dll"));
    copy(helper, path(L"n\\helper.dll"));
    library("..\\\\n\\\\needing.dll", found, "DRV-57 LAY-200 what a library needs may lie beside it");

    /* Writes the number of another processor into the header of the file. */
    copy(own, path(L"l\\other.dll"));
    HANDLE other = CreateFileW(path(L"l\\other.dll"), GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    DWORD at, moved;
    const WORD arm = 0x1C4;
    SetFilePointer(other, 0x3C, NULL, FILE_BEGIN);
    ReadFile(other, &at, 4, &moved, NULL);
    SetFilePointer(other, at + 4, NULL, FILE_BEGIN);
    WriteFile(other, &arm, 2, &moved, NULL);
    CloseHandle(other);
    other_loads = 0;
    library(".\\\\other.dll", "create -9", "LAY-202 a library for another processor");
    check(other_loads == 1, "LAY-202 is opened once");
    says("INFO:           Failed to open dynamic library ", "LAY-202 is told quietly");
    says("with error 193", "LAY-202 with the system's number");
    file(path(L"l\\driver-x.dll"), "no library");
    fresh();
    load_fails = ERROR_NOT_ENOUGH_MEMORY;
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(L"l\\l.json", ".\\\\driver-x.dll"));
    is(devices(0), "create -1", "LAY-203 APP-176 error 8 is want of memory");
}
