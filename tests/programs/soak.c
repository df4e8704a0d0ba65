/* soak THREADS ROUNDS [devices]: each of THREADS threads creates and destroys an instance ROUNDS times. With `devices`,
 * each thread also lists the physical devices, and creates and destroys a logical device on the first physical device.
 * All threads begin at the same time.
 *
 * Without `devices`, VK_ERROR_INCOMPATIBLE_DRIVER is a success too, because the loader searches for layers and drivers
 * before it returns this error. The exit status is 0 on success, 1 if a call failed, and 2 for wrong arguments.
 * Standard error names the failed call. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { MOST = 64 };

static struct {
    int rounds;
    bool devices;
    pthread_barrier_t begin;
} soak;

static bool failed(const char *call, VkResult result) {
    fprintf(stderr, "%s returned %d\n", call, result);
    return true;
}

/* Creates and destroys a logical device on the first physical device. Returns `true` if a call failed. */
static bool use_device(VkInstance instance) {
    uint32_t count = 1;
    VkPhysicalDevice physical;
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0)
        return failed("vkEnumeratePhysicalDevices", result);
    const float priority = 1;
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
    result = vkCreateDevice(physical, &info, NULL, &device);
    if (result != VK_SUCCESS)
        return failed("vkCreateDevice", result);
    vkDestroyDevice(device, NULL);
    return false;
}

/* Creates, uses and destroys an instance. Returns `true` if a call failed. */
static bool use_instance(void) {
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_1,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    VkInstance instance;
    const VkResult result = vkCreateInstance(&info, NULL, &instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER && !soak.devices)
        return false;
    if (result != VK_SUCCESS)
        return failed("vkCreateInstance", result);
    const bool bad = soak.devices && use_device(instance);
    vkDestroyInstance(instance, NULL);
    return bad;
}

/* Runs the rounds of a thread. Returns a null pointer if all calls succeeded. */
static void *one_thread(void *unused) {
    (void)unused;
    pthread_barrier_wait(&soak.begin);
    for (int round = 0; round < soak.rounds; round++) {
        if (use_instance())
            return &soak;
    }
    return NULL;
}

int main(int count, char **arguments) {
    const int threads = count > 1 ? atoi(arguments[1]) : 0;
    soak.rounds = count > 2 ? atoi(arguments[2]) : 0;
    soak.devices = count > 3 && strcmp(arguments[3], "devices") == 0;
    if (threads < 1 || threads > MOST || soak.rounds < 1 || count > 3 + soak.devices) {
        fprintf(stderr, "soak THREADS ROUNDS [devices], with 1 to %d threads\n", MOST);
        return 2;
    }
    pthread_t running[MOST];
    pthread_barrier_init(&soak.begin, NULL, (unsigned)threads);
    for (int number = 0; number < threads; number++) {
        if (pthread_create(&running[number], NULL, one_thread, NULL) != 0) {
            fprintf(stderr, "pthread_create failed\n");
            return 1;
        }
    }
    bool bad = false;
    for (int number = 0; number < threads; number++) {
        void *result;
        pthread_join(running[number], &result);
        bad = bad || result != NULL;
    }
    return bad;
}
