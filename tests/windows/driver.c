/* A driver and a layer for tests/windows/sources.c. The variable `said` contains the driver's answers. The program
 * that runs the tests sets this variable. */
#include <string.h>
#include <vulkan/vulkan.h>
#include <vulkan/vk_layer.h>
#include "driver.h"

#define MAGIC 0x01CDC0DE
#define EXPORT __declspec(dllexport)

EXPORT struct said said = {.devices = 3};

/* Devices 0, 1, ... of this driver. The loader replaces the first word of each device with a different value. */
static struct { uintptr_t magic; } instance = {MAGIC}, devices[MOST_DEVICES];

static int number_of(VkPhysicalDevice device) { return (int)((char *)device - (char *)devices) / (int)sizeof devices[0]; }

static VkResult list(const int *numbers, uint32_t listed, uint32_t *count, VkPhysicalDevice *out) {
    if (!out) {
        *count = listed;
        return VK_SUCCESS;
    }
    const uint32_t room = *count;
    for (*count = 0; *count < room && *count < listed; ++*count)
        out[*count] = (VkPhysicalDevice)&devices[numbers ? numbers[*count] : (int)*count];
    return listed > room ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *callbacks, VkInstance *out) {
    (void)info, (void)callbacks;
    for (int number = 0; number < MOST_DEVICES; number++)
        devices[number].magic = MAGIC;
    *out = (VkInstance)&instance;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkInstance of, uint32_t *count, VkPhysicalDevice *out) {
    (void)of;
    return list(NULL, said.devices, count, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL groups(VkInstance of, uint32_t *count, VkPhysicalDeviceGroupProperties *out) {
    (void)of;
    /* The first group contains device 0, and the second group contains the other devices. */
    if (!out) {
        *count = 2;
        return VK_SUCCESS;
    }
    for (int group = 0; group < 2; group++) {
        out[group].physicalDeviceCount = group ? said.devices - 1 : 1;
        for (uint32_t member = 0; member < out[group].physicalDeviceCount; member++)
            out[group].physicalDevices[member] = (VkPhysicalDevice)&devices[group + member];
        out[group].subsetAllocation = VK_FALSE;
    }
    *count = 2;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out) {
    memset(out, 0, sizeof *out);
    out->apiVersion = VK_API_VERSION_1_3;
    strcpy(out->deviceName, said.name);
    out->deviceName[strlen(out->deviceName)] = (char)('0' + number_of(device));
}

static VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out) {
    properties(device, &out->properties);
    for (VkBaseOutStructure *next = out->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LAYERED_DRIVER_PROPERTIES_MSFT_)
            *(int *)(next + 1) = said.layered;
}

static VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char *layer, uint32_t *count, VkExtensionProperties *out) {
    (void)device, (void)layer;
    const int listed = said.layered && !said.unlisted;
    if (out && *count && listed)
        *out = (VkExtensionProperties){.extensionName = "VK_MSFT_layered_driver", .specVersion = 1};
    *count = listed;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL no_extensions(const char *layer, uint32_t *count, VkExtensionProperties *out) {
    (void)layer, (void)out;
    *count = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL version(uint32_t *out) {
    *out = VK_API_VERSION_1_3;
    return VK_SUCCESS;
}

static VKAPI_ATTR int VKAPI_CALL nothing(void) { return 0; }

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vk_icdEnumerateAdapterPhysicalDevices(VkInstance of, uint64_t luid, uint32_t *count, VkPhysicalDevice *out) {
    (void)of;
    if (said.luids[0] != luid)
        said.luids[1] = said.luids[0];
    said.luids[0] = luid;
    said.asked++;
    if (said.result)
        return said.result;
    return list(said.order, said.ordered, count, out);
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    *version = said.version ? said.version : 6;
    return VK_SUCCESS;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance of, const char *name) {
    (void)of;
    static const struct { const char *name; void *function; } known[] = {
        {"vkCreateInstance", create}, {"vkEnumeratePhysicalDevices", enumerate},
        {"vkEnumeratePhysicalDeviceGroups", groups}, {"vkGetPhysicalDeviceProperties", properties},
        {"vkGetPhysicalDeviceProperties2", properties2}, {"vkEnumerateDeviceExtensionProperties", extensions},
        {"vkEnumerateInstanceExtensionProperties", no_extensions}, {"vkEnumerateInstanceVersion", version},
    };
    for (size_t index = 0; index < sizeof known / sizeof known[0]; index++)
        if (!strcmp(name, known[index].name))
            return (PFN_vkVoidFunction)known[index].function;
    /* All other commands of Vulkan 1.0 are `nothing`. Names of newer commands and of extensions end with 2 or a capital letter, and
     * return NULL. */
    const size_t length = strlen(name);
    const char last = name[length - 1];
    return last == '2' || (last >= 'A' && last <= 'Z') || !strncmp(name, "vk_", 3) ? NULL : (PFN_vkVoidFunction)nothing;
}

/* `negotiate_7` and `direct_lookup` are for programs that pass the driver directly to the loader. */
static VKAPI_ATTR VkResult VKAPI_CALL negotiate_7(uint32_t *version) {
    *version = 7;
    return VK_SUCCESS;
}
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL direct_lookup(VkInstance of, const char *name) {
    return !strcmp(name, "vk_icdNegotiateLoaderICDInterfaceVersion") ? (PFN_vkVoidFunction)negotiate_7 : vk_icdGetInstanceProcAddr(of, name);
}

/* As a layer, this library only stores the value of VK_LOADER_FEATURES in `said.features`, and passes the call on. */
static PFN_vkGetInstanceProcAddr below;

static VKAPI_ATTR VkResult VKAPI_CALL layer_create(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *callbacks, VkInstance *out) {
    const VkLayerInstanceCreateInfo *node = info->pNext;
    for (; node; node = node->pNext) {
        if (node->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO)
            continue;
        if (node->function == VK_LOADER_FEATURES)
            said.features = node->u.loaderFeatures;
        if (node->function == VK_LAYER_LINK_INFO) {
            below = node->u.pLayerInfo->pfnNextGetInstanceProcAddr;
            ((VkLayerInstanceCreateInfo *)node)->u.pLayerInfo = node->u.pLayerInfo->pNext;
        }
    }
    return ((PFN_vkCreateInstance)below(NULL, "vkCreateInstance"))(info, callbacks, out);
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance of, const char *name) {
    return !strcmp(name, "vkCreateInstance") ? (PFN_vkVoidFunction)layer_create : below ? below(of, name) : NULL;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice of, const char *name) {
    (void)of, (void)name;
    return NULL;
}
