/* Opens the library at run time and looks up every command through vkGetInstanceProcAddr, like game engines. With the
 * argument `device`, the commands of a device come from vkGetDeviceProcAddr and use no trampoline. With `again`, the
 * program unloads the library and repeats all steps. `mock` means that the devices execute nothing. */
#include "tour.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static PFN_vkGetInstanceProcAddr get_instance_proc_addr;

/* Looks up a command. If the command is missing, the enclosing function returns its name. */
#define FETCH(name, from)                                                                                              \
    if (!(api->name = (PFN_##name)(from)))                                                                             \
        return #name;
#define FROM_NOTHING(name) FETCH(name, get_instance_proc_addr(NULL, #name))
#define FROM_INSTANCE(name) FETCH(name, get_instance_proc_addr(instance, #name))
#define FROM_DEVICE(name) FETCH(name, api->vkGetDeviceProcAddr(device, #name))

static const char *load_globals(struct api *api) {
    GLOBAL_COMMANDS(FROM_NOTHING)
    return NULL;
}

static const char *load_from_instance(struct api *api, VkInstance instance) {
    INSTANCE_COMMANDS(FROM_INSTANCE)
    DEVICE_COMMANDS(FROM_INSTANCE)
    return NULL;
}

static const char *load_from_device(struct api *api, VkDevice device) {
    DEVICE_COMMANDS(FROM_DEVICE)
    return NULL;
}

static bool has(int count, char **arguments, const char *word) {
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], word) == 0)
            return true;
    return false;
}

/* Opens the library, runs `tour`, and closes the library. */
static int once(const struct loading *loading) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    get_instance_proc_addr = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    struct api api = {0};
    const char *lacking = get_instance_proc_addr ? load_globals(&api) : "vkGetInstanceProcAddr";
    if (lacking)
        fprintf(stderr, "the library does not offer %s\n", lacking);
    const int status = lacking ? 1 : tour(&api, loading);
    dlclose(library);
    return status;
}

int main(int count, char **arguments) {
    const struct loading loading = {
        .instance = load_from_instance,
        .device = has(count, arguments, "device") ? load_from_device : NULL,
        .mock = has(count, arguments, "mock"),
    };
    int status = once(&loading);
    if (status == 0 && has(count, arguments, "again")) {
        if (dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NOLOAD)) {
            fprintf(stderr, "the library did not leave the process\n");
            return 1;
        }
        status = once(&loading);
    }
    return status;
}
