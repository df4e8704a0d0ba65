/* Opens the library at run time and takes every command through vkGetInstanceProcAddr, as engines do.
 * With the argument `device`, commands of a device come from vkGetDeviceProcAddr and pass no trampoline. */
#include "tour.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static PFN_vkGetInstanceProcAddr get_instance_proc_addr;

/* Fetches one command; the first that is not offered ends the enclosing function with its name. */
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

int main(int count, char **arguments) {
    const bool device = count > 1 && strcmp(arguments[1], "device") == 0;
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    get_instance_proc_addr = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    struct api api = {0};
    const char *lacking = get_instance_proc_addr ? load_globals(&api) : "vkGetInstanceProcAddr";
    if (lacking) {
        fprintf(stderr, "the library does not offer %s\n", lacking);
        return 1;
    }
    const struct loading loading = {.instance = load_from_instance, .device = device ? load_from_device : NULL};
    const int status = tour(&api, &loading);
    dlclose(library);
    return status;
}
