/* Measures vkCreateInstance and vkDestroyInstance. For each round, the program prints a line with the nanoseconds of
 * a pair of calls. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vulkan/vulkan.h>

static long long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int main(int count, char **arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 1;
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_1,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    for (int round = 0; round < rounds; round++) {
        VkInstance instance;
        const long long start = nanoseconds();
        const VkResult result = vkCreateInstance(&info, NULL, &instance);
        const long long made = nanoseconds();
        if (result != VK_SUCCESS) {
            fprintf(stderr, "vkCreateInstance returned %d\n", result);
            return 1;
        }
        vkDestroyInstance(instance, NULL);
        printf("%lld %lld\n", made - start, nanoseconds() - made);
    }
    return 0;
}
