/* Counts the instructions of single calls into vulkan-1.dll. While its trap flag is set, the processor stops after each instruction. */
#include <stdio.h>
#include <vulkan/vulkan.h>
#include <windows.h>

#define TRAP 0x100

static const unsigned char *first, *last;
static volatile LONG counted;

/* Counts an instruction if it is in the library, and continues with the next instruction. */
static LONG CALLBACK step(EXCEPTION_POINTERS *stopped) {
    if (stopped->ExceptionRecord->ExceptionCode != EXCEPTION_SINGLE_STEP)
        return EXCEPTION_CONTINUE_SEARCH;
    const unsigned char *at = stopped->ExceptionRecord->ExceptionAddress;
    if (at >= first && at < last)
        counted++;
    stopped->ContextRecord->EFlags |= TRAP;
    return EXCEPTION_CONTINUE_EXECUTION;
}

/* Sets or clears the trap flag. The change takes effect after the next instruction, which is outside the library. */
static void set(int on) {
    if (on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "cc", "memory");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "cc", "memory");
}

#define COUNT(name, call)                                                                                                               \
    do {                                                                                                                                \
        counted = 0;                                                                                                                    \
        set(1);                                                                                                                         \
        call;                                                                                                                           \
        set(0);                                                                                                                         \
        printf("figure %ld instructions: %s\n", (long)counted, name);                                                                   \
    } while (0)

static void count(VkInstance instance, VkPhysicalDevice physical_device, VkDevice device) {
    VkPhysicalDeviceFeatures features;
    COUNT("vkDeviceWaitIdle, exported", vkDeviceWaitIdle(device));
    COUNT("a physical-device command, exported, with its terminator", vkGetPhysicalDeviceFeatures(physical_device, &features));
    COUNT("vkGetInstanceProcAddr of a device command", vkGetInstanceProcAddr(instance, "vkCmdDrawIndirect"));
    COUNT("vkGetDeviceProcAddr", vkGetDeviceProcAddr(device, "vkCmdDrawIndirect"));
}

int main(void) {
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    uint32_t one = 1;
    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS || vkEnumeratePhysicalDevices(instance, &one, &physical_device) < 0 ||
        vkCreateDevice(physical_device, &device_info, NULL, &device) != VK_SUCCESS) {
        printf("there is no device\n");
        return 1;
    }
    const unsigned char *library = (const unsigned char *)GetModuleHandleA("vulkan-1.dll");
    const IMAGE_NT_HEADERS *headers = (const IMAGE_NT_HEADERS *)(library + ((const IMAGE_DOS_HEADER *)library)->e_lfanew);
    first = library;
    last = library + headers->OptionalHeader.SizeOfImage;
    AddVectoredExceptionHandler(1, step);
    count(instance, physical_device, device);
    count(instance, physical_device, device);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
