/* Lists devices repeatedly. For each line on standard input, this program creates an instance, lists its devices, and
 * destroys the instance. The program prints `devices N` or `none RESULT`, and a line for each device. */
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

enum { MOST = 16 };

static void look(void) {
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_0};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    const VkResult result = vkCreateInstance(&info, NULL, &instance);
    if (result != VK_SUCCESS) {
        printf("none %d\n", result);
        return;
    }
    VkPhysicalDevice devices[MOST];
    uint32_t count = MOST;
    const VkResult listed = vkEnumeratePhysicalDevices(instance, &count, devices);
    if (listed != VK_SUCCESS)
        printf("none %d\n", listed);
    else
        printf("devices %u\n", count);
    for (uint32_t index = 0; listed == VK_SUCCESS && index < count; index++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[index], &properties);
        printf("%s\n", properties.deviceName);
    }
    vkDestroyInstance(instance, NULL);
}

int main(void) {
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        look();
        fflush(stdout);
    }
    return 0;
}
