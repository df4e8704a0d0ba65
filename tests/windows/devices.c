/* A program for Windows that is linked with vulkan-1. The program lists all devices and creates a logical device on the
 * first device. It submits nothing to a queue. */
#include <stdio.h>
#include <vulkan/vulkan.h>

#define MOST 16

static int failed(const char *what, int result) {
    printf("%s: %d\n", what, result);
    return 1;
}

static int use(VkPhysicalDevice physical_device) {
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
    VkResult result = vkCreateDevice(physical_device, &info, NULL, &device);
    if (result != VK_SUCCESS)
        return failed("vkCreateDevice", result);
    VkQueue first;
    vkGetDeviceQueue(device, 0, 0, &first);
    result = vkQueueSubmit(first, 0, NULL, VK_NULL_HANDLE);
    if (result == VK_SUCCESS)
        result = vkDeviceWaitIdle(device);
    vkDestroyDevice(device, NULL);
    return result == VK_SUCCESS ? 0 : failed("a submission", result);
}

int main(void) {
    uint32_t version = 0, count = MOST;
    VkResult result = vkEnumerateInstanceVersion(&version);
    if (result != VK_SUCCESS)
        return failed("vkEnumerateInstanceVersion", result);
    printf("Vulkan %u.%u.%u\n", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    VkInstance instance;
    result = vkCreateInstance(&info, NULL, &instance);
    if (result != VK_SUCCESS)
        return failed("vkCreateInstance", result);
    VkPhysicalDevice devices[MOST];
    result = vkEnumeratePhysicalDevices(instance, &count, devices);
    if (result != VK_SUCCESS || count == 0)
        return failed("vkEnumeratePhysicalDevices", result);
    for (uint32_t index = 0; index < count; index++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[index], &properties);
        printf("device %s\n", properties.deviceName);
    }
    const int status = use(devices[0]);
    vkDestroyInstance(instance, NULL);
    return status;
}
