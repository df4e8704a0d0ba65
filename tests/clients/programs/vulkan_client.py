"""A client of the Python package `vulkan`, which looks up commands through vkGetInstanceProcAddr. The client calls queries, creates a
device, fills a buffer, and reads the buffer back."""

import vulkan as vk


def queries(instance):
    """Prints the results of queries, and returns the first physical device."""
    version = vk.vkEnumerateInstanceVersion() if hasattr(vk, "vkEnumerateInstanceVersion") else None
    print("version known:", version is not None)
    for extension in vk.vkEnumerateInstanceExtensionProperties(None):
        print("instance extension:", extension.extensionName, extension.specVersion)
    for physical in vk.vkEnumeratePhysicalDevices(instance):
        properties = vk.vkGetPhysicalDeviceProperties(physical)
        print("device:", properties.deviceName, properties.apiVersion, properties.driverVersion)
        for family in vk.vkGetPhysicalDeviceQueueFamilyProperties(physical):
            print("family:", family.queueFlags, family.queueCount)
        for extension in vk.vkEnumerateDeviceExtensionProperties(physical, None):
            print("device extension:", extension.extensionName, extension.specVersion)
    return vk.vkEnumeratePhysicalDevices(instance)[0]


def fill(device):
    """Fills a buffer on the queue and returns its first words."""
    size = 4096
    buffer = vk.vkCreateBuffer(
        device, vk.VkBufferCreateInfo(size=size, usage=vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT), None
    )
    needs = vk.vkGetBufferMemoryRequirements(device, buffer)
    memory = vk.vkAllocateMemory(device, vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=0), None)
    vk.vkBindBufferMemory(device, buffer, memory, 0)
    pool = vk.vkCreateCommandPool(device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=0), None)
    allocate = vk.VkCommandBufferAllocateInfo(
        commandPool=pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1
    )
    commands = vk.vkAllocateCommandBuffers(device, allocate)[0]
    vk.vkBeginCommandBuffer(commands, vk.VkCommandBufferBeginInfo())
    vk.vkCmdFillBuffer(commands, buffer, 0, size, 0x12345678)
    vk.vkEndCommandBuffer(commands)
    queue = vk.vkGetDeviceQueue(device, 0, 0)
    vk.vkQueueSubmit(queue, 1, [vk.VkSubmitInfo(pCommandBuffers=[commands])], vk.VK_NULL_HANDLE)
    vk.vkQueueWaitIdle(queue)
    mapped = vk.vkMapMemory(device, memory, 0, size, 0)
    words = bytes(mapped[:16]).hex()
    vk.vkUnmapMemory(device, memory)
    vk.vkDestroyCommandPool(device, pool, None)
    vk.vkDestroyBuffer(device, buffer, None)
    vk.vkFreeMemory(device, memory, None)
    return words


def main():
    """Creates an instance and a device, fills a buffer, and destroys all objects."""
    application = vk.VkApplicationInfo(pApplicationName="client", apiVersion=vk.VK_MAKE_VERSION(1, 1, 0))
    instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
    physical = queries(instance)
    queue = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=0, queueCount=1, pQueuePriorities=[1.0])
    device = vk.vkCreateDevice(physical, vk.VkDeviceCreateInfo(pQueueCreateInfos=[queue]), None)
    print("filled:", fill(device))
    vk.vkDestroyDevice(device, None)
    vk.vkDestroyInstance(instance, None)


main()
