#include "tour.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DRIVERS = 32, MOST_DEVICES = 32, MOST_LAYERS = 64 };

/* The manifests that the loader reported during the creation of the instance. */
struct manifests {
    uint32_t count;
    char path[MOST_DRIVERS][256];
};

/* Collects the paths of driver manifests from messages of the loader. Vulkan has no query for drivers without
 * devices. */
static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user) {
    static const char found[] = "Found ICD manifest file ";
    struct manifests *manifests = user;
    (void)severity, (void)types;
    if (strncmp(data->pMessage, found, strlen(found)) != 0 || manifests->count == MOST_DRIVERS)
        return VK_FALSE;
    char *path = manifests->path[manifests->count];
    snprintf(path, sizeof manifests->path[0], "%s", data->pMessage + strlen(found));
    char *version = strstr(path, ", version ");
    if (version)
        *version = 0;
    for (uint32_t i = 0; i < manifests->count; i++)
        if (strcmp(manifests->path[i], path) == 0)
            return VK_FALSE;
    manifests->count++;
    return VK_FALSE;
}

static const char *version(uint32_t packed) {
    static char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", VK_API_VERSION_MAJOR(packed), VK_API_VERSION_MINOR(packed),
             VK_API_VERSION_PATCH(packed));
    return text;
}

/* Prints the name of a file and its folder. */
static void print_path(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash)
        printf("    %-34s %.*s\n", slash + 1, (int)(slash - path), path);
    else
        printf("    %s\n", path);
}

static void print_loader(const struct api *api) {
    uint32_t packed = 0;
    Dl_info where;
    api->vkEnumerateInstanceVersion(&packed);
    printf("Vulkan loader %s\n", version(packed));
    if (dladdr((void *)api->vkCreateInstance, &where))
        print_path(where.dli_fname);
}

static void print_layers(const struct api *api) {
    VkLayerProperties layers[MOST_LAYERS];
    uint32_t count = MOST_LAYERS;
    api->vkEnumerateInstanceLayerProperties(&count, layers);
    printf("\nLayers: %u\n", count);
    for (uint32_t i = 0; i < count; i++)
        printf("    %-34s %-9s %s\n", layers[i].layerName, version(layers[i].specVersion), layers[i].description);
}

/* Creates the instance with a messenger that receives messages during the creation. */
static VkInstance create_instance(const struct api *api, struct manifests *manifests) {
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = manifests,
    };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "tour",
        .apiVersion = VK_API_VERSION_1_2,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = &messenger,
        .pApplicationInfo = &application,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = extensions,
    };
    VkInstance instance = VK_NULL_HANDLE;
    const VkResult result = api->vkCreateInstance(&info, NULL, &instance);
    if (result == VK_SUCCESS)
        return instance;
    fprintf(stderr, "vkCreateInstance returned %d\n", result);
    return VK_NULL_HANDLE;
}

static const char *device_type(VkPhysicalDeviceType type) {
    static const char *const names[] = {"other", "integrated GPU", "discrete GPU", "virtual GPU", "CPU"};
    return (uint32_t)type < 5 ? names[type] : "unknown";
}

static void print_device(const struct api *api, uint32_t number, VkPhysicalDevice physical) {
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    api->vkGetPhysicalDeviceProperties(physical, &properties.properties);
    if (properties.properties.apiVersion >= VK_API_VERSION_1_2) {
        properties.pNext = &driver;
        api->vkGetPhysicalDeviceProperties2(physical, &properties);
    }
    uint32_t families = 0, extensions = 0;
    api->vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, NULL);
    api->vkEnumerateDeviceExtensionProperties(physical, NULL, &extensions, NULL);
    printf("    %u  %s\n", number, properties.properties.deviceName);
    printf("       %s, Vulkan %s, %u queue %s, %u extensions\n", device_type(properties.properties.deviceType),
           version(properties.properties.apiVersion), families, families == 1 ? "family" : "families", extensions);
    if (driver.driverName[0])
        printf("       driver %s%s%s\n", driver.driverName, driver.driverInfo[0] ? ", " : "", driver.driverInfo);
}

static bool print_work(const struct work *work) {
    if (work->result != VK_SUCCESS)
        printf("       FAILED: %s (%d), %u of %u words wrong\n", work->step, work->result, work->wrong, work->words);
    else if (work->words > 0)
        printf("       filled %u words in %.2f ms and read all of them back\n", work->words, work->milliseconds);
    else
        printf("       work submitted and waited for; a mock executes nothing\n");
    return work->result == VK_SUCCESS;
}

static int work_on_all(const struct api *api, VkInstance instance, const struct loading *loading) {
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES, worked = 0;
    const VkResult result = api->vkEnumeratePhysicalDevices(instance, &count, devices);
    if (result < 0) {
        fprintf(stderr, "vkEnumeratePhysicalDevices returned %d\n", result);
        return 1;
    }
    printf("\nDevices: %u\n", count);
    for (uint32_t i = 0; i < count; i++) {
        print_device(api, i, devices[i]);
        const struct work work = work_on(api, devices[i], loading->device, !loading->mock);
        worked += print_work(&work);
    }
    printf("\n%u of %u devices worked\n", worked, count);
    return count > 0 && worked == count ? 0 : 1;
}

int tour(struct api *api, const struct loading *loading) {
    static struct manifests manifests;
    print_loader(api);
    const VkInstance instance = create_instance(api, &manifests);
    if (!instance)
        return 1;
    printf("\nDrivers found: %u\n", manifests.count);
    for (uint32_t i = 0; i < manifests.count; i++)
        print_path(manifests.path[i]);
    print_layers(api);
    const char *lacking = loading->instance(api, instance);
    if (lacking) {
        fprintf(stderr, "the loader does not offer %s\n", lacking);
        return 1;
    }
    const int status = work_on_all(api, instance, loading);
    api->vkDestroyInstance(instance, NULL);
    return status;
}
