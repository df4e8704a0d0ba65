/* A layer that passes every call on. Each copy of the library is one layer. In all chains of a process, the same
 * functions come after the layer, so the layer needs only one set of pointers. */
#include "names.h"
#include <vulkan/vk_layer.h>

#define EXPORT __attribute__((visibility("default")))

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkDestroyInstance destroy_next_instance;
/* Newest instance. vkCreateDevice has no instance as a parameter, so the layer assumes that the newest instance creates
 * the device. */
static VkInstance youngest;
static PFN_vkDestroyDevice destroy_next_device;

static PFN_vkVoidFunction instance_command(VkInstance instance, const char *name);
static PFN_vkVoidFunction device_command(VkDevice device, const char *name);

static VkResult create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
                                VkInstance *instance) {
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link &&
           (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const PFN_vkCreateInstance create = (PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance");
    const VkResult result = create(info, allocator, instance);
    if (result == VK_SUCCESS) {
        destroy_next_instance = (PFN_vkDestroyInstance)next_instance(*instance, "vkDestroyInstance");
        youngest = *instance;
    }
    return result;
}

static void destroy_instance(VkInstance instance, const VkAllocationCallbacks *allocator) {
    destroy_next_instance(instance, allocator);
}

static VkResult create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                              const VkAllocationCallbacks *allocator, VkDevice *device) {
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link &&
           (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const PFN_vkCreateDevice create = (PFN_vkCreateDevice)next(youngest, "vkCreateDevice");
    const VkResult result = create(physical, info, allocator, device);
    if (result == VK_SUCCESS)
        destroy_next_device = (PFN_vkDestroyDevice)next_device(*device, "vkDestroyDevice");
    return result;
}

static void destroy_device(VkDevice device, const VkAllocationCallbacks *allocator) {
    destroy_next_device(device, allocator);
}

static PFN_vkVoidFunction device_command(VkDevice device, const char *name) {
    static const struct answer TABLE[] = {
        ANSWER(vkGetDeviceProcAddr, device_command),
        ANSWER(vkDestroyDevice, destroy_device),
    };
    const PFN_vkVoidFunction own = find(TABLE, sizeof TABLE / sizeof *TABLE, name);
    return own ? own : next_device(device, name);
}

static PFN_vkVoidFunction instance_command(VkInstance instance, const char *name) {
    static const struct answer TABLE[] = {
        ANSWER(vkGetInstanceProcAddr, instance_command),
        ANSWER(vkCreateInstance, create_instance),
        ANSWER(vkDestroyInstance, destroy_instance),
        ANSWER(vkCreateDevice, create_device),
        ANSWER(vkGetDeviceProcAddr, device_command),
        ANSWER(vkDestroyDevice, destroy_device),
    };
    const PFN_vkVoidFunction own = find(TABLE, sizeof TABLE / sizeof *TABLE, name);
    if (own)
        return own;
    return instance ? next_instance(instance, name) : NULL;
}

EXPORT VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface) {
    if (interface->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = instance_command;
    interface->pfnGetDeviceProcAddr = device_command;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
