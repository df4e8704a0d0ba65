// A driver with the oldest interface, for tests of crashes: the variable WRONG selects where and how the driver fails (see wrong.hpp).
#include "vulkan.hpp"
#include "wrong.hpp"
#include <cstring>

struct Instance {
    uintptr_t magic;
};

static Instance instance = {0x01CDC0DE};

__attribute__((constructor)) static void open() { at("driver", "open"); }

__attribute__((destructor)) static void close_() { at("driver", "close"); }

static void at_exit() { at("driver", "exit"); }

static void *linger(void *) {
    for (;;) usleep(10000);
}

static int *volatile target;
static volatile int number;
static void *work(void *) {
    for (;;) *target = 1;
}
static void stop_work() {
    target = nullptr;
    sleep(60);
}

// A function for the end of a thread, in a library that is closed before the thread ends.
static void end_thread(void *memory) { free(memory); }

static int create_instance(const InstanceInfo *, const Callbacks *callbacks, Instance **made) {
    std::string how;
    at("driver", "create");
    if (is_wrong("driver", "thread", &how)) {
        start_thread(how);
        // The new thread crashes the process during this time.
        sleep(60);
    }
    if (is_wrong("driver", "later", &how)) start_thread(how);
    if (is_wrong("driver", "exit", &how)) atexit(at_exit);
    if (is_wrong("driver", "lingers", &how)) {
        pthread_t thread;
        pthread_create(&thread, nullptr, linger, nullptr);
    }
    if (is_wrong("driver", "works", &how)) {
        target = const_cast<int *>(&number);
        pthread_t thread;
        pthread_create(&thread, nullptr, work, nullptr);
        atexit(stop_work);
    }
    if (is_wrong("driver", "key", &how)) {
        pthread_key_t key;
        pthread_key_create(&key, end_thread);
        pthread_setspecific(key, malloc(8));
    }
    if (callbacks) callbacks->release(callbacks->data, callbacks->allocate(callbacks->data, 64, 8, 4));
    *made = &instance;
    return 0;
}

static void destroy_instance(Instance *, const Callbacks *) { at("driver", "destroy"); }

static int list_extensions(const char *, uint32_t *count, void *) {
    at("driver", "extensions");
    *count = 0;
    return 0;
}

static int list_devices(Instance *, uint32_t *count, void *) {
    at("driver", "call");
    *count = 0;
    return 0;
}

static void nothing_to_say() {}

extern "C" Function vk_icdGetInstanceProcAddr(Instance *, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return (Function)create_instance;
    if (!strcmp(name, "vkDestroyInstance")) return (Function)destroy_instance;
    if (!strcmp(name, "vkEnumerateInstanceExtensionProperties")) return (Function)list_extensions;
    if (!strcmp(name, "vkEnumeratePhysicalDevices")) return (Function)list_devices;
    if (!strcmp(name, "vkEnumerateInstanceVersion")) return nullptr;
    return nothing_to_say;
}

extern "C" int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    at("driver", "negotiate");
    if (*version > 5) *version = 5;
    return 0;
}
