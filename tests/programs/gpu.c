/* Computes and draws without a window on every device. A compute shader squares numbers, and a graphics pipeline draws
 * a triangle into an image. Prints a line for each device. The exit status is 0 if there is a device and all results
 * are correct. */
#include "gpu_shaders.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { NUMBERS = 1 << 16, GROUP = 64, SIDE = 64, TRIANGLE = 0xff3399ff, BACKGROUND = 0xff000000 };

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const VkResult result_ = (call);                                                                               \
        if (result_ != VK_SUCCESS) {                                                                                   \
            fprintf(stderr, "%s returned %d\n", #call, result_);                                                       \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A device in use, with a buffer that the device and this program can access. */
struct gpu {
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
};

static uint32_t memory_type(const struct gpu *gpu, uint32_t allowed, VkMemoryPropertyFlags wanted) {
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &types);
    for (uint32_t type = 0; type < types.memoryTypeCount; type++)
        if ((allowed >> type & 1) && (types.memoryTypes[type].propertyFlags & wanted) == wanted)
            return type;
    fprintf(stderr, "no memory type with flags %#x\n", wanted);
    exit(2);
}

static VkDeviceMemory allocate(const struct gpu *gpu, VkMemoryRequirements needs, VkMemoryPropertyFlags wanted) {
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = memory_type(gpu, needs.memoryTypeBits, wanted),
    };
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(gpu->device, &info, NULL, &memory));
    return memory;
}

static uint32_t family_of(VkPhysicalDevice physical) {
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    const VkQueueFlags both = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    for (uint32_t family = 0; family < count; family++)
        if ((families[family].queueFlags & both) == both)
            return family;
    fprintf(stderr, "no queue family for graphics and compute\n");
    exit(2);
}

static struct gpu open_gpu(VkPhysicalDevice physical) {
    struct gpu gpu = {.physical = physical};
    const float priority = 1;
    const uint32_t family = family_of(physical);
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    CHECK(vkCreateDevice(physical, &device, NULL, &gpu.device));
    vkGetDeviceQueue(gpu.device, family, 0, &gpu.queue);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };
    CHECK(vkCreateCommandPool(gpu.device, &pool, NULL, &gpu.pool));
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu.pool,
        .commandBufferCount = 1,
    };
    CHECK(vkAllocateCommandBuffers(gpu.device, &commands, &gpu.commands));
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = NUMBERS * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    CHECK(vkCreateBuffer(gpu.device, &buffer, NULL, &gpu.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu.device, gpu.buffer, &needs);
    gpu.memory = allocate(&gpu, needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    CHECK(vkBindBufferMemory(gpu.device, gpu.buffer, gpu.memory, 0));
    CHECK(vkMapMemory(gpu.device, gpu.memory, 0, VK_WHOLE_SIZE, 0, (void **)&gpu.words));
    memset(gpu.words, 0, NUMBERS * sizeof(uint32_t));
    return gpu;
}

static void close_gpu(struct gpu *gpu) {
    vkDestroyBuffer(gpu->device, gpu->buffer, NULL);
    vkFreeMemory(gpu->device, gpu->memory, NULL);
    vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
    vkDestroyDevice(gpu->device, NULL);
}

static void begin(const struct gpu *gpu) {
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    CHECK(vkBeginCommandBuffer(gpu->commands, &info));
}

/* Makes the results of the commands visible to this program, submits the commands, and waits for them. */
static void finish(const struct gpu *gpu, VkPipelineStageFlags stage, VkAccessFlags access) {
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = access,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(gpu->commands, stage, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    CHECK(vkEndCommandBuffer(gpu->commands));
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &gpu->commands,
    };
    CHECK(vkQueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(gpu->queue));
}

static VkPipelineShaderStageCreateInfo shader(
    const struct gpu *gpu, VkShaderStageFlagBits stage, const uint32_t *code, size_t size) {
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = size,
        .pCode = code,
    };
    VkPipelineShaderStageCreateInfo made = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .pName = "main",
    };
    CHECK(vkCreateShaderModule(gpu->device, &info, NULL, &made.module));
    return made;
}

/* Returns the number of values that are different from the expected values. */
static uint32_t compute(const struct gpu *gpu) {
    const VkDescriptorSetLayoutBinding binding = {
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
    };
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    VkDescriptorSetLayout set_layout;
    CHECK(vkCreateDescriptorSetLayout(gpu->device, &set_info, NULL, &set_layout));
    const VkPipelineLayoutCreateInfo layout_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set_layout,
    };
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(gpu->device, &layout_info, NULL, &layout));
    const VkComputePipelineCreateInfo pipeline_info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = shader(gpu, VK_SHADER_STAGE_COMPUTE_BIT, square_comp, sizeof square_comp),
        .layout = layout,
    };
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &pipeline_info, NULL, &pipeline));
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkDescriptorPool pool;
    CHECK(vkCreateDescriptorPool(gpu->device, &pool_info, NULL, &pool));
    const VkDescriptorSetAllocateInfo set_allocation = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &set_layout,
    };
    VkDescriptorSet set;
    CHECK(vkAllocateDescriptorSets(gpu->device, &set_allocation, &set));
    const VkDescriptorBufferInfo whole = {gpu->buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &whole,
    };
    vkUpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);

    begin(gpu);
    vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(gpu->commands, NUMBERS / GROUP, 1, 1);
    finish(gpu, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);

    uint32_t wrong = 0;
    for (uint32_t index = 0; index < NUMBERS; index++)
        wrong += gpu->words[index] != index * index + 7;
    vkDestroyDescriptorPool(gpu->device, pool, NULL);
    vkDestroyPipeline(gpu->device, pipeline, NULL);
    vkDestroyShaderModule(gpu->device, pipeline_info.stage.module, NULL);
    vkDestroyPipelineLayout(gpu->device, layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, set_layout, NULL);
    return wrong;
}

static VkRenderPass clearing_pass(const struct gpu *gpu) {
    const VkAttachmentDescription attachment = {
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
    };
    const VkAttachmentReference color = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &color};
    const VkSubpassDependency before_copy = {
        .dstSubpass = VK_SUBPASS_EXTERNAL,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
    };
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 1,
        .pDependencies = &before_copy,
    };
    VkRenderPass pass;
    CHECK(vkCreateRenderPass(gpu->device, &info, NULL, &pass));
    return pass;
}

static VkPipeline triangle_pipeline(const struct gpu *gpu, VkRenderPass pass, VkPipelineLayout layout) {
    const VkPipelineShaderStageCreateInfo stages[] = {
        shader(gpu, VK_SHADER_STAGE_VERTEX_BIT, triangle_vert, sizeof triangle_vert),
        shader(gpu, VK_SHADER_STAGE_FRAGMENT_BIT, triangle_frag, sizeof triangle_frag),
    };
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkViewport viewport = {.width = SIDE, .height = SIDE, .maxDepth = 1};
    const VkRect2D scissor = {.extent = {SIDE, SIDE}};
    const VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineColorBlendAttachmentState all = {.colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &all,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertices,
        .pInputAssemblyState = &assembly,
        .pViewportState = &view,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pColorBlendState = &blend,
        .layout = layout,
        .renderPass = pass,
    };
    VkPipeline pipeline;
    CHECK(vkCreateGraphicsPipelines(gpu->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    for (int stage = 0; stage < 2; stage++)
        vkDestroyShaderModule(gpu->device, stages[stage].module, NULL);
    return pipeline;
}

/* Returns the number of pixels that show the triangle, or 0 if the middle or a corner has a wrong color. */
static uint32_t render(const struct gpu *gpu) {
    const VkImageCreateInfo image_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {SIDE, SIDE, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
    };
    VkImage image;
    CHECK(vkCreateImage(gpu->device, &image_info, NULL, &image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(gpu->device, image, &needs);
    const VkDeviceMemory memory = allocate(gpu, needs, 0);
    CHECK(vkBindImageMemory(gpu->device, image, memory, 0));
    const VkImageViewCreateInfo view_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    VkImageView view;
    CHECK(vkCreateImageView(gpu->device, &view_info, NULL, &view));
    const VkRenderPass pass = clearing_pass(gpu);
    const VkFramebufferCreateInfo frame_info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = pass,
        .attachmentCount = 1,
        .pAttachments = &view,
        .width = SIDE,
        .height = SIDE,
        .layers = 1,
    };
    VkFramebuffer frame;
    CHECK(vkCreateFramebuffer(gpu->device, &frame_info, NULL, &frame));
    const VkPipelineLayoutCreateInfo layout_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(gpu->device, &layout_info, NULL, &layout));
    const VkPipeline pipeline = triangle_pipeline(gpu, pass, layout);

    begin(gpu);
    const VkClearValue black = {.color.float32 = {0, 0, 0, 1}};
    const VkRenderPassBeginInfo start = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = frame,
        .renderArea.extent = {SIDE, SIDE},
        .clearValueCount = 1,
        .pClearValues = &black,
    };
    vkCmdBeginRenderPass(gpu->commands, &start, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(gpu->commands, 3, 1, 0, 0);
    vkCmdEndRenderPass(gpu->commands);
    const VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {SIDE, SIDE, 1},
    };
    vkCmdCopyImageToBuffer(gpu->commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, gpu->buffer, 1, &copy);
    finish(gpu, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);

    uint32_t shown = 0;
    for (uint32_t pixel = 0; pixel < SIDE * SIDE; pixel++)
        shown += gpu->words[pixel] == TRIANGLE;
    const bool right = gpu->words[SIDE / 2 * SIDE + SIDE / 2] == TRIANGLE && gpu->words[0] == BACKGROUND;
    vkDestroyPipeline(gpu->device, pipeline, NULL);
    vkDestroyPipelineLayout(gpu->device, layout, NULL);
    vkDestroyFramebuffer(gpu->device, frame, NULL);
    vkDestroyRenderPass(gpu->device, pass, NULL);
    vkDestroyImageView(gpu->device, view, NULL);
    vkDestroyImage(gpu->device, image, NULL);
    vkFreeMemory(gpu->device, memory, NULL);
    return right ? shown : 0;
}

int main(void) {
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_1,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    VkInstance instance;
    CHECK(vkCreateInstance(&info, NULL, &instance));
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    CHECK(vkEnumeratePhysicalDevices(instance, &count, devices));
    bool fine = count > 0;
    for (uint32_t index = 0; index < count; index++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[index], &properties);
        struct gpu gpu = open_gpu(devices[index]);
        const uint32_t wrong = compute(&gpu);
        const uint32_t shown = render(&gpu);
        close_gpu(&gpu);
        /* The triangle covers half of the square between -0.8 and 0.8, and its edges may add or remove some pixels. */
        const bool triangle = shown > 1200 && shown < 1450;
        printf("%s: compute %d numbers, %u wrong; triangle of %u pixels: %s\n", properties.deviceName, NUMBERS, wrong,
            shown, wrong == 0 && triangle ? "ok" : "WRONG");
        fine = fine && wrong == 0 && triangle;
    }
    vkDestroyInstance(instance, NULL);
    return fine ? 0 : 1;
}
