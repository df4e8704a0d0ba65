/* A driver that needs another library, helper.dll. That library is tests/windows/driver.c under another name. */
#include <vulkan/vulkan.h>

__declspec(dllimport) PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance of, const char *name);

#define EXPORT __declspec(dllexport)
EXPORT PFN_vkVoidFunction VKAPI_CALL needing_lookup(VkInstance of, const char *name) { return vk_icdGetInstanceProcAddr(of, name); }
