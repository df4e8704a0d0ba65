/* Functions that make the files and registry values for the tests of tests/windows/sources.c, and read the loader's
 * answers and messages. */
#pragma once
#include <stdarg.h>
#include <vulkan/vulkan.h>
#include "fakes.h"

static int failed;
static wchar_t root[512];

#define FN(name) ((PFN_##name)(void (*)(void))GetProcAddress(loader, #name))

static int check(int holds, const char *what) {
    printf("%s %s\n", holds ? "ok   " : "FAIL ", what);
    failed += !holds;
    return holds;
}

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

/* Returns the name of a folder whose path has more than 300 UTF-16 units. */
static const wchar_t *deep(void) {
    static wchar_t name[400];
    wcscpy(name, L"");
    for (int part = 0; part < 6; part++)
        wcscat(name, L"0123456789012345678901234567890123456789012345678\\");
    wcscat(name, L"ü");
    return name;
}

/* Returns a text in UTF-8 with doubled backslashes, for use in JSON. */
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

/* Writes a file and makes the folders of its path. The path can have any length. */
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

/* Sets a value in the software key of a device. */
static void held_by(int device, const wchar_t *name, DWORD type, const void *data, size_t size) {
    HKEY key;
    wchar_t whole[64];
    swprintf(whole, 64, DEVICES L"%d", device);
    RegCreateKeyExW(HKEY_LOCAL_MACHINE, whole, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL);
    RegSetValueExW(key, name, 0, type, data, (DWORD)size);
    RegCloseKey(key);
}

/* Starts this program again with one more argument, and returns the exit status of the new process. */
static DWORD ended_process, ended_thread;
static DWORD ended(const wchar_t *ending) {
    wchar_t program[512], line[2048];
    GetModuleFileNameW(NULL, program, 512);
    swprintf(line, 2048, L"\"%ls\" \"%ls\" %ls", program, root, ending);
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION started;
    DWORD status = 0;
    if (!CreateProcessW(program, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &started))
        return 97;
    WaitForSingleObject(started.hProcess, 60000);
    GetExitCodeProcess(started.hProcess, &status);
    ended_process = started.dwProcessId, ended_thread = started.dwThreadId;
    return status;
}
static HANDLE log_file;
/* Returns the text in the log file, and empties the file. */
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

/* Removes all values from the registry, and sets all variables of the simulated system to their start values. */
static void fresh(void) {
    const HKEY hives[] = {HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE};
    for (int hive = 0; hive < 2; hive++)
        RegDeleteTreeW(hives[hive], L"SOFTWARE\\Khronos\\Vulkan");
    memset(&kernel, 0, sizeof kernel);
    package = NULL;
    RegDeleteTreeW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\VulkanLoaderTest");
    with_kernel = with_devices = without_dxgi = 0;
    memset(states, 0, sizeof states);
    load_fails = level = 0;
    wow64 = no_token = no_level = 0;
    usual_adapters();
    elevated = 1;
    SetEnvironmentVariableA("VK_LOADER_LAYERS_ENABLE", NULL);
}

/* Returns the names of all layers with a blank after each name, or the error. */
static const char *layers(void) {
    static char names[4096];
    VkLayerProperties properties[32];
    uint32_t count = 32;
    logged();
    lead_manager();
    names[0] = 0;
    const VkResult result = FN(vkEnumerateInstanceLayerProperties)(&count, properties);
    if (result != VK_SUCCESS)
        count = 0, sprintf(names, "list %d", result);
    for (uint32_t index = 0; index < count && index < 32; index++)
        strcat(strcat(names, properties[index].layerName), " ");
    last_log = logged();
    return names;
}

/* Returns the names of all devices, or the error. With `grouped`, the function lists the devices in their groups,
 * and each group begins with a bar. */
static const char *devices(int grouped) {
    static char names[4096];
    VkInstance instance;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    logged();
    lead_manager();
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
