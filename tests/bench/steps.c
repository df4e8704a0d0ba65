/* Steps of a measurement. Each step prepares the state that it needs, and repeats its measurement as often as the
 * command line requests. */
#include "measure.h"
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 64, MOST_THREADS = 64, MOST_PROPERTIES = 1024, INSTANCES_HELD = 64 };

static VkInstance new_instance(const struct run *run) {
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledLayerCount = run->layers,
        .ppEnabledLayerNames = run->layer_names,
    };
    VkInstance instance = NULL;
    demand(run->create(&info, NULL, &instance) == VK_SUCCESS, "vkCreateInstance failed");
    return instance;
}

static void instances(struct run *run, long unused) {
    (void)unused;
    for (int i = 0; i < run->repeat; i++) {
        begin();
        run->destroy(new_instance(run), NULL);
        end("instance", 1);
    }
}

static void extensions(struct run *run, long unused) {
    (void)unused;
    const PFN_vkEnumerateInstanceExtensionProperties query = exported(run, "vkEnumerateInstanceExtensionProperties");
    static VkExtensionProperties properties[MOST_PROPERTIES];
    for (int i = 0; i < run->repeat; i++) {
        uint32_t count = MOST_PROPERTIES;
        begin();
        const VkResult result = query(NULL, &count, properties);
        end("extensions", 1);
        demand(result == VK_SUCCESS && count > 0, "vkEnumerateInstanceExtensionProperties failed");
    }
}

static void layers(struct run *run, long expected) {
    const PFN_vkEnumerateInstanceLayerProperties query = exported(run, "vkEnumerateInstanceLayerProperties");
    static VkLayerProperties properties[MOST_PROPERTIES];
    for (int i = 0; i < run->repeat; i++) {
        uint32_t count = MOST_PROPERTIES;
        begin();
        const VkResult result = query(&count, properties);
        end("layers", 1);
        demand(result == VK_SUCCESS && count == expected, "not the layers expected");
    }
}

/* An instance, one of its physical devices, and a device that was created from the physical device. */
struct place {
    VkInstance instance;
    VkPhysicalDevice physical;
    PFN_vkCreateDevice create;
    PFN_vkDestroyDevice destroy;
};

static struct place place(const struct run *run) {
    struct place here = {.instance = new_instance(run)};
    const PFN_vkEnumeratePhysicalDevices devices = exported(run, "vkEnumeratePhysicalDevices");
    VkPhysicalDevice found[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    demand(devices(here.instance, &count, found) == VK_SUCCESS && count > 0, "no physical device");
    here.physical = found[0];
    here.create = exported(run, "vkCreateDevice");
    here.destroy = exported(run, "vkDestroyDevice");
    return here;
}

static VkDevice new_device(const struct place *here) {
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    VkDevice device = NULL;
    demand(here->create(here->physical, &info, NULL, &device) == VK_SUCCESS, "vkCreateDevice failed");
    return device;
}

static void devices(struct run *run, long unused) {
    (void)unused;
    const struct place here = place(run);
    for (int i = 0; i < run->repeat; i++) {
        begin();
        here.destroy(new_device(&here), NULL);
        end("device", 1);
    }
    run->destroy(here.instance, NULL);
}

/* Type of functions that look up a command. `reload` looks up all names, or all names with an underscore appended. With
 * vkGetDeviceProcAddr, it looks up only device commands. */
typedef PFN_vkVoidFunction (*look_up)(void *handle, const char *name);

static void reload(const struct run *run, look_up get, void *handle, const char *label, const char *level,
                   bool misses) {
    static char texts[4096][96];
    long count = 0, found = 0;
    for (char **name = run->names; name && *name; name++)
        if (!strncmp(*name, level, strlen(level)))
            snprintf(texts[count++], sizeof *texts, "%s%s", strchr(*name, ' ') + 1, misses ? "_" : "");
    demand(count > 0, "look-ups need names (-n)");
    for (int i = 0; i < run->repeat; i++) {
        found = 0;
        begin();
        for (long name = 0; name < count; name++)
            found += get(handle, texts[name]) != NULL;
        end(label, count);
    }
    demand(misses ? found == 0 : found > count / 2, label);
    char answered[64];
    snprintf(answered, sizeof answered, "%s-found", label);
    tell(answered, found);
}

/* Measures a successful look-up of each of several names with different lengths. */
static void single(look_up get, void *handle, const char *label) {
    static const char *const NAMES[] = {
        "vkCmdDraw",
        "vkCmdDispatch",
        "vkCreateSampler",
        "vkCmdPushConstants",
        "vkCmdBindDescriptorSets",
        "vkAllocateCommandBuffers",
        "vkGetBufferMemoryRequirements",
        "vkInvalidateMappedMemoryRanges",
        "vkGetDescriptorSetLayoutSupport",
        "vkGetImageSparseMemoryRequirements",
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char which[64];
        snprintf(which, sizeof which, "%s-hit:%zu", label, strlen(NAMES[i]));
        demand(get(handle, NAMES[i]) != NULL, NAMES[i]);
        begin();
        get(handle, NAMES[i]);
        end(which, 1);
    }
}

static void look_ups(struct run *run, long unused) {
    (void)unused;
    const struct place here = place(run);
    const VkDevice device = new_device(&here);
    const look_up of_device = (look_up)exported(run, "vkGetDeviceProcAddr");
    const look_up of_instance = (look_up)run->get;
    reload(run, of_device, device, "gdpa", "device ", false);
    reload(run, of_device, device, "gdpa-miss", "device ", true);
    reload(run, of_instance, here.instance, "gipa", "", false);
    reload(run, of_instance, here.instance, "gipa-miss", "", true);
    if (counting()) {
        single(of_device, device, "gdpa");
        single(of_instance, here.instance, "gipa");
    }
    here.destroy(device, NULL);
    run->destroy(here.instance, NULL);
}

static void draws(const struct run *run, PFN_vkCmdDraw draw, VkCommandBuffer buffer, const char *label) {
    const long count = counting() ? 1000 : 100000;
    for (int i = 0; i < run->repeat; i++) {
        begin();
        for (long call = 0; call < count; call++)
            draw(buffer, 3, 1, 0, 0);
        end(label, count);
    }
}

static void reads(const struct run *run, PFN_vkGetPhysicalDeviceProperties read, VkPhysicalDevice physical,
                  const char *label) {
    const long count = counting() ? 1000 : 100000;
    VkPhysicalDeviceProperties properties;
    for (int i = 0; i < run->repeat; i++) {
        begin();
        for (long call = 0; call < count; call++)
            read(physical, &properties);
        end(label, count);
    }
}

static void calls(struct run *run, long unused) {
    (void)unused;
    const struct place here = place(run);
    const VkDevice device = new_device(&here);
    const PFN_vkAllocateCommandBuffers allocate = exported(run, "vkAllocateCommandBuffers");
    const PFN_vkGetDeviceProcAddr get = exported(run, "vkGetDeviceProcAddr");
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandBufferCount = 1,
    };
    VkCommandBuffer buffer;
    demand(allocate(device, &info, &buffer) == VK_SUCCESS, "no command buffer");
    draws(run, exported(run, "vkCmdDraw"), buffer, "draw-exported");
    draws(run, (PFN_vkCmdDraw)run->get(here.instance, "vkCmdDraw"), buffer, "draw-instance");
    draws(run, (PFN_vkCmdDraw)get(device, "vkCmdDraw"), buffer, "draw-device");
    reads(run, exported(run, "vkGetPhysicalDeviceProperties"), here.physical, "properties-exported");
    const char *const properties = "vkGetPhysicalDeviceProperties";
    reads(run, (PFN_vkGetPhysicalDeviceProperties)run->get(here.instance, properties), here.physical,
          "properties-instance");
    here.destroy(device, NULL);
    run->destroy(here.instance, NULL);
}

static void *make_and_destroy(void *argument) {
    const struct run *run = argument;
    for (int i = 0; i < run->repeat; i++)
        run->destroy(new_instance(run), NULL);
    return NULL;
}

static void threads(struct run *run, long count) {
    pthread_t threads[MOST_THREADS];
    demand(count > 0 && count <= MOST_THREADS, "how many threads?");
    run->destroy(new_instance(run), NULL);
    begin();
    for (long i = 0; i < count; i++)
        demand(!pthread_create(&threads[i], NULL, make_and_destroy, run), "pthread_create failed");
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    end("threads", count * run->repeat);
}

static long heap(void) {
    const struct mallinfo2 now = mallinfo2();
    return (long)(now.uordblks + now.hblkhd);
}

/* Returns a number from /proc/self/status in bytes. */
static long status(const char *key) {
    FILE *file = fopen("/proc/self/status", "r");
    demand(file, "/proc/self/status");
    char line[256];
    long value = -1;
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            value = strtol(line + strlen(key), NULL, 10) * 1024;
    fclose(file);
    return value;
}

static void memory(struct run *run, long unused) {
    (void)unused;
    static VkInstance held[INSTANCES_HELD];
    run->destroy(new_instance(run), NULL);
    const long before = heap();
    for (int i = 0; i < INSTANCES_HELD; i++)
        held[i] = new_instance(run);
    tell("memory", (heap() - before) / INSTANCES_HELD);
    for (int i = 0; i < INSTANCES_HELD; i++)
        run->destroy(held[i], NULL);
}

static void growth(struct run *run, long rounds) {
    for (int i = 0; i < 100; i++)
        run->destroy(new_instance(run), NULL);
    /* Calls `status` before `heap`. Reading /proc/self/status leaves freed blocks in the heap, and `heap` counts these
     * blocks as used. */
    const long resident = status("VmRSS:"), used = heap();
    for (long i = 0; i < rounds; i++)
        run->destroy(new_instance(run), NULL);
    tell("growth-heap", heap() - used);
    tell("growth-resident", status("VmRSS:") - resident);
}

const struct step STEPS[] = {
    {"extensions", extensions},
    {"layers", layers},
    {"instance", instances},
    {"device", devices},
    {"look-ups", look_ups},
    {"calls", calls},
    {"threads", threads},
    {"memory", memory},
    {"growth", growth},
    {"enumerate", enumerate},
    {"probes", probes},
    {"look", look_at_all},
    {"use", use_all},
    {"direct", direct},
    {"mapped", mapped},
    {NULL, NULL},
};
