/* A table of the commands that the test programs call. The linker fills the table of hello.c, and dlopen.c fills its
 * table with vkGetInstanceProcAddr. All other work is the same in both programs. */
#ifndef API_H
#define API_H

#include <vulkan/vulkan.h>

/* Global commands, which exist before any instance. */
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

/* A function pointer for each command. */
struct api {
    GLOBAL_COMMANDS(MEMBER)
    INSTANCE_COMMANDS(MEMBER)
    DEVICE_COMMANDS(MEMBER)
};

/* Looks up the commands of an instance. Returns the name of the first missing command, or NULL. */
typedef const char *(*load_instance)(struct api *api, VkInstance instance);

#endif
