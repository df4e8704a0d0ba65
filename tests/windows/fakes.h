/* Replacements for functions of Windows in tests/windows/sources.c. The test redirects the loader's imports to these
 * functions. The variables next to each function control its results. */
#pragma once
#include <windows.h>
#include <stdio.h>
#include "graphics.h"

static HMODULE loader;

/* Redirects the loader's calls of an imported function. Returns the function that the loader called before. */
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

/* The integrity level that the loader reads from the process's token. The level is high, unless `elevated` is zero
 * or `level` contains another level. `no_token` and `no_level` make the two queries for the level fail. */
static int elevated = 1, no_token, no_level;
static DWORD level;
/* Numbers of the tokens that the loader opened, closed, and opened for more than reading, and the last token. */
static struct { int opened, closed, changing; HANDLE last; } tokens;
static BOOL WINAPI open_token(HANDLE process, DWORD access, HANDLE *out) {
    if (no_token || !OpenProcessToken(process, access, out))
        return SetLastError(ERROR_ACCESS_DENIED), FALSE;
    tokens.changing += (access & ~(TOKEN_QUERY | TOKEN_QUERY_SOURCE)) != 0;
    return tokens.last = *out, ++tokens.opened;
}
static BOOL WINAPI close_handle(HANDLE handle) {
    tokens.closed += tokens.opened > tokens.closed && handle == tokens.last;
    return CloseHandle(handle);
}
static BOOL WINAPI token(HANDLE handle, TOKEN_INFORMATION_CLASS class, void *out, DWORD size, DWORD *length) {
    const BOOL told = GetTokenInformation(handle, class, out, size, length);
    if (class != TokenIntegrityLevel)
        return told;
    if (told && (level || !elevated))
        *GetSidSubAuthority(((TOKEN_MANDATORY_LABEL *)out)->Label.Sid, 0) = level ? level : SECURITY_MANDATORY_MEDIUM_RID;
    return no_level ? SetLastError(ERROR_ACCESS_DENIED), FALSE : told;
}

/* Answer to the loader's query for WOW64: 1 for a 32-bit process on a 64-bit system, 0 for any other process, 2 for a failure of the
 * query, and -1 for the real answer. */
static int wow64;
static BOOL WINAPI is_wow64(HANDLE process, BOOL *out) {
    return wow64 < 0 ? IsWow64Process(process, out) : (*out = wow64 != 0, wow64 != 2);
}

/* Numbers of the system's libraries that the loader opened and closed, of libraries outside the system's folder, and of
 * closed null pointers. `missing` contains the name of a library that cannot be loaded. */
static struct { int opened, closed, elsewhere, unopened; char names[1024]; const char *missing; } system_libraries;
static HMODULE WINAPI load_system(const char *name, HANDLE file, DWORD flags) {
    if (system_libraries.missing && !strcmp(name, system_libraries.missing))
        return NULL;
    system_libraries.elsewhere += flags != LOAD_LIBRARY_SEARCH_SYSTEM32;
    if (strlen(system_libraries.names) < 900 && !strstr(system_libraries.names, name))
        strcat(strcat(system_libraries.names, name), " ");
    HMODULE opened = LoadLibraryExA(name, file, flags);
    /* dxgi.dll of Wine does not load without OpenGL. This file answers every look-up in dxgi.dll, so any other library
     * can replace dxgi.dll. */
    opened = opened || strcmp(name, "dxgi.dll") ? opened : LoadLibraryExA("kernel32.dll", file, flags);
    system_libraries.opened += opened != NULL;
    return opened;
}

/* If nonzero, the process ends when the loader closes a library. */
static int ends_at_close;
static BOOL WINAPI close_library(HMODULE library) {
    if (ends_at_close)
        TerminateProcess(GetCurrentProcess(), 99);
    system_libraries.unopened += !library;
    char file[MAX_PATH] = "";
    GetModuleFileNameA(library, file, sizeof file);
    const char *name = strrchr(file, '\\');
    system_libraries.closed += name && strstr(system_libraries.names, name + 1);
    return FreeLibrary(library);
}

/* Adapters that the simulated kernel lists, and the registry value that it returns for them, with its type and size.
 * `first` is the type of value in the loader's first query. `form` selects the kernel's answer. BY_ROOM returns the
 * data if there is enough space. BY_SIZE returns the data only if a second call has the size of the data.
 * BY_SIZE_QUIETLY is like BY_SIZE, but the first call succeeds. `failing` is 1 if the query for the number of adapters
 * fails, and 2 if the query for the adapters fails. The value grows after each of the next `growing` queries. `asked`
 * is the number of all queries for the value. */
enum { BY_ROOM, BY_SIZE, BY_SIZE_QUIETLY };
static struct {
    int adapters; DWORD type, first; const void *data; DWORD size; char name[64]; int closed, translated, coming, form;
    int leaving, endless, enumerated, strange, failing, growing, asked;
} kernel;

struct adapter { UINT handle; LUID luid; ULONG sources; BOOL present; };
struct adapters { ULONG count; struct adapter *adapters; };
static LONG WINAPI enum_adapters(struct adapters *out) {
    kernel.enumerated++;
    /* Simulates a change between the two queries for a list: the test can add `coming` adapters, once or, with `endless`, at every
     * second query, or remove `leaving` adapters. */
    if (out->adapters && kernel.coming) {
        kernel.adapters += kernel.coming;
        kernel.coming = kernel.endless;
        return 0xC0000023;
    }
    if (out->adapters) {
        kernel.adapters -= kernel.leaving;
        kernel.leaving = 0;
        if (out->count < (ULONG)kernel.adapters)
            return 0xC0000023;
    }
    for (int number = 0; out->adapters && number < kernel.adapters; number++)
        out->adapters[number] = (struct adapter){.handle = 7 + number, .luid = {.LowPart = 0x10, .HighPart = number}};
    out->count = kernel.adapters;
    return kernel.failing == (out->adapters ? 2 : 1) ? 0xC0000001 : 0;
}
struct registry_info { int query; UINT flags; WCHAR name[260]; ULONG type, physical, size; int status; union { UINT64 word; BYTE data[8]; } out; };
struct query { UINT handle; int type; void *data; UINT size; };
static LONG WINAPI query_adapter(struct query *query) {
    struct registry_info *info = query->data;
    wcstombs(kernel.name, info->name, sizeof kernel.name);
    kernel.translated = info->flags & 1;
    kernel.first = kernel.first ? kernel.first : info->type;
    kernel.strange += query->handle < 7 || query->handle >= 7u + kernel.adapters;
    if (query->type != 48 || info->query != 1 || info->type != kernel.type || strncmp(kernel.name, "VulkanExplicitLayers", 20))
        return 0xC0000034;
    const ULONG room = query->size - (ULONG)offsetof(struct registry_info, out);
    const int filled = kernel.size <= room && (kernel.form == BY_ROOM || info->size == kernel.size);
    info->size = kernel.size;
    info->status = !filled && kernel.form != BY_SIZE_QUIETLY;
    /* A test can set a size that is too large. `kernel.data` is shorter than this size, so only its beginning is copied. */
    if (filled)
        memcpy(info->out.data, kernel.data, kernel.size < 1 << 20 ? kernel.size : 512);
    kernel.asked++;
    if (kernel.growing)
        kernel.growing--, kernel.size += 2;
    return 0;
}
static LONG WINAPI close_adapter(const UINT *handle) { return (void)handle, kernel.closed++, 0; }

static const wchar_t *package;
/* The simulated error of the queries for packages. With NO_PACKAGE, the query returns no package although the loader passes a buffer.
 * With NO_NAMES or NO_PATH, the query for the names or the folder fails. GONE means that the package disappears between the two queries
 * for the names. LONG_NAMES and LONG_PATH give the names and the path of the folder more than 65,536 UTF-16 units. SEVERAL means two
 * packages, and the second package has no folder. */
static enum { NOTHING_WRONG, NO_PACKAGE, NO_NAMES, NO_PATH, GONE, LONG_NAMES, LONG_PATH, SEVERAL } package_fails;
static LONG WINAPI packages(const wchar_t *family, UINT32 *count, wchar_t **names, UINT32 *length, wchar_t *buffer) {
    const wchar_t name[] = L"Microsoft.D3DMappingLayers_1_x64__8wekyb3d8bbwe";
    static wchar_t other[] = L"another";
    if (!package || wcscmp(family, L"Microsoft.D3DMappingLayers_8wekyb3d8bbwe"))
        return *count = *length = 0, ERROR_SUCCESS;
    *count = package_fails == NO_PACKAGE ? 0 : package_fails == SEVERAL ? 2 : 1;
    const UINT32 needed = package_fails == LONG_NAMES ? (1 << 16) + 1 : sizeof name / 2;
    if (*length < needed || !names)
        return *length = needed, ERROR_INSUFFICIENT_BUFFER;
    if (package_fails == GONE)
        return *count = *length = 0, ERROR_SUCCESS;
    names[0] = wcscpy(buffer, name);
    if (*count == 2)
        names[1] = other;
    return package_fails == NO_NAMES ? ERROR_ACCESS_DENIED : ERROR_SUCCESS;
}
static LONG WINAPI package_path(const wchar_t *name, UINT32 *length, wchar_t *path) {
    if (!wcsstr(name, L"D3DMappingLayers"))
        return ERROR_NOT_FOUND;
    const UINT32 needed = package_fails == LONG_PATH ? (1 << 16) + 1 : (UINT32)wcslen(package) + 1;
    if (*length < needed)
        return *length = needed, ERROR_INSUFFICIENT_BUFFER;
    wcscpy(path, package);
    return package_fails == NO_PATH ? ERROR_ACCESS_DENIED : ERROR_SUCCESS;
}

/* Numbers of keys that the loader opened, of keys that it closed, and of keys that it opened for more than reading.
 * `growing` is the number of times that a value grows, and `told` is the error of reading a value. */
static struct { int opened, closed, changing, growing, asked; DWORD told; } registry;

/* A configuration manager with the display devices 1 and 4. Device 1 has the children 2 and 3. Child 2 is not a
 * component. */
#define DEVICES L"SOFTWARE\\VulkanLoaderTest\\"
static struct { ULONG status, problem; DWORD told; } states[5]; /* states of the devices, by their numbers */
/* `small` is the number of times that the list has too little space. A nonzero `length` replaces the length of the list.
 * `lists`, `unnamed`, `unclassed` and `unlocated` are the results of four queries. If nonzero, `endless` makes the list
 * of a device's children endless, `both` makes both children components, and `capitals` writes their class in capitals. */
static struct { int small, length, lists, unnamed, unclassed, unlocated, endless, both, capitals, asked, siblings; } changing;
/* Returns nonzero if a list contains only the display devices that are present. */
static int lists_displays(const wchar_t *class, ULONG flags) { return !wcscmp(class, L"{4d36e968-e325-11ce-bfc1-08002be10318}") && flags == 0x300; }
static DWORD WINAPI cm_list_size(ULONG *length, const wchar_t *class, ULONG flags) {
    return *length = !lists_displays(class, flags) ? 1 : changing.length ? changing.length : 7, 0;
}
static DWORD WINAPI cm_list(const wchar_t *class, wchar_t *out, ULONG length, ULONG flags) {
    changing.asked++;
    if (changing.small)
        return changing.small--, 26;
    memset(out, 0, length * 2);
    return memcpy(out, L"D1\0D4\0", 14), lists_displays(class, flags) ? changing.lists : 13;
}
/* With any flag, the configuration manager also locates devices that are no longer present. */
static DWORD WINAPI cm_locate(DWORD *device, const wchar_t *name, ULONG flags) { return *device = name[1] - '0', flags ? 0 : changing.unlocated; }
static DWORD WINAPI cm_status(ULONG *status, ULONG *problem, DWORD device, ULONG flags) {
    return (void)flags, *status = states[device].status, *problem = states[device].problem, states[device].told;
}
static DWORD WINAPI cm_key(DWORD device, DWORD access, ULONG profile, DWORD how, HKEY *out, ULONG flags) {
    wchar_t name[64];
    swprintf(name, 64, DEVICES L"%d", (int)device);
    if (profile || how != 1 || flags != 1 || RegOpenKeyExW(HKEY_LOCAL_MACHINE, name, 0, access, out))
        return 13;
    registry.changing += (access & ~KEY_READ) != 0;
    return registry.opened++, 0;
}
static DWORD WINAPI cm_child(DWORD *out, DWORD device, ULONG flags) { return (void)flags, *out = 2, device == 1 ? 0 : 13; }
static DWORD WINAPI cm_sibling(DWORD *out, DWORD device, ULONG flags) {
    changing.siblings++;
    /* The list ends after many calls, so that a loader without a limit ends too. */
    if (changing.endless && device != 2)
        return *out = device, changing.siblings < 100000 ? 0 : 13;
    return (void)flags, *out = 3, device == 2 ? 0 : 13;
}
static DWORD WINAPI cm_name(DWORD device, wchar_t *out, ULONG length, ULONG flags) {
    return (void)flags, swprintf(out, length, L"D%d", (int)device), changing.unnamed;
}
static DWORD WINAPI cm_property(DWORD device, ULONG which, ULONG *type, void *out, ULONG *size, ULONG flags) {
    (void)type, (void)flags;
    if (which != 9 || *size < 78)
        return 26;
    const int is_component = device == 3 || changing.both;
    memcpy(out, !is_component ? L"{00000000-344d-483c-8739-259e934c9cc8}" : changing.capitals ? L"{5C4C3332-344D-483C-8739-259E934C9CC8}"
        : L"{5c4c3332-344d-483c-8739-259e934c9cc8}", 78);
    return changing.unclassed;
}
static const struct { const char *name; void *function; } manager[] = {
    {"CM_Get_Device_ID_List_SizeW", cm_list_size}, {"CM_Get_Device_ID_ListW", cm_list}, {"CM_Locate_DevNodeW", cm_locate},
    {"CM_Get_DevNode_Status", cm_status}, {"CM_Open_DevNode_Key", cm_key}, {"CM_Get_Child", cm_child},
    {"CM_Get_Sibling", cm_sibling}, {"CM_Get_Device_IDW", cm_name}, {"CM_Get_DevNode_Registry_PropertyW", cm_property},
};

static int without_dxgi, with_kernel, with_devices;
/* The Khronos loader stores this function, so the function selects the factory at every call. */
static HRESULT WINAPI any_factory(REFIID kind, void **out) {
    if (without_dxgi)
        return *out = NULL, E_FAIL;
    if (graphics.count >= 0)
        return create_factory(kind, out);
    HRESULT(WINAPI *create)(REFIID, void **) = (void *)GetProcAddress(LoadLibraryW(L"dxgi.dll"), "CreateDXGIFactory1");
    return create ? create(kind, out) : E_FAIL;
}
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
        if (!strcmp(name, "CreateDXGIFactory1")) return (FARPROC)(void *)any_factory;
    }
    return GetProcAddress(module, name);
}

/* Redirects the functions of the configuration manager. The Khronos loader imports these functions, but this library
 * looks them up at every use. */
static void lead_manager(void) {
    HMODULE module = LoadLibraryA("cfgmgr32.dll");
    for (size_t index = 0; index < sizeof manager / sizeof manager[0]; index++)
        import(manager[index].name, with_devices ? manager[index].function : (void *)GetProcAddress(module, manager[index].name));
    FreeLibrary(module);
}

static char debugged[4096];
static void WINAPI debug(const wchar_t *text) {
    const size_t length = strlen(debugged);
    if (length < 3000)
        snprintf(debugged + length, 1000, "%ls", text);
}
static void WINAPI debug_bytes(const char *text) {
    const size_t length = strlen(debugged);
    if (length < 3000)
        snprintf(debugged + length, 1000, "%s", text);
}

/* If there is no space for the data, the function does not change the length of the name. Windows does not define
 * the length in this case. */
static LONG WINAPI enum_value(HKEY key, DWORD index, wchar_t *name, DWORD *length, DWORD *none, DWORD *type, BYTE *data, DWORD *size) {
    const DWORD room = *length;
    const LONG told = RegEnumValueW(key, index, name, length, none, type, data, size);
    if (told == ERROR_MORE_DATA)
        *length = room;
    return told;
}

static LONG WINAPI open_key(HKEY root, const wchar_t *path, DWORD none, REGSAM access, HKEY *out) {
    const LONG told = RegOpenKeyExW(root, path, none, access, out);
    registry.changing += (access & ~KEY_READ) != 0;
    registry.opened += !told;
    return told;
}
static LONG WINAPI close_key(HKEY key) { return registry.closed++, RegCloseKey(key); }
static LONG WINAPI query_value(HKEY key, const wchar_t *name, DWORD *none, DWORD *type, BYTE *data, DWORD *size) {
    const DWORD room = data ? *size : 0;
    const LONG told = registry.told ? (LONG)registry.told : RegQueryValueExW(key, name, none, type, data, size);
    registry.asked++;
    if (!data || told || !registry.growing)
        return told;
    registry.growing--;
    return *size = room + 64, ERROR_MORE_DATA;
}

/* Error code with which the opening of files fails if their paths contain "absent". Zero means that the opening succeeds. */
static DWORD file_fails;
static HANDLE WINAPI create_file(const wchar_t *path, DWORD access, DWORD share, SECURITY_ATTRIBUTES *security, DWORD how, DWORD flags, HANDLE like) {
    if (!file_fails || !wcsstr(path, L"absent"))
        return CreateFileW(path, access, share, security, how, flags, like);
    SetLastError(file_fails);
    return INVALID_HANDLE_VALUE;
}

/* If `read_fails` is nonzero, reading a file fails. `reads` is the number of failed calls. After 1,000 calls, reading succeeds, so that
 * a loader that repeats its calls without a limit ends too. */
static int read_fails, reads;
static LONG(NTAPI *real_read)(HANDLE, HANDLE, void *, void *, void *, void *, ULONG, LARGE_INTEGER *, ULONG *);
static LONG NTAPI read_file(HANDLE file, HANDLE event, void *routine, void *context, void *status, void *out, ULONG size, LARGE_INTEGER *at, ULONG *key) {
    if (read_fails && ++reads < 1000)
        return 0xC0000185;
    return real_read(file, event, routine, context, status, out, size, at, key);
}

/* Error code with which the listing of a folder fails at the file `unread.json`. Zero means that the listing succeeds. */
static DWORD folder_fails;
static BOOL WINAPI next_file(HANDLE folder, WIN32_FIND_DATAW *out) {
    if (!FindNextFileW(folder, out))
        return FALSE;
    return !folder_fails || wcscmp(out->cFileName, L"unread.json") ? TRUE : (SetLastError(folder_fails), FALSE);
}

/* If `files_are_links` is nonzero, each file looks like a symbolic link, because a program under Wine cannot create links. */
static int files_are_links;
static BOOL WINAPI file_information(HANDLE file, BY_HANDLE_FILE_INFORMATION *out) {
    const BOOL told = GetFileInformationByHandle(file, out);
    out->dwFileAttributes |= files_are_links ? FILE_ATTRIBUTE_REPARSE_POINT : 0;
    return told;
}
static BOOL WINAPI link_information(HANDLE file, FILE_INFO_BY_HANDLE_CLASS which, void *out, DWORD size) {
    const BOOL told = GetFileInformationByHandleEx(file, which, out, size);
    if (files_are_links && which == FileAttributeTagInfo)
        *(FILE_ATTRIBUTE_TAG_INFO *)out = (FILE_ATTRIBUTE_TAG_INFO){FILE_ATTRIBUTE_REPARSE_POINT, IO_REPARSE_TAG_SYMLINK};
    return told;
}

/* Error codes with which the loading fails for libraries whose paths contain "driver", and for bare names. Zero
 * means that the loading succeeds. Wine opens plain paths of every length. With `short_paths`, a path opens only if
 * its length is valid for every version of Windows. `other_loads` is the number of calls for other.dll. */
static DWORD load_fails, bare_fails;
static int short_paths, verbatim_loads, other_loads;
static HMODULE(WINAPI *real_load)(const wchar_t *, HANDLE, DWORD);
static HMODULE WINAPI load(const wchar_t *path, HANDLE file, DWORD flags) {
    const int is_bare = !wcspbrk(path, L"\\/"), is_verbatim = !wcsncmp(path, L"\\\\?\\", 4);
    const DWORD fails = bare_fails && is_bare ? bare_fails : load_fails && wcsstr(path, L"driver") ? load_fails
        : short_paths && !is_verbatim && wcslen(path) >= MAX_PATH ? ERROR_FILENAME_EXCED_RANGE : 0;
    verbatim_loads += is_verbatim;
    other_loads += wcsstr(path, L"other.dll") != NULL;
    if (!fails)
        return real_load(path, file, flags);
    SetLastError(fails);
    return NULL;
}

static HMODULE WINAPI load_plain(const wchar_t *path) { return load(path, NULL, 0); }

/* If `on` is nonzero, the query for the folder of Windows returns `length` and writes no path. */
static struct { int on; UINT length; } windows_folder;
static UINT WINAPI system_windows(wchar_t *out, UINT room) {
    return windows_folder.on ? windows_folder.length : GetSystemWindowsDirectoryW(out, room);
}
