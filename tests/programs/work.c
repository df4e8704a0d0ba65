#include "work.h"
#include <time.h>

enum { WORDS = 1 << 18, PATTERN = 0x5eed1234 };
static const uint64_t TEN_SECONDS = 10000000000ull;

/* Objects that the program creates for the work on a device. Each member is null until its object exists. */
struct job {
    struct api *api; /* a copy, because the commands of one device must not be used on another */
    VkPhysicalDevice physical;
    uint32_t family;
    VkDevice device;
    VkQueue queue;
    VkBuffer buffer;
    VkDeviceMemory memory;
    bool coherent;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    struct work work;
};

/* Calls a command of the table. If the command fails, the enclosing function returns `false`. */
#define TRY(job, command, ...)                                                                                         \
    do {                                                                                                               \
        (job)->work.step = #command;                                                                                   \
        (job)->work.result = (job)->api->command(__VA_ARGS__);                                                         \
        if ((job)->work.result != VK_SUCCESS)                                                                          \
            return false;                                                                                              \
    } while (0)

static bool give_up(struct job *job, const char *step, VkResult result) {
    job->work.step = step;
    job->work.result = result;
    return false;
}

/* Finds the first queue family that can fill buffers. Families for graphics or compute support transfer too. */
static bool find_family(struct job *job) {
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    job->api->vkGetPhysicalDeviceQueueFamilyProperties(job->physical, &count, families);
    const VkQueueFlags able = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    for (job->family = 0; job->family < count; job->family++)
        if (families[job->family].queueCount > 0 && (families[job->family].queueFlags & able))
            return true;
    return give_up(job, "no queue family that can fill buffers", VK_ERROR_FEATURE_NOT_PRESENT);
}

static bool create_device(struct job *job, load_device load) {
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = job->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    TRY(job, vkCreateDevice, job->physical, &info, NULL, &job->device);
    const char *lacking = load ? load(job->api, job->device) : NULL;
    if (lacking)
        return give_up(job, lacking, VK_ERROR_FEATURE_NOT_PRESENT);
    job->api->vkGetDeviceQueue(job->device, job->family, 0, &job->queue);
    return job->queue ? true : give_up(job, "vkGetDeviceQueue", VK_ERROR_INITIALIZATION_FAILED);
}

/* Returns the first host-visible memory type that is allowed, or -1. */
static int host_visible(const VkPhysicalDeviceMemoryProperties *memory, uint32_t allowed, bool *coherent) {
    for (uint32_t type = 0; type < memory->memoryTypeCount; type++) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[type].propertyFlags;
        if ((allowed & 1u << type) && (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) {
            *coherent = flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
            return (int)type;
        }
    }
    return -1;
}

static bool create_buffer(struct job *job) {
    VkPhysicalDeviceMemoryProperties memory = {0};
    job->api->vkGetPhysicalDeviceMemoryProperties(job->physical, &memory);
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = WORDS * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    TRY(job, vkCreateBuffer, job->device, &info, NULL, &job->buffer);
    VkMemoryRequirements needs = {0};
    job->api->vkGetBufferMemoryRequirements(job->device, job->buffer, &needs);
    const int type = host_visible(&memory, needs.memoryTypeBits, &job->coherent);
    if (type < 0)
        return give_up(job, "no host-visible memory for a buffer", VK_ERROR_FEATURE_NOT_PRESENT);
    const VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = (uint32_t)type,
    };
    TRY(job, vkAllocateMemory, job->device, &allocation, NULL, &job->memory);
    TRY(job, vkBindBufferMemory, job->device, job->buffer, job->memory, 0);
    return true;
}

static bool record(struct job *job) {
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = job->family,
    };
    TRY(job, vkCreateCommandPool, job->device, &pool, NULL, &job->pool);
    const VkCommandBufferAllocateInfo buffers = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = job->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    TRY(job, vkAllocateCommandBuffers, job->device, &buffers, &job->commands);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    TRY(job, vkBeginCommandBuffer, job->commands, &begin);
    job->api->vkCmdFillBuffer(job->commands, job->buffer, 0, VK_WHOLE_SIZE, PATTERN);
    const VkBufferMemoryBarrier visible = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = job->buffer,
        .size = VK_WHOLE_SIZE,
    };
    job->api->vkCmdPipelineBarrier(job->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 0, NULL,
                                   1, &visible, 0, NULL);
    TRY(job, vkEndCommandBuffer, job->commands);
    return true;
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool submit(struct job *job) {
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    TRY(job, vkCreateFence, job->device, &fence, NULL, &job->fence);
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &job->commands,
    };
    const double start = milliseconds();
    TRY(job, vkQueueSubmit, job->queue, 1, &info, job->fence);
    TRY(job, vkWaitForFences, job->device, 1, &job->fence, VK_TRUE, TEN_SECONDS);
    job->work.milliseconds = milliseconds() - start;
    TRY(job, vkQueueWaitIdle, job->queue);
    return true;
}

static bool read_back(struct job *job) {
    uint32_t *words;
    TRY(job, vkMapMemory, job->device, job->memory, 0, VK_WHOLE_SIZE, 0, (void **)&words);
    const VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = job->memory,
        .size = VK_WHOLE_SIZE,
    };
    if (!job->coherent)
        TRY(job, vkInvalidateMappedMemoryRanges, job->device, 1, &range);
    job->work.words = WORDS;
    for (uint32_t i = 0; i < WORDS; i++)
        job->work.wrong += words[i] != PATTERN;
    job->api->vkUnmapMemory(job->device, job->memory);
    return true;
}

/* Destroys the objects of a job in the reverse order of their creation. */
static void clean_up(const struct job *job) {
    const struct api *api = job->api;
    if (!job->device)
        return;
    if (job->queue)
        api->vkDeviceWaitIdle(job->device);
    if (job->fence)
        api->vkDestroyFence(job->device, job->fence, NULL);
    if (job->commands)
        api->vkFreeCommandBuffers(job->device, job->pool, 1, &job->commands);
    if (job->pool)
        api->vkDestroyCommandPool(job->device, job->pool, NULL);
    if (job->buffer)
        api->vkDestroyBuffer(job->device, job->buffer, NULL);
    if (job->memory)
        api->vkFreeMemory(job->device, job->memory, NULL);
    api->vkDestroyDevice(job->device, NULL);
}

struct work work_on(const struct api *api, VkPhysicalDevice physical, load_device load, bool back) {
    struct api own = *api;
    struct job job = {.api = &own, .physical = physical};
    const bool done = find_family(&job) && create_device(&job, load) && create_buffer(&job) && record(&job) &&
                      submit(&job) && (!back || read_back(&job));
    if (done && job.work.wrong > 0)
        give_up(&job, "reading the buffer back", VK_ERROR_UNKNOWN);
    clean_up(&job);
    return job.work;
}
