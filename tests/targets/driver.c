/* A driver for every processor and C library. The driver has one physical device, and its commands check the numbers
 * that they receive. */
#include "numbers.h"
#include <stddef.h>
#include <string.h>
#include <vulkan/vk_icd.h>

#define EXPORT __attribute__((visibility("default")))
#define ANSWER(name, function) \
    { #name, (PFN_vkVoidFunction)function }

static struct object {
    VK_LOADER_DATA loader;
} instance_object, physical_object, device_object, buffer_object;

static VkResult nothing(void) {
    return VK_SUCCESS;
}

static VkResult create_instance(const VkInstanceCreateInfo *info, const void *allocator, VkInstance *instance) {
    (void)info, (void)allocator;
    set_loader_magic_value(&instance_object);
    *instance = (VkInstance)&instance_object;
    return VK_SUCCESS;
}

static VkResult no_extensions(const void *of, const char *layer, uint32_t *count, VkExtensionProperties *properties) {
    (void)of, (void)layer, (void)properties;
    *count = 0;
    return VK_SUCCESS;
}

static VkResult instance_extensions(const char *layer, uint32_t *count, VkExtensionProperties *properties) {
    return no_extensions(NULL, layer, count, properties);
}

static VkResult physical_devices(VkInstance instance, uint32_t *count, VkPhysicalDevice *devices) {
    (void)instance;
    if (devices && *count > 0) {
        set_loader_magic_value(&physical_object);
        *devices = (VkPhysicalDevice)&physical_object;
    }
    *count = 1;
    return VK_SUCCESS;
}

static void properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties *result) {
    const VkPhysicalDeviceProperties own = {.apiVersion = VK_API_VERSION_1_0, .deviceName = DEVICE_NAME};
    *result = own;
    (void)physical;
}

static void memory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *result) {
    (void)physical;
    memset(result, 0, sizeof *result);
    result->memoryHeapCount = 1;
    result->memoryHeaps[0].size = HEAP;
}

static void queue_families(VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties *families) {
    (void)physical;
    if (families && *count > 0)
        *families = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_GRAPHICS_BIT, .queueCount = 1};
    *count = 1;
}

static VkResult create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const void *allocator,
                              VkDevice *device) {
    (void)info, (void)allocator;
    if (physical != (VkPhysicalDevice)&physical_object)
        return VK_ERROR_UNKNOWN;
    set_loader_magic_value(&device_object);
    *device = (VkDevice)&device_object;
    return VK_SUCCESS;
}

static VkResult command_buffers(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers) {
    (void)device;
    if (info->commandPool != (VkCommandPool)BUFFER || info->commandBufferCount != 1)
        return VK_ERROR_UNKNOWN;
    set_loader_magic_value(&buffer_object);
    *buffers = (VkCommandBuffer)&buffer_object;
    return VK_SUCCESS;
}

static VkResult bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
    const int same = device == (VkDevice)&device_object && buffer == (VkBuffer)BUFFER &&
                     memory == (VkDeviceMemory)MEMORY && offset == OFFSET;
    return same ? VK_SUCCESS : VK_ERROR_UNKNOWN;
}

static VkDeviceSize drawn;

static void draw(VkCommandBuffer buffer, VkBuffer from, VkDeviceSize offset, uint32_t count, uint32_t stride) {
    const int same = buffer == (VkCommandBuffer)&buffer_object && from == (VkBuffer)BUFFER && offset == OFFSET &&
                     count == 3 && stride == 4;
    drawn = same ? OFFSET : 0;
}

static uint64_t odd_device(VkCommandBuffer buffer, uint64_t a, float b, double c, uint32_t d, uint64_t e, float f,
                           uint64_t g, double h, uint64_t i, uint32_t j, uint64_t k) {
    const int same = buffer == (VkCommandBuffer)&buffer_object && drawn == OFFSET;
    return same ? ODD_SUM(a, b, c, d, e, f, g, h, i, j, k) : 0;
}

static uint64_t odd_physical(VkPhysicalDevice physical, uint64_t a, float b, double c, uint32_t d, uint64_t e, float f,
                             uint64_t g, double h, uint64_t i, uint32_t j, uint64_t k) {
    return physical == (VkPhysicalDevice)&physical_object ? ODD_SUM(a, b, c, d, e, f, g, h, i, j, k) : 0;
}

struct answer {
    const char *name;
    PFN_vkVoidFunction function;
};

static PFN_vkVoidFunction find(const struct answer *table, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].function;
    return NULL;
}

static PFN_vkVoidFunction device_command(VkDevice device, const char *name) {
    static const struct answer TABLE[] = {
        ANSWER(vkGetDeviceProcAddr, device_command),
        ANSWER(vkDestroyDevice, nothing),
        ANSWER(vkAllocateCommandBuffers, command_buffers),
        ANSWER(vkBindBufferMemory, bind),
        ANSWER(vkCmdDrawIndirect, draw),
        ANSWER(vkOddDevice, odd_device),
    };
    (void)device;
    return find(TABLE, sizeof TABLE / sizeof *TABLE, name);
}

EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    if (*version > 6)
        *version = 6;
    return VK_SUCCESS;
}

EXPORT PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name) {
    (void)instance;
    return strcmp(name, "vkOddPhysical") == 0 ? (PFN_vkVoidFunction)odd_physical : NULL;
}

EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name) {
    (void)instance;
    static const struct answer TABLE[] = {
        ANSWER(vkCreateInstance, create_instance),
        ANSWER(vkDestroyInstance, nothing),
        ANSWER(vkEnumerateInstanceExtensionProperties, instance_extensions),
        ANSWER(vkEnumeratePhysicalDevices, physical_devices),
        ANSWER(vkEnumerateDeviceExtensionProperties, no_extensions),
        ANSWER(vkGetPhysicalDeviceProperties, properties),
        ANSWER(vkGetPhysicalDeviceMemoryProperties, memory),
        ANSWER(vkGetPhysicalDeviceQueueFamilyProperties, queue_families),
        ANSWER(vkGetPhysicalDeviceFeatures, nothing),
        ANSWER(vkGetPhysicalDeviceFormatProperties, nothing),
        ANSWER(vkGetPhysicalDeviceImageFormatProperties, nothing),
        ANSWER(vkGetPhysicalDeviceSparseImageFormatProperties, nothing),
        ANSWER(vkCreateDevice, create_device),
        ANSWER(vkGetDeviceProcAddr, device_command),
        ANSWER(vk_icdNegotiateLoaderICDInterfaceVersion, vk_icdNegotiateLoaderICDInterfaceVersion),
        ANSWER(vk_icdGetPhysicalDeviceProcAddr, vk_icdGetPhysicalDeviceProcAddr),
    };
    const PFN_vkVoidFunction own = find(TABLE, sizeof TABLE / sizeof *TABLE, name);
    return own ? own : device_command(NULL, name);
}
