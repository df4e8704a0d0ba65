/* Steps that use the drivers of the machine. These steps measure the first calls of a program, and the same work
 * with the drivers alone. */
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

/* Returns the processor time of all threads of this process in nanoseconds. On a busy machine, this figure is more
 * reliable than the elapsed time. */
static long processor(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}

/* Creates an instance and lists its physical devices. */
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

static const VkApplicationInfo MODERN = {
    .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
    .apiVersion = VK_API_VERSION_1_1,
};
static const VkInstanceCreateInfo MODERN_INSTANCE = {
    .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
    .pApplicationInfo = &MODERN,
};

/* Calls the queries that programs call before they choose a device. */
static void describe(const struct run *run, VkPhysicalDevice device) {
    static VkExtensionProperties extensions[1024];
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    VkPhysicalDeviceProperties old_properties;
    VkPhysicalDeviceFeatures old_features;
    VkPhysicalDeviceMemoryProperties memory;
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    ((PFN_vkGetPhysicalDeviceProperties)exported(run, "vkGetPhysicalDeviceProperties"))(device, &old_properties);
    ((PFN_vkGetPhysicalDeviceFeatures)exported(run, "vkGetPhysicalDeviceFeatures"))(device, &old_features);
    ((PFN_vkGetPhysicalDeviceProperties2)exported(run, "vkGetPhysicalDeviceProperties2"))(device, &properties);
    ((PFN_vkGetPhysicalDeviceFeatures2)exported(run, "vkGetPhysicalDeviceFeatures2"))(device, &features);
    ((PFN_vkGetPhysicalDeviceMemoryProperties)exported(run, "vkGetPhysicalDeviceMemoryProperties"))(device, &memory);
    ((PFN_vkGetPhysicalDeviceQueueFamilyProperties)exported(run, "vkGetPhysicalDeviceQueueFamilyProperties"))(device, &count, families);
    const PFN_vkGetPhysicalDeviceFormatProperties format = exported(run, "vkGetPhysicalDeviceFormatProperties");
    for (VkFormat one = VK_FORMAT_R8G8B8A8_UNORM; one < VK_FORMAT_R8G8B8A8_UNORM + 20; one++) {
        VkFormatProperties found;
        format(device, one, &found);
    }
    const PFN_vkEnumerateDeviceExtensionProperties list = exported(run, "vkEnumerateDeviceExtensionProperties");
    count = 0;
    demand(list(device, NULL, &count, NULL) == VK_SUCCESS && count <= 1024, "device extensions");
    demand(list(device, NULL, &count, extensions) == VK_SUCCESS, "device extensions");
}

/* Creates an instance and describes each of its devices. With `used`, also creates and destroys a logical device on
 * each physical device. */
static void walk(const struct run *run, bool used) {
    const PFN_vkEnumerateInstanceExtensionProperties extensions = exported(run, "vkEnumerateInstanceExtensionProperties");
    const PFN_vkEnumeratePhysicalDevices enumerate_devices = exported(run, "vkEnumeratePhysicalDevices");
    const PFN_vkCreateDevice create = exported(run, "vkCreateDevice");
    const PFN_vkDestroyDevice destroy = exported(run, "vkDestroyDevice");
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
    VkInstance instance;
    VkPhysicalDevice found[MOST_DEVICES];
    uint32_t count = 0;
    demand(extensions(NULL, &count, NULL) == VK_SUCCESS, "instance extensions");
    demand(run->create(&MODERN_INSTANCE, NULL, &instance) == VK_SUCCESS, "vkCreateInstance failed");
    count = MOST_DEVICES;
    demand(enumerate_devices(instance, &count, found) == VK_SUCCESS && count > 0, "no physical device");
    for (uint32_t i = 0; i < count; i++)
        describe(run, found[i]);
    for (uint32_t i = 0; used && i < count; i++) {
        VkDevice device;
        demand(create(found[i], &info, NULL, &device) == VK_SUCCESS, "vkCreateDevice failed");
        destroy(device, NULL);
    }
    run->destroy(instance, NULL);
}

void look_at_all(struct run *run, long unused) {
    (void)unused;
    begin();
    walk(run, false);
    end("looked", 1);
}

void use_all(struct run *run, long unused) {
    (void)unused;
    begin();
    walk(run, true);
    end("used", 1);
}

/* Driver that this program calls without a loader, as if the program knew the path of the driver's library. */
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

/* Measures the drivers whose libraries `run->text` lists, with colons between them. The libraries remain open until
 * the process ends. */
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

/* Prints `mapped PATH` for each file that this process has mapped while an instance exists. */
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
