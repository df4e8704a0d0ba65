/* The steps that go through the drivers of a machine: what a program's first calls cost, and what the drivers alone would. */
#include "measure.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_DRIVERS = 64, MOST_DEVICES = 64, INTERFACE = 5 };

static const VkApplicationInfo APPLICATION = {
    .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
    .apiVersion = VK_API_VERSION_1_0,
};
static const VkInstanceCreateInfo INSTANCE = {
    .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
    .pApplicationInfo = &APPLICATION,
};

/* Nanoseconds that all threads of this process have computed: on a busy machine the better figure. */
static long processor(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}

/* An instance and its physical devices. */
static VkInstance look(const struct run *run) {
    const PFN_vkEnumeratePhysicalDevices devices = exported(run, "vkEnumeratePhysicalDevices");
    VkInstance instance = NULL;
    demand(run->create(&INSTANCE, NULL, &instance) == VK_SUCCESS, "vkCreateInstance failed");
    VkPhysicalDevice found[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    demand(devices(instance, &count, found) == VK_SUCCESS && count > 0, "no physical device");
    return instance;
}

void enumerate(struct run *run, long unused) {
    (void)unused;
    const long before = processor();
    begin();
    const VkInstance instance = look(run);
    end("enumerate", 1);
    tell("processor", processor() - before);
    run->destroy(instance, NULL);
}

void probes(struct run *run, long unused) {
    (void)unused;
    VkInstance instance = look(run);
    for (int i = 0; i < run->repeat; i++) {
        begin();
        run->destroy(instance, NULL);
        end("destroy", 1);
        begin();
        instance = look(run);
        end("again", 1);
    }
    run->destroy(instance, NULL);
}

/* A driver without a loader: what a program would do that knew which one to open. */
struct driver {
    void *library;
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
};

static long ask(struct driver *driver) {
    VkResult (*negotiate)(uint32_t *) = dlsym(driver->library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    driver->get = (PFN_vkGetInstanceProcAddr)dlsym(driver->library, "vk_icdGetInstanceProcAddr");
    uint32_t interface = INTERFACE;
    if (!driver->get || (negotiate && negotiate(&interface) != VK_SUCCESS))
        return 0;
    const PFN_vkCreateInstance create = (PFN_vkCreateInstance)driver->get(NULL, "vkCreateInstance");
    if (!create || create(&INSTANCE, NULL, &driver->instance) != VK_SUCCESS)
        return 0;
    const PFN_vkEnumeratePhysicalDevices devices =
        (PFN_vkEnumeratePhysicalDevices)driver->get(driver->instance, "vkEnumeratePhysicalDevices");
    VkPhysicalDevice found[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    return devices && devices(driver->instance, &count, found) >= 0 ? (long)count : 0;
}

/* Libraries, with colons between them. None is closed: the end of the process does that. */
void direct(struct run *run, long unused) {
    (void)unused;
    static struct driver drivers[MOST_DRIVERS];
    size_t count = 0;
    long devices = 0;
    const long before = processor();
    begin();
    for (char *name = strtok(run->text, ":"); name && count < MOST_DRIVERS; name = strtok(NULL, ":")) {
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        demand(library, library ? "" : dlerror());
        drivers[count++].library = library;
    }
    end("opened", 1);
    begin();
    for (size_t i = 0; i < count; i++)
        devices += ask(&drivers[i]);
    end("asked", 1);
    tell("processor", processor() - before);
    tell("devices", devices);
}

/* The files that this process maps while it has an instance: `mapped PATH`. */
void mapped(struct run *run, long unused) {
    (void)unused;
    const VkInstance instance = look(run);
    FILE *file = fopen("/proc/self/maps", "r");
    demand(file, "/proc/self/maps");
    char line[8192], last[8192] = "";
    while (fgets(line, sizeof line, file)) {
        const char *path = strchr(line, '/');
        if (path && strcmp(path, last)) {
            strcpy(last, path);
            printf("mapped %s", path);
        }
    }
    fclose(file);
    run->destroy(instance, NULL);
}
