/* The commands that the test programs call, as one table: filled by the linker in hello.c, and through
 * vkGetInstanceProcAddr in dlopen.c. What follows is the same work for both. */
#ifndef API_H
#define API_H

#include <vulkan/vulkan.h>

/* Global commands: there before an instance is. */
#define GLOBAL_COMMANDS(X)                                                                                             \
    X(vkEnumerateInstanceVersion)                                                                                      \
    X(vkEnumerateInstanceExtensionProperties)                                                                          \
    X(vkEnumerateInstanceLayerProperties)                                                                              \
    X(vkCreateInstance)

/* Commands of an instance and of its physical devices. */
#define INSTANCE_COMMANDS(X)                                                                                           \
    X(vkDestroyInstance)                                                                                               \
    X(vkEnumeratePhysicalDevices)                                                                                      \
    X(vkGetPhysicalDeviceProperties)                                                                                   \
    X(vkGetPhysicalDeviceProperties2)                                                                                  \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                                        \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                             \
    X(vkEnumerateDeviceExtensionProperties)                                                                            \
    X(vkGetDeviceProcAddr)                                                                                             \
    X(vkCreateDevice)

/* Commands of a device. */
#define DEVICE_COMMANDS(X)                                                                                             \
    X(vkDestroyDevice)                                                                                                 \
    X(vkGetDeviceQueue)                                                                                                \
    X(vkCreateBuffer)                                                                                                  \
    X(vkDestroyBuffer)                                                                                                 \
    X(vkGetBufferMemoryRequirements)                                                                                   \
    X(vkAllocateMemory)                                                                                                \
    X(vkFreeMemory)                                                                                                    \
    X(vkBindBufferMemory)                                                                                              \
    X(vkMapMemory)                                                                                                     \
    X(vkUnmapMemory)                                                                                                   \
    X(vkInvalidateMappedMemoryRanges)                                                                                  \
    X(vkCreateCommandPool)                                                                                             \
    X(vkDestroyCommandPool)                                                                                            \
    X(vkAllocateCommandBuffers)                                                                                        \
    X(vkFreeCommandBuffers)                                                                                            \
    X(vkBeginCommandBuffer)                                                                                            \
    X(vkEndCommandBuffer)                                                                                              \
    X(vkCmdFillBuffer)                                                                                                 \
    X(vkCmdPipelineBarrier)                                                                                            \
    X(vkCreateFence)                                                                                                   \
    X(vkDestroyFence)                                                                                                  \
    X(vkWaitForFences)                                                                                                 \
    X(vkQueueSubmit)                                                                                                   \
    X(vkQueueWaitIdle)                                                                                                 \
    X(vkDeviceWaitIdle)

#define MEMBER(name) PFN_##name name;

/* One pointer a command. */
struct api {
    GLOBAL_COMMANDS(MEMBER)
    INSTANCE_COMMANDS(MEMBER)
    DEVICE_COMMANDS(MEMBER)
};

/* Fills what belongs to an instance, once there is one; returns the first command that is not offered, or NULL. */
typedef const char *(*load_instance)(struct api *api, VkInstance instance);

#endif
