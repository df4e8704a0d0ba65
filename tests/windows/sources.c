/* What the loader finds in Windows beside folders and variables, and how it opens and orders that: the registry, adapters,
 * devices, packages, settings, load order, long paths. A program that needs no driver of the machine: it writes its own
 * manifests below a scratch folder and its own values into the registry (of Wine, where it is run), and answers in place of
 * what Wine lacks: the loader's imports are led to functions here. Each line `ok` or `FAIL` is a case; the status is how many failed.
 *
 *     sources.exe FOLDER    (driver.dll and vulkan-1.dll lie beside the program)
 */
#include <windows.h>
#include <stdarg.h>
#include <stdio.h>
#include <vulkan/vulkan.h>
#include "driver.h"

static int failed;
static HMODULE loader;
static wchar_t root[512];

#define FN(name) ((PFN_##name)(void (*)(void))GetProcAddress(loader, #name))

static int check(int holds, const char *what) {
    printf("%s %s\n", holds ? "ok   " : "FAIL ", what);
    failed += !holds;
    return holds;
}

/* --- in place of the system ------------------------------------------------------------------------------------------- */

/* Leads the loader's calls of an imported function elsewhere, and says what stood there. */
static void *import(const char *name, void *replacement) {
    unsigned char *base = (unsigned char *)loader;
    const IMAGE_NT_HEADERS *headers = (void *)(base + ((IMAGE_DOS_HEADER *)base)->e_lfanew);
    const DWORD at = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
    void *before = NULL;
    for (IMAGE_IMPORT_DESCRIPTOR *library = (void *)(base + at); library->Name; library++) {
        const IMAGE_THUNK_DATA *names = (void *)(base + library->OriginalFirstThunk);
        void **slots = (void *)(base + library->FirstThunk);
        for (; names->u1.AddressOfData; names++, slots++) {
            if (IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal) || strcmp((char *)((IMAGE_IMPORT_BY_NAME *)(base + names->u1.AddressOfData))->Name, name))
                continue;
            DWORD old;
            VirtualProtect(slots, sizeof *slots, PAGE_READWRITE, &old);
            if (*slots != replacement)
                before = *slots;
            *slots = replacement;
        }
    }
    return before;
}

static int elevated = 1;
static BOOL WINAPI token(HANDLE handle, TOKEN_INFORMATION_CLASS class, void *out, DWORD size, DWORD *length) {
    const BOOL told = GetTokenInformation(handle, class, out, size, length);
    if (told && class == TokenIntegrityLevel && !elevated)
        *GetSidSubAuthority(((TOKEN_MANDATORY_LABEL *)out)->Label.Sid, 0) = SECURITY_MANDATORY_MEDIUM_RID;
    return told;
}

/* The kernel's adapters: one, with a value of a type and as many bytes of it. */
static struct { int adapters; DWORD type; const void *data; DWORD size; char name[64]; int closed, translated; } kernel;

struct adapter { UINT handle; LUID luid; ULONG sources; BOOL present; };
struct adapters { ULONG count; struct adapter *adapters; };
static LONG WINAPI enum_adapters(struct adapters *out) {
    for (int number = 0; out->adapters && number < kernel.adapters; number++)
        out->adapters[number] = (struct adapter){.handle = 7 + number, .luid = {.LowPart = 0x10, .HighPart = number}};
    out->count = kernel.adapters;
    return 0;
}
struct registry_info { int query; UINT flags; WCHAR name[260]; ULONG type, physical, size; int status; union { UINT64 word; BYTE data[8]; } out; };
struct query { UINT handle; int type; void *data; UINT size; };
static LONG WINAPI query_adapter(struct query *query) {
    struct registry_info *info = query->data;
    wcstombs(kernel.name, info->name, sizeof kernel.name);
    kernel.translated = info->flags & 1;
    if (query->type != 48 || info->query != 1 || info->type != kernel.type)
        return 0xC0000034;
    info->size = kernel.size;
    const ULONG room = query->size - (ULONG)offsetof(struct registry_info, out);
    info->status = kernel.size > room;
    if (!info->status)
        memcpy(info->out.data, kernel.data, kernel.size);
    return 0;
}
static LONG WINAPI close_adapter(const UINT *handle) { return (void)handle, kernel.closed++, 0; }

static const wchar_t *package;
static LONG WINAPI packages(const wchar_t *family, UINT32 *count, wchar_t **names, UINT32 *length, wchar_t *buffer) {
    const wchar_t name[] = L"Microsoft.D3DMappingLayers_1_x64__8wekyb3d8bbwe";
    if (!package || wcscmp(family, L"Microsoft.D3DMappingLayers_8wekyb3d8bbwe"))
        return *count = *length = 0, ERROR_SUCCESS;
    *count = 1;
    if (*length < sizeof name / 2 || !names)
        return *length = sizeof name / 2, ERROR_INSUFFICIENT_BUFFER;
    names[0] = wcscpy(buffer, name);
    return ERROR_SUCCESS;
}
static LONG WINAPI package_path(const wchar_t *name, UINT32 *length, wchar_t *path) {
    if (!wcsstr(name, L"D3DMappingLayers") || *length < wcslen(package) + 1)
        return *length = (UINT32)wcslen(package) + 1, ERROR_INSUFFICIENT_BUFFER;
    wcscpy(path, package);
    return ERROR_SUCCESS;
}

/* A configuration manager with a display device 1, its children 2 (no component) and 3, and a display device 4. */
#define DEVICES L"SOFTWARE\\VulkanLoaderTest\\"
static int restarting; /* the device that waits for a restart */
static DWORD WINAPI cm_list_size(ULONG *length, const wchar_t *class, ULONG flags) {
    const int is_display = !wcscmp(class, L"{4d36e968-e325-11ce-bfc1-08002be10318}") && flags == 0x300;
    return *length = is_display ? 7 : 1, 0;
}
static DWORD WINAPI cm_list(const wchar_t *class, wchar_t *out, ULONG length, ULONG flags) {
    return (void)class, (void)flags, memcpy(out, L"D1\0D4\0", length * 2), 0;
}
static DWORD WINAPI cm_locate(DWORD *device, const wchar_t *name, ULONG flags) { return (void)flags, *device = name[1] - '0', 0; }
static DWORD WINAPI cm_status(ULONG *status, ULONG *problem, DWORD device, ULONG flags) {
    return (void)flags, *status = 0, *problem = (int)device == restarting ? 14 : 0, 0;
}
static DWORD WINAPI cm_key(DWORD device, DWORD access, ULONG profile, DWORD how, HKEY *out, ULONG flags) {
    wchar_t name[64];
    swprintf(name, 64, DEVICES L"%d", (int)device);
    return profile || how != 1 || flags != 1 || RegOpenKeyExW(HKEY_LOCAL_MACHINE, name, 0, access, out) ? 13 : 0;
}
static DWORD WINAPI cm_child(DWORD *out, DWORD device, ULONG flags) { return (void)flags, *out = 2, device == 1 ? 0 : 13; }
static DWORD WINAPI cm_sibling(DWORD *out, DWORD device, ULONG flags) { return (void)flags, *out = 3, device == 2 ? 0 : 13; }
static DWORD WINAPI cm_name(DWORD device, wchar_t *out, ULONG length, ULONG flags) {
    return (void)flags, swprintf(out, length, L"D%d", (int)device), 0;
}
static DWORD WINAPI cm_property(DWORD device, ULONG which, ULONG *type, void *out, ULONG *size, ULONG flags) {
    (void)type, (void)flags;
    return which != 9 || *size < 78 ? 26 : (memcpy(out, device == 3 ? L"{5C4C3332-344D-483C-8739-259E934C9CC8}" : L"{00000000-344D-483C-8739-259E934C9CC8}", 78), 0);
}
static const struct { const char *name; void *function; } manager[] = {
    {"CM_Get_Device_ID_List_SizeW", cm_list_size}, {"CM_Get_Device_ID_ListW", cm_list}, {"CM_Locate_DevNodeW", cm_locate},
    {"CM_Get_DevNode_Status", cm_status}, {"CM_Open_DevNode_Key", cm_key}, {"CM_Get_Child", cm_child},
    {"CM_Get_Sibling", cm_sibling}, {"CM_Get_Device_IDW", cm_name}, {"CM_Get_DevNode_Registry_PropertyW", cm_property},
};

static int without_dxgi, with_kernel, with_devices;
static FARPROC WINAPI look_up(HMODULE module, const char *name) {
    if ((ULONG_PTR)name >> 16) {
        if (with_kernel && !strcmp(name, "D3DKMTEnumAdapters2")) return (FARPROC)(void *)enum_adapters;
        if (with_kernel && !strcmp(name, "D3DKMTQueryAdapterInfo")) return (FARPROC)(void *)query_adapter;
        if (with_kernel && !strcmp(name, "D3DKMTCloseAdapter")) return (FARPROC)(void *)close_adapter;
        if (package && !strcmp(name, "GetPackagesByPackageFamily")) return (FARPROC)(void *)packages;
        if (package && !strcmp(name, "GetPackagePathByFullName")) return (FARPROC)(void *)package_path;
        for (size_t index = 0; with_devices && index < sizeof manager / sizeof manager[0]; index++)
            if (!strcmp(name, manager[index].name))
                return (FARPROC)manager[index].function;
        if (without_dxgi && !strcmp(name, "CreateDXGIFactory1")) return NULL;
    }
    return GetProcAddress(module, name);
}

static char debugged[4096];
static void WINAPI debug(const wchar_t *text) {
    const size_t length = strlen(debugged);
    if (length < 3000)
        snprintf(debugged + length, 1000, "%ls", text);
}

static DWORD load_fails;
static HMODULE(WINAPI *real_load)(const wchar_t *, HANDLE, DWORD);
static HMODULE WINAPI load(const wchar_t *path, HANDLE file, DWORD flags) {
    if (!load_fails || !wcsstr(path, L"driver"))
        return real_load(path, file, flags);
    SetLastError(load_fails);
    return NULL;
}

/* --- files, values, log ------------------------------------------------------------------------------------------------ */

static wchar_t *path(const wchar_t *format, ...) {
    static wchar_t ring[16][2048];
    static int next;
    wchar_t *out = ring[next++ % 16];
    const int length = swprintf(out, 2048, L"%ls\\", root);
    va_list arguments;
    va_start(arguments, format);
    vswprintf(out + length, 2048 - length, format, arguments);
    va_end(arguments);
    return out;
}

static const char *utf8(const wchar_t *text) {
    static char ring[8][4096];
    static int next;
    char *out = ring[next++ % 8];
    WideCharToMultiByte(CP_UTF8, 0, text, -1, out, 4096, NULL, NULL);
    return out;
}

/* The same for JSON. */
static const char *quoted(const wchar_t *text) {
    static char ring[8][4096];
    static int next;
    char *out = ring[next++ % 8], *to = out;
    for (const char *from = utf8(text); *from; from++) {
        if (*from == '\\')
            *to++ = '\\';
        *to++ = *from;
    }
    *to = 0;
    return out;
}

/* Writes a file of any length of path, and makes the folders above. */
static void file(const wchar_t *name, const char *text) {
    wchar_t plain[2100];
    swprintf(plain, 2100, L"\\\\?\\%ls", name);
    for (wchar_t *at = wcschr(plain + 7, '\\'); at; at = wcschr(at + 1, '\\')) {
        *at = 0;
        CreateDirectoryW(plain, NULL);
        *at = '\\';
    }
    HANDLE out = CreateFileW(plain, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    DWORD written;
    if (out == INVALID_HANDLE_VALUE || !WriteFile(out, text, (DWORD)strlen(text), &written, NULL))
        check(0, "a file is written");
    CloseHandle(out);
}

static void copy(const wchar_t *from, const wchar_t *to) {
    file(to, "");
    wchar_t long_from[2100], long_to[2100];
    swprintf(long_from, 2100, L"\\\\?\\%ls", from), swprintf(long_to, 2100, L"\\\\?\\%ls", to);
    if (!CopyFileW(long_from, long_to, FALSE))
        check(0, "a file is copied");
}

static wchar_t *layer(const wchar_t *name, const char *layer_name) {
    char text[512];
    sprintf(text, "{\"file_format_version\":\"1.2.0\",\"layer\":{\"name\":\"%s\",\"type\":\"GLOBAL\",\"library_path\":\".\\\\x.dll\",\"api_version\":\"1.3.0\","
                  "\"implementation_version\":\"1\",\"description\":\"d\",\"disable_environment\":{\"OFF_%s\":\"1\"}}}", layer_name, layer_name);
    wchar_t *at = path(L"%ls", name);
    file(at, text);
    return at;
}

static wchar_t *manifest(const wchar_t *name, const char *library) {
    char text[6000];
    sprintf(text, "{\"file_format_version\":\"1.0.1\",\"ICD\":{\"library_path\":\"%s\",\"api_version\":\"1.3.0\"}}", library);
    wchar_t *at = path(L"%ls", name);
    file(at, text);
    return at;
}

#define KHRONOS L"SOFTWARE\\Khronos\\Vulkan\\"
static void value(HKEY hive, const wchar_t *key, const wchar_t *name, DWORD type, const void *data, DWORD size) {
    HKEY opened;
    wchar_t whole[256];
    swprintf(whole, 256, KHRONOS L"%ls", key);
    RegCreateKeyExW(hive, whole, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &opened, NULL);
    if (RegSetValueExW(opened, name, 0, type, data, size))
        check(0, "a value is set");
    RegCloseKey(opened);
}
static void listed(HKEY hive, const wchar_t *key, const wchar_t *name) {
    const DWORD zero = 0;
    value(hive, key, name, REG_DWORD, &zero, 4);
}

static HANDLE log_file;
/* What was logged since the last time. */
static const char *logged(void) {
    static char text[1 << 18];
    DWORD length = 0;
    SetFilePointer(log_file, 0, NULL, FILE_BEGIN);
    ReadFile(log_file, text, sizeof text - 1, &length, NULL);
    text[length] = 0;
    SetFilePointer(log_file, 0, NULL, FILE_BEGIN);
    SetEndOfFile(log_file);
    return text;
}
static const char *last_log = "";

/* Back to nothing registered. */
static void fresh(void) {
    const HKEY hives[] = {HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE};
    for (int hive = 0; hive < 2; hive++)
        RegDeleteTreeW(hives[hive], L"SOFTWARE\\Khronos\\Vulkan");
    memset(&kernel, 0, sizeof kernel);
    package = NULL;
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\VulkanLoaderTest");
    with_kernel = with_devices = without_dxgi = restarting = 0;
    load_fails = 0;
    elevated = 1;
    SetEnvironmentVariableA("VK_LOADER_LAYERS_ENABLE", NULL);
}

/* The names of all layers, each followed by a blank. */
static const char *layers(void) {
    static char names[4096];
    VkLayerProperties properties[32];
    uint32_t count = 32;
    logged();
    names[0] = 0;
    FN(vkEnumerateInstanceLayerProperties)(&count, properties);
    for (uint32_t index = 0; index < count && index < 32; index++)
        strcat(strcat(names, properties[index].layerName), " ");
    last_log = logged();
    return names;
}

/* The names of all devices, and what went wrong instead; with `grouped` those of groups, a bar before each. */
static const char *devices(int grouped) {
    static char names[4096];
    VkInstance instance;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    logged();
    VkResult result = FN(vkCreateInstance)(&info, NULL, &instance);
    names[0] = 0;
    if (result != VK_SUCCESS) {
        sprintf(names, "create %d", result);
        last_log = logged();
        return names;
    }
    VkPhysicalDeviceGroupProperties groups[16];
    for (int index = 0; index < 16; index++)
        groups[index] = (VkPhysicalDeviceGroupProperties){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES};
    uint32_t count = 16;
    if (grouped)
        result = FN(vkEnumeratePhysicalDeviceGroups)(instance, &count, groups);
    else {
        groups[0].physicalDeviceCount = 32;
        result = FN(vkEnumeratePhysicalDevices)(instance, &groups[0].physicalDeviceCount, groups[0].physicalDevices);
        count = 1;
    }
    for (uint32_t group = 0; result == VK_SUCCESS && group < count; group++) {
        if (grouped)
            strcat(names, "| ");
        for (uint32_t index = 0; index < groups[group].physicalDeviceCount; index++) {
            VkPhysicalDeviceProperties properties;
            FN(vkGetPhysicalDeviceProperties)(groups[group].physicalDevices[index], &properties);
            strcat(strcat(names, properties.deviceName), " ");
        }
    }
    if (result != VK_SUCCESS)
        sprintf(names, "list %d", result);
    FN(vkDestroyInstance)(instance, NULL);
    last_log = logged();
    return names;
}

static int is(const char *found, const char *expected, const char *what) {
    if (!check(!strcmp(found, expected), what)) {
        printf("      found [%s], expected [%s]\n%s\n", found, expected, last_log);
        return 0;
    }
    return 1;
}
static void says(const char *part, const char *what) {
    if (!check(strstr(last_log, part) != NULL, what))
        printf("      [%s] is not in\n%s\n", part, last_log);
}

/* --- cases ------------------------------------------------------------------------------------------------------------- */

static void layers_in_keys(void) {
    fresh();
    elevated = 0;
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\one.json", "one"));
    listed(HKEY_CURRENT_USER, L"ExplicitLayers", layer(L"u\\two.json", "two"));
    listed(HKEY_LOCAL_MACHINE, L"ImplicitLayers", layer(L"m\\three.json", "three"));
    const DWORD one = 1, zero = 0;
    value(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\off.json", "off"), REG_DWORD, &one, 4);
    value(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\text.json", "text"), REG_SZ, L"a longer text", 28);
    value(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"m\\bytes.json", "bytes"), REG_BINARY, &zero, 4);
    /* Wine keeps values sorted by name. */
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

/* A folder whose path has more than 300 units. */
static const wchar_t *deep(void) {
    static wchar_t name[400];
    wcscpy(name, L"");
    for (int part = 0; part < 6; part++)
        wcscat(name, L"0123456789012345678901234567890123456789012345678\\");
    wcscat(name, L"ü");
    return name;
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
    kernel.type = REG_MULTI_SZ, kernel.data = list, kernel.size = (DWORD)((to - list) * 2 - 2);
    is(layers(), "one two ", "LAY-49 LAY-50 a list of the kernel, without its terminators");
    check(!strcmp(kernel.name, "VulkanExplicitLayers") && kernel.translated, "LAY-49 the value, with paths translated");
    check(kernel.closed == 2, "adapters are given back");
    for (int index = 0; index < 9000; index++)
        *to++ = 'x';
    kernel.size = (DWORD)((to - list) * 2);
    is(layers(), "one two ", "LAY-50 a value for which there was no room at first");
    kernel.type = REG_SZ;
    is(layers(), "one ", "LAY-49 or else one text");
    kernel.size = 8 << 20;
    is(layers(), "", "LAY-50 a size beyond belief");
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", names[0]);
    listed(HKEY_LOCAL_MACHINE, L"ExplicitLayers", layer(L"k\\three.json", "three"));
    kernel.type = REG_MULTI_SZ, kernel.size = (DWORD)(wcslen(names[0]) + wcslen(names[1]) + 3) * 2;
    is(layers(), "one two three ", "LAY-45 LAY-51 adapters before keys, each path once");
}

static void held_by(int device, const wchar_t *name, DWORD type, const void *data, size_t size) {
    HKEY key;
    wchar_t whole[64];
    swprintf(whole, 64, DEVICES L"%d", device);
    RegCreateKeyExW(HKEY_LOCAL_MACHINE, whole, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL);
    RegSetValueExW(key, name, 0, type, data, (DWORD)size);
    RegCloseKey(key);
}

static void device_keys(void) {
    const wchar_t value_name[] = L"VulkanExplicitLayers";
    fresh();
    is(layers(), "", "LAY-49 the configuration manager of this system lists nothing");
    with_devices = 1;
    const wchar_t *names[5];
    for (int device = 1; device < 5; device++) {
        wchar_t name[32];
        char layer_name[32];
        swprintf(name, 32, L"d\\device%d.json", device), sprintf(layer_name, "device%d", device);
        names[device] = layer(name, layer_name);
        held_by(device, value_name, REG_SZ, names[device], wcslen(names[device]) * 2);
    }
    is(layers(), "device1 device3 device4 ", "LAY-49 LAY-50 display devices and components, without terminators");
    restarting = 1;
    is(layers(), "device4 ", "LAY-50 a device that waits for a restart");
    says("INFO | LAYER:   Skipping device D1", "LAY-50 which is told");
    restarting = 3;
    is(layers(), "device1 device4 ", "LAY-50 a component that waits for a restart");
    restarting = 0;
    held_by(3, value_name, REG_BINARY, names[3], 20);
    is(layers(), "device1 device4 ", "LAY-50 bytes are no path");
    says("ERROR | LAYER:  Registry value D3\\VulkanExplicitLayers", "LAY-50 and that is an error");
    wchar_t both[1100] = {0};
    wcscpy(both, names[3]), wcscpy(both + wcslen(both) + 1, names[2]);
    held_by(3, value_name, REG_MULTI_SZ, both, sizeof both);
    is(layers(), "device1 device3 device2 device4 ", "LAY-50 a list of a component");
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, DEVICES L"4");
    is(layers(), "device1 device3 device2 ", "LAY-50 a device without a key");
    says("INFO | LAYER:   Found no registry value D4\\VulkanExplicitLayers", "LAY-50 which is told");
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

static struct said *said_by(const wchar_t *library) {
    return (struct said *)(void *)GetProcAddress(GetModuleHandleW(library), "said");
}

static wchar_t own[512];

/* A driver of its own file, which stays loaded so that the program can say what it answers. */
static struct said *driver(const wchar_t *name, const char *devices_named) {
    const wchar_t *at = path(L"drivers\\%ls.dll", name);
    if (!GetModuleHandleW(at)) {
        copy(own, at);
        LoadLibraryW(at);
    }
    struct said *said = said_by(at);
    memset(said, 0, sizeof *said);
    strcpy(said->name, devices_named);
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
    const wchar_t *names[] = {L"igvk64", L"nv-vk64", L"amdvlk64", L"driver-a"};
    for (int index = 0; index < 4; index++) {
        wchar_t json[64];
        swprintf(json, 64, L"drivers\\%ls.json", names[index]);
        listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(json, ".\\\\driver-a.dll"));
    }
    struct said *a = driver(L"driver-a", "a");
    a->devices = 1;
    is(devices(0), "a0 a0 ", "DRV-40 of known vendors the one whose adapter Wine shows, and the unknown one");
    says("because no adapter of its vendor is present", "DRV-41 the others are named");
    without_dxgi = 1;
    is(devices(0), "create -9", "DRV-40 nothing when the adapters are not known");
    says("ERROR | DRIVER: The registry lists no driver", "DRV-41 that no driver is there is an error");
    says("so nothing from registry", "DRV-40 and why is told");
}

static void order(void) {
    fresh();
    without_dxgi = 0;
    struct said *a = driver(L"driver-a", "a"), *b = driver(L"driver-b", "b");
    a->ordered = 2, a->order[0] = 2, a->order[1] = 1;
    b->result = VK_ERROR_INCOMPATIBLE_DRIVER;
    is(devices(0), "a2 a1 b0 b1 b2 a0 ", "DRV-144 DRV-146 devices of adapters first, then the rest");
    check(a->asked >= 2 && b->asked >= 1 && a->luid != 0, "DRV-144 drivers are asked with the number of the adapter");
    check(!strstr(last_log, "are not sorted"), "DRV-145 a driver that does not serve an adapter says so quietly");
    is(devices(1), "| a2 a1 | b0 | b1 b2 | a0 ", "DRV-155 groups follow, and their members");
    b->result = VK_ERROR_DEVICE_LOST;
    is(devices(0), "a2 a1 b0 b1 b2 a0 ", "DRV-145 other failures change nothing");
    says("WARNING:        vk_icdEnumerateAdapterPhysicalDevices of ", "DRV-145 but are told");
    b->result = VK_ERROR_OUT_OF_HOST_MEMORY;
    is(devices(0), "list -1", "DRV-145 except want of memory");
    b->result = 0, b->ordered = 1, b->order[0] = 1;
    is(devices(0), "b1 a2 a1 b0 b2 a0 ", "DRV-144 several drivers of one adapter");
    b->layered = 1;
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
    a->features = 7;
    without_dxgi = 1;
    elevated = 0;
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", path(L"drivers\\driver-a.json"));
    devices(0);
    check(a->features == 0, "LAY-223 and that there is none");
    SetEnvironmentVariableW(L"VK_DRIVER_FILES", NULL);
}

/* Where the library of a driver is found, by what its manifest says. */
static void library(const char *named, const char *expected, const char *what) {
    fresh();
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(L"l\\l.json", named));
    is(devices(0), expected, what);
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
    wcscat(wcscat(folders, L";.;"), path(L"on-path"));
    SetEnvironmentVariableW(L"PATH", folders);
    library("in-path.dll", found, "DRV-57 a bare name in a folder of PATH");
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

    /* One that needs another, which lies beside it. */
    wchar_t needing[512], helper[512];
    GetModuleFileNameW(NULL, needing, 500);
    wcscpy(wcsrchr(needing, '\\') + 1, L"needing.dll");
    wcscpy(helper, needing);
    wcscpy(wcsrchr(helper, '\\') + 1, L"helper.dll-");
    copy(needing, path(L"n\\needing.dll"));
    copy(helper, path(L"n\\helper.dll"));
    library("..\\\\n\\\\needing.dll", found, "DRV-57 LAY-200 what a library needs may lie beside it");

    /* The same file for another processor: its machine is at the beginning of the header. */
    copy(own, path(L"l\\other.dll"));
    HANDLE other = CreateFileW(path(L"l\\other.dll"), GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    DWORD at, moved;
    const WORD arm = 0x1C4;
    SetFilePointer(other, 0x3C, NULL, FILE_BEGIN);
    ReadFile(other, &at, 4, &moved, NULL);
    SetFilePointer(other, at + 4, NULL, FILE_BEGIN);
    WriteFile(other, &arm, 2, &moved, NULL);
    CloseHandle(other);
    library(".\\\\other.dll", "create -9", "LAY-202 a library for another processor");
    says("INFO:           Failed to open dynamic library ", "LAY-202 is told quietly");
    says("with error 193", "LAY-202 with the system's number");
    file(path(L"l\\driver-x.dll"), "no library");
    fresh();
    load_fails = ERROR_NOT_ENOUGH_MEMORY;
    listed(HKEY_LOCAL_MACHINE, L"Drivers", manifest(L"l\\l.json", ".\\\\driver-x.dll"));
    is(devices(0), "create -1", "LAY-203 APP-176 error 8 is want of memory");
}

/* The names that only this system's library has, and what runs when. */
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

int wmain(int count, wchar_t **arguments) {
    if (count != 2)
        return 100;
    GetFullPathNameW(arguments[1], 512, root, NULL);
    CreateDirectoryW(root, NULL);
    log_file = CreateFileW(path(L"log"), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, 0, NULL);
    SetStdHandle(STD_ERROR_HANDLE, log_file);
    SetEnvironmentVariableW(L"VK_LOADER_DEBUG", L"all");
    GetModuleFileNameW(NULL, own, 500);
    wcscpy(wcsrchr(own, '\\') + 1, L"driver.dll");
    loader = LoadLibraryW(L"vulkan-1.dll");
    if (!loader)
        return 101;
    import("GetTokenInformation", token);
    import("GetProcAddress", look_up);
    import("OutputDebugStringW", debug);
    real_load = import("LoadLibraryExW", load);
    setvbuf(stdout, NULL, _IONBF, 0);
    entry();
    layers_in_keys();
    long_paths();
    settings();
    adapters();
    device_keys();
    store();
    vendors();
    order();
    features();
    libraries();
    resource();
    fresh();
    return failed;
}
