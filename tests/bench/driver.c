/* A driver that needs almost no time: it has one physical device and static objects, and calls no other library. The
 * driver offers every command except commands whose names end with an underscore. No real command has such a name, so
 * the benches use these names for look-ups that fail. */
#include "names.h"
#include <vulkan/vk_icd.h>

#define EXPORT __attribute__((visibility("default")))

struct object {
    VK_LOADER_DATA loader;
};
static struct object instance_object, physical_object, device_object, queue_object, buffer_object;

static VkResult nothing(void) {
    return VK_SUCCESS;
}

static VkResult create_instance(const VkInstanceCreateInfo *info, const void *allocator, VkInstance *instance) {
    (void)info, (void)allocator;
    set_loader_magic_value(&instance_object);
    *instance = (VkInstance)&instance_object;
    return VK_SUCCESS;
}

static VkResult instance_version(uint32_t *version) {
    *version = VK_API_VERSION_1_3;
    return VK_SUCCESS;
}

/* Returns one instance extension, so that the list is not empty. */
static VkResult extensions(uint32_t *count, VkExtensionProperties *properties) {
    static const VkExtensionProperties only = {"VK_KHR_get_physical_device_properties2", 2};
    if (properties && *count > 0)
        *properties = only;
    *count = 1;
    return VK_SUCCESS;
}

static VkResult instance_extensions(const char *layer, uint32_t *count, VkExtensionProperties *properties) {
    (void)layer;
    return extensions(count, properties);
}

static VkResult device_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *count,
                                  VkExtensionProperties *properties) {
    (void)physical, (void)layer, (void)properties;
    *count = 0;
    return VK_SUCCESS;
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
    (void)physical;
    result->apiVersion = VK_API_VERSION_1_3;
    result->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    result->deviceName[0] = 0;
}

static void properties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *result) {
    properties(physical, &result->properties);
}

static void queue_families(VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties *families) {
    (void)physical;
    if (families && *count > 0)
        *families = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_GRAPHICS_BIT, .queueCount = 1};
    *count = 1;
}

static VkResult create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const void *allocator,
                              VkDevice *device) {
    (void)physical, (void)info, (void)allocator;
    set_loader_magic_value(&device_object);
    *device = (VkDevice)&device_object;
    return VK_SUCCESS;
}

static void device_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *queue) {
    (void)device, (void)family, (void)index;
    set_loader_magic_value(&queue_object);
    *queue = (VkQueue)&queue_object;
}

static VkResult command_buffers(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers) {
    (void)device;
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        set_loader_magic_value(&buffer_object);
        buffers[i] = (VkCommandBuffer)&buffer_object;
    }
    return VK_SUCCESS;
}

/* Returns true if the name of a command is unknown. The driver calls this function before it searches a table, so that
 * a failed look-up needs almost no time. */
static bool missed(const char *name) {
    size_t length = 0;
    while (name[length])
        length++;
    return length < 4 || name[length - 1] == '_';
}

/* Returns the function that the table has for a name. For other names, returns the function `nothing`. Names that begin
 * with `vk_` belong to the interface with the loader. The result for such a name is NULL unless the table contains it. */
static PFN_vkVoidFunction answer(const struct answer *table, size_t count, const char *name) {
    const PFN_vkVoidFunction own = find(table, count, name);
    return own || name[2] == '_' ? own : (PFN_vkVoidFunction)nothing;
}

static PFN_vkVoidFunction device_command(VkDevice device, const char *name) {
    static const struct answer TABLE[] = {
        ANSWER(vkGetDeviceProcAddr, device_command),
        ANSWER(vkGetDeviceQueue, device_queue),
        ANSWER(vkAllocateCommandBuffers, command_buffers),
    };
    (void)device;
    return missed(name) ? NULL : answer(TABLE, sizeof TABLE / sizeof *TABLE, name);
}

EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    if (*version > 6)
        *version = 6;
    return VK_SUCCESS;
}

EXPORT PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name);

EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name) {
    static const struct answer TABLE[] = {
        ANSWER(vkCreateInstance, create_instance),
        ANSWER(vkEnumerateInstanceVersion, instance_version),
        ANSWER(vkEnumerateInstanceExtensionProperties, instance_extensions),
        ANSWER(vkEnumeratePhysicalDevices, physical_devices),
        ANSWER(vkEnumerateDeviceExtensionProperties, device_extensions),
        ANSWER(vkGetPhysicalDeviceProperties, properties),
        ANSWER(vkGetPhysicalDeviceProperties2, properties2),
        ANSWER(vkGetPhysicalDeviceProperties2KHR, properties2),
        ANSWER(vkGetPhysicalDeviceQueueFamilyProperties, queue_families),
        ANSWER(vkCreateDevice, create_device),
        ANSWER(vkGetDeviceProcAddr, device_command),
        ANSWER(vk_icdGetPhysicalDeviceProcAddr, vk_icdGetPhysicalDeviceProcAddr),
        ANSWER(vk_icdNegotiateLoaderICDInterfaceVersion, vk_icdNegotiateLoaderICDInterfaceVersion),
    };
    (void)instance;
    return missed(name) ? NULL : answer(TABLE, sizeof TABLE / sizeof *TABLE, name);
}

/* Looks up physical-device commands. Returns NULL for names without the prefix of such a command. */
EXPORT PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name) {
    static const char PREFIX[] = "vkGetPhysicalDevice";
    for (size_t i = 0; i + 1 < sizeof PREFIX; i++)
        if (name[i] != PREFIX[i])
            return NULL;
    return vk_icdGetInstanceProcAddr(instance, name);
}
