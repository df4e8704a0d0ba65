/* Opens a window with the published library of GLFW for Windows. GLFW opens vulkan-1.dll, returns the instance
 * extensions that a window needs, and creates the surface. The program prints a line `device` for each device, and
 * fails if no device can present images in the window. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <vulkan/vulkan.h>

static HMODULE glfw;

static void *function(const char *name) {
    void *found = (void *)GetProcAddress(glfw, name);
    if (!found)
        printf("glfw3.dll has no %s\n", name), exit(1);
    return found;
}

/* Returns 1 if the first queue family of a device can present images, and 0 otherwise. Prints the number of formats
 * and modes of the surface. */
static int shows(VkInstance instance, VkPhysicalDevice device, VkSurfaceKHR surface, PFN_vkVoidFunction (*look_up)(VkInstance, const char *)) {
#define FN(name) ((PFN_##name)look_up(instance, #name))
    int (*can_show)(VkInstance, VkPhysicalDevice, uint32_t) = function("glfwGetPhysicalDevicePresentationSupport");
    VkPhysicalDeviceProperties properties;
    VkSurfaceCapabilitiesKHR capabilities;
    VkBool32 supported = 0;
    uint32_t formats = 0, modes = 0;
    FN(vkGetPhysicalDeviceProperties)(device, &properties);
    FN(vkGetPhysicalDeviceSurfaceSupportKHR)(device, 0, surface, &supported);
    FN(vkGetPhysicalDeviceSurfaceFormatsKHR)(device, surface, &formats, NULL);
    FN(vkGetPhysicalDeviceSurfacePresentModesKHR)(device, surface, &modes, NULL);
    if (FN(vkGetPhysicalDeviceSurfaceCapabilitiesKHR)(device, surface, &capabilities))
        return 0;
    printf("device %s: %u x %u, %u formats, %u modes\n", properties.deviceName, capabilities.currentExtent.width,
           capabilities.currentExtent.height, formats, modes);
    return can_show(instance, device, 0) && supported && formats && modes && capabilities.currentExtent.width == 320;
}

int main(void) {
    if (!(glfw = LoadLibraryA("glfw3.dll")))
        return printf("glfw3.dll did not load: error %lu\n", GetLastError()), 1;
    int (*begin)(void) = function("glfwInit"), (*supported)(void) = function("glfwVulkanSupported");
    void (*hint)(int, int) = function("glfwWindowHint");
    const char **(*required)(uint32_t *) = function("glfwGetRequiredInstanceExtensions");
    void *(*window_of)(int, int, const char *, void *, void *) = function("glfwCreateWindow");
    VkResult (*surface_of)(VkInstance, void *, const void *, VkSurfaceKHR *) = function("glfwCreateWindowSurface");
    PFN_vkVoidFunction (*look_up)(VkInstance, const char *) = function("glfwGetInstanceProcAddress");
    if (!begin() || !supported())
        return printf("GLFW found no Vulkan\n"), 1;
    uint32_t count = 0;
    const char **names = required(&count);
    for (uint32_t index = 0; index < count; index++)
        printf("extension %s\n", names[index]);
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .enabledExtensionCount = count, .ppEnabledExtensionNames = names};
    VkInstance instance = NULL;
    VkSurfaceKHR surface;
    if (FN(vkCreateInstance)(&info, NULL, &instance))
        return printf("no instance\n"), 1;
    hint(0x00022001, 0); /* GLFW_CLIENT_API, GLFW_NO_API */
    void *window = window_of(320, 200, "a window", NULL, NULL);
    if (!window || surface_of(instance, window, NULL, &surface))
        return printf("no surface\n"), 1;
    VkPhysicalDevice devices[8];
    uint32_t found = 8;
    int shown = 0;
    FN(vkEnumeratePhysicalDevices)(instance, &found, devices);
    for (uint32_t index = 0; index < found; index++)
        shown += shows(instance, devices[index], surface, look_up);
    FN(vkDestroySurfaceKHR)(instance, surface, NULL);
    FN(vkDestroyInstance)(instance, NULL);
    return shown ? 0 : 1;
}
