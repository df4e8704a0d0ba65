/* A program for every processor and C library. The program opens the library that its argument names, and uses the
 * driver (driver.c) with everything in which word sizes could cause errors: handles and sizes of 64 bits, and functions
 * that no loader knows.
 *
 *     program LIBRARY [WHAT NUMBER]
 *
 * repeats one operation NUMBER times, so that another program can count its instructions. `instance` and `device` are
 * look-ups by name.
 * `draw` calls a command of a device, and `query` a command of a physical device. */
#define _GNU_SOURCE
#include "numbers.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr look_up;
static VkInstance instance;
static const char *what = "none";
static long number;

#define GET(name) PFN_##name name = (PFN_##name)look_up(instance, #name)
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: not so: %s\n", __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

typedef uint64_t (*Odd)(void *, uint64_t, float, double, uint32_t, uint64_t, float, uint64_t, double, uint64_t,
                        uint32_t, uint64_t);

static uint64_t sum(uint64_t a, float b, double c, uint32_t d, uint64_t e, float f, uint64_t g, double h, uint64_t i,
                    uint32_t j, uint64_t k) {
    return ODD_SUM(a, b, c, d, e, f, g, h, i, j, k);
}

static void repeat(VkPhysicalDevice physical, VkDevice device, VkCommandBuffer buffer) {
    GET(vkGetDeviceProcAddr);
    GET(vkCmdDrawIndirect);
    GET(vkGetPhysicalDeviceFeatures);
    VkPhysicalDeviceFeatures features;
    Dl_info library;
    if (number && dladdr((void *)look_up, &library))
        printf("library at %p\n", library.dli_fbase);
    if (!strcmp(what, "instance"))
        for (long i = 0; i < number; i++)
            look_up(instance, "vkCmdDrawIndirect");
    if (!strcmp(what, "device"))
        for (long i = 0; i < number; i++)
            vkGetDeviceProcAddr(device, "vkCmdDrawIndirect");
    if (!strcmp(what, "draw"))
        for (long i = 0; i < number; i++)
            vkCmdDrawIndirect(buffer, (VkBuffer)BUFFER, OFFSET, 3, 4);
    if (!strcmp(what, "query"))
        for (long i = 0; i < number; i++)
            vkGetPhysicalDeviceFeatures(physical, &features);
}

static int use_device(VkPhysicalDevice physical, VkDevice device) {
    GET(vkAllocateCommandBuffers);
    GET(vkBindBufferMemory);
    GET(vkCmdDrawIndirect);
    VkCommandBuffer buffer;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = (VkCommandPool)BUFFER,
        .commandBufferCount = 1,
    };
    CHECK(vkAllocateCommandBuffers(device, &info, &buffer) == VK_SUCCESS);
    CHECK(vkBindBufferMemory(device, (VkBuffer)BUFFER, (VkDeviceMemory)MEMORY, OFFSET) == VK_SUCCESS);
    vkCmdDrawIndirect(buffer, (VkBuffer)BUFFER, OFFSET, 3, 4);
    const Odd odd = (Odd)look_up(instance, "vkOddDevice");
    CHECK(odd != NULL);
    CHECK(odd(buffer, ODD_ARGUMENTS) == sum(ODD_ARGUMENTS));
    repeat(physical, device, buffer);
    return 0;
}

static int use_physical_device(VkPhysicalDevice physical) {
    GET(vkGetPhysicalDeviceProperties);
    GET(vkGetPhysicalDeviceMemoryProperties);
    GET(vkCreateDevice);
    GET(vkDestroyDevice);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    printf("device %s\n", properties.deviceName);
    CHECK(strcmp(properties.deviceName, DEVICE_NAME) == 0);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    CHECK(memory.memoryHeaps[0].size == HEAP);
    const Odd odd = (Odd)look_up(instance, "vkOddPhysical");
    if (odd)
        CHECK(odd(physical, ODD_ARGUMENTS) == sum(ODD_ARGUMENTS));
    else
        puts("unknown functions are not found");
    const float priority = 1.0f;
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
    VkDevice device;
    CHECK(vkCreateDevice(physical, &info, NULL, &device) == VK_SUCCESS);
    const int status = use_device(physical, device);
    vkDestroyDevice(device, NULL);
    return status;
}

int main(int count, char **arguments) {
    if (count == 4) {
        what = arguments[2];
        number = atol(arguments[3]);
    }
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        printf("no library: %s\n", dlerror());
        return 1;
    }
    look_up = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    CHECK(look_up != NULL);
    GET(vkCreateInstance);
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    CHECK(vkCreateInstance(&info, NULL, &instance) == VK_SUCCESS);
    GET(vkEnumeratePhysicalDevices);
    GET(vkDestroyInstance);
    VkPhysicalDevice devices[2];
    uint32_t found = 2;
    CHECK(vkEnumeratePhysicalDevices(instance, &found, devices) == VK_SUCCESS);
    printf("devices %u\n", found);
    CHECK(found == 1);
    const int status = use_physical_device(devices[0]);
    vkDestroyInstance(instance, NULL);
    CHECK(dlclose(library) == 0);
    return status;
}
