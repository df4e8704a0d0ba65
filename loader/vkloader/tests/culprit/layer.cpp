// A layer for tests of crashes: the variable WRONG selects where and how the layer fails (see wrong.hpp).
#include "vulkan.hpp"
#include "wrong.hpp"
#include <cstring>

struct Link {
    Link *next;
    GetProcAddr instance;
    GetProcAddr physical;
};

struct LinkInfo {
    int type;
    const LinkInfo *next;
    int function;
    Link *link;
};

struct Interface {
    int type;
    void *next;
    uint32_t version;
    GetProcAddr instance;
    GetProcAddr device;
    GetProcAddr physical;
};

typedef int (*CreateInstance)(const InstanceInfo *, const Callbacks *, void **);
typedef int (*ListDevices)(void *, uint32_t *, void *);
typedef void (*DestroyInstance)(void *, const Callbacks *);

static GetProcAddr below;
static void *made_instance;

__attribute__((constructor)) static void open() { at("layer", "open"); }

static void at_exit() { at("layer", "exit"); }

static int create_instance(const InstanceInfo *info, const Callbacks *callbacks, void **made) {
    std::string how;
    at("layer", "create");
    auto *link = (const LinkInfo *)info->next;
    while (link && !(link->type == 47 && link->function == 0)) link = link->next;
    below = link->link->instance;
    const_cast<LinkInfo *>(link)->link = link->link->next;
    int result = ((CreateInstance)below(nullptr, "vkCreateInstance"))(info, callbacks, made);
    made_instance = *made;
    if (is_wrong("layer", "thread", &how)) {
        start_thread(how);
        sleep(60);
    }
    if (is_wrong("layer", "exit", &how)) atexit(at_exit);
    at("layer", "created");
    return result;
}

static int list_devices(void *instance, uint32_t *count, void *devices) {
    at("layer", "call");
    return ((ListDevices)below(instance, "vkEnumeratePhysicalDevices"))(instance, count, devices);
}

static void destroy_instance(void *instance, const Callbacks *callbacks) {
    at("layer", "destroy");
    ((DestroyInstance)below(instance, "vkDestroyInstance"))(instance, callbacks);
}

extern "C" Function layer_get(void *instance, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return (Function)create_instance;
    if (!strcmp(name, "vkDestroyInstance")) return (Function)destroy_instance;
    if (!strcmp(name, "vkEnumeratePhysicalDevices")) return (Function)list_devices;
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (Function)layer_get;
    return below ? below(instance, name) : nullptr;
}

extern "C" int vkNegotiateLoaderLayerInterfaceVersion(Interface *wanted) {
    at("layer", "negotiate");
    wanted->version = 2;
    wanted->instance = layer_get;
    wanted->device = nullptr;
    wanted->physical = nullptr;
    return 0;
}
