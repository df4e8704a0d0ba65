/* Uses wgpu on Windows. This library opens vulkan-1.dll itself. The program prints the adapters of Vulkan, and the sum
 * of the numbers that a compute shader wrote. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "wgpu.h"

#define COUNT 1024

static const char SHADER[] =
    "@group(0) @binding(0) var<storage, read_write> data: array<u32>;"
    "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { data[id.x] = id.x * 3u + 1u; }";

static WGPUStringView text(const char *words) {
    return (WGPUStringView){words, strlen(words)};
}

static void take_device(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView why, void *place, void *unused) {
    (void)unused;
    if (status == WGPURequestDeviceStatus_Success)
        *(WGPUDevice *)place = device;
    else
        printf("no device: %.*s\n", (int)why.length, why.data);
}

static void take_map(WGPUMapAsyncStatus status, WGPUStringView why, void *place, void *unused) {
    (void)why;
    (void)unused;
    *(int *)place = status == WGPUMapAsyncStatus_Success;
}

static int compute(WGPUDevice device) {
    const WGPUQueue queue = wgpuDeviceGetQueue(device);
    WGPUShaderSourceWGSL source = {.chain = {.sType = WGPUSType_ShaderSourceWGSL}, .code = text(SHADER)};
    const WGPUShaderModule module = wgpuDeviceCreateShaderModule(device, &(WGPUShaderModuleDescriptor){.nextInChain = &source.chain});
    const WGPUComputePipeline pipeline = wgpuDeviceCreateComputePipeline(
        device, &(WGPUComputePipelineDescriptor){.compute = {.module = module, .entryPoint = text("main")}});
    const WGPUBuffer written = wgpuDeviceCreateBuffer(
        device, &(WGPUBufferDescriptor){.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc, .size = COUNT * 4});
    const WGPUBuffer read = wgpuDeviceCreateBuffer(
        device, &(WGPUBufferDescriptor){.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, .size = COUNT * 4});
    const WGPUBindGroup group = wgpuDeviceCreateBindGroup(
        device, &(WGPUBindGroupDescriptor){
                    .layout = wgpuComputePipelineGetBindGroupLayout(pipeline, 0),
                    .entryCount = 1,
                    .entries = &(WGPUBindGroupEntry){.buffer = written, .size = COUNT * 4},
                });
    const WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device, NULL);
    const WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(encoder, NULL);
    wgpuComputePassEncoderSetPipeline(pass, pipeline);
    wgpuComputePassEncoderSetBindGroup(pass, 0, group, 0, NULL);
    wgpuComputePassEncoderDispatchWorkgroups(pass, COUNT / 64, 1, 1);
    wgpuComputePassEncoderEnd(pass);
    wgpuCommandEncoderCopyBufferToBuffer(encoder, written, 0, read, 0, COUNT * 4);
    const WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, NULL);
    wgpuQueueSubmit(queue, 1, &commands);
    int mapped = 0;
    wgpuBufferMapAsync(read, WGPUMapMode_Read, 0, COUNT * 4,
                       (WGPUBufferMapCallbackInfo){.mode = WGPUCallbackMode_AllowProcessEvents, .callback = take_map, .userdata1 = &mapped});
    wgpuDevicePoll(device, 1, NULL);
    if (!mapped)
        return 1;
    const uint32_t *numbers = wgpuBufferGetConstMappedRange(read, 0, COUNT * 4);
    uint64_t sum = 0;
    for (uint32_t index = 0; index < COUNT; index++)
        sum += numbers[index];
    printf("sum %llu\n", (unsigned long long)sum);
    return sum == 3ull * COUNT * (COUNT - 1) / 2 + COUNT ? 0 : 1;
}

int main(void) {
    WGPUInstanceExtras extras = {.chain = {.sType = (WGPUSType)WGPUSType_InstanceExtras}, .backends = WGPUInstanceBackend_Vulkan};
    const WGPUInstance instance = wgpuCreateInstance(&(WGPUInstanceDescriptor){.nextInChain = &extras.chain});
    WGPUAdapter adapters[8];
    const WGPUInstanceEnumerateAdapterOptions vulkan = {.backends = WGPUInstanceBackend_Vulkan};
    size_t count = wgpuInstanceEnumerateAdapters(instance, &vulkan, NULL);
    if (count == 0 || count > 8) {
        printf("%zu adapters\n", count);
        return 1;
    }
    wgpuInstanceEnumerateAdapters(instance, &vulkan, adapters);
    for (size_t index = 0; index < count; index++) {
        WGPUAdapterInfo info = {0};
        wgpuAdapterGetInfo(adapters[index], &info);
        printf("device %.*s (%.*s)\n", (int)info.device.length, info.device.data, (int)info.description.length, info.description.data);
    }
    WGPUDevice device = NULL;
    wgpuAdapterRequestDevice(adapters[0], NULL,
                             (WGPURequestDeviceCallbackInfo){.mode = WGPUCallbackMode_AllowSpontaneous, .callback = take_device, .userdata1 = &device});
    return device == NULL ? 1 : compute(device);
}
