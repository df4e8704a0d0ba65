// Runs compute and render pipelines of WebGPU in every JavaScript program that has navigator.gpu. Prints the adapter and the computed
// numbers, and writes the rendered picture to picture.ppm.

const COMPUTE = `
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    var value = id.x * 2654435761u + 12345u;
    for (var i = 0u; i < 16u; i++) { value = (value ^ (value >> 15u)) * 2246822519u; }
    data[id.x] = value;
}`;

const RENDER = `
struct Out { @builtin(position) position: vec4f, @location(0) colour: vec3f };
@vertex fn vertex(@builtin(vertex_index) i: u32) -> Out {
    var corners = array(vec2f(-0.8, -0.7), vec2f(0.8, -0.6), vec2f(0.1, 0.9));
    var colours = array(vec3f(1, 0, 0), vec3f(0, 1, 0), vec3f(0, 0, 1));
    return Out(vec4f(corners[i], 0, 1), colours[i]);
}
@fragment fn fragment(in: Out) -> @location(0) vec4f { return vec4f(in.colour, 1); }`;

const COUNT = 1024;
const SIDE = 256;

async function read(device, source, size) {
    const target = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const encoder = device.createCommandEncoder();
    source(encoder, target);
    device.queue.submit([encoder.finish()]);
    await target.mapAsync(GPUMapMode.READ);
    const bytes = new Uint8Array(target.getMappedRange()).slice();
    target.unmap();
    return bytes;
}

async function compute(device) {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
    const buffer = device.createBuffer({ size: COUNT * 4, usage });
    const module = device.createShaderModule({ code: COMPUTE });
    const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
    const layout = pipeline.getBindGroupLayout(0);
    const group = device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] });
    const bytes = await read(device, (encoder, target) => {
        const pass = encoder.beginComputePass();
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(COUNT / 64);
        pass.end();
        encoder.copyBufferToBuffer(buffer, 0, target, 0, COUNT * 4);
    }, COUNT * 4);
    return new Uint32Array(bytes.buffer);
}

async function render(device) {
    const format = "rgba8unorm";
    const usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC;
    const texture = device.createTexture({ size: [SIDE, SIDE], format, usage });
    const module = device.createShaderModule({ code: RENDER });
    const pipeline = device.createRenderPipeline({
        layout: "auto",
        vertex: { module, entryPoint: "vertex" },
        fragment: { module, entryPoint: "fragment", targets: [{ format }] },
    });
    return await read(device, (encoder, target) => {
        const pass = encoder.beginRenderPass({
            colorAttachments: [{
                view: texture.createView(), loadOp: "clear", storeOp: "store", clearValue: [0.2, 0.2, 0.2, 1],
            }],
        });
        pass.setPipeline(pipeline);
        pass.draw(3);
        pass.end();
        encoder.copyTextureToBuffer({ texture }, { buffer: target, bytesPerRow: SIDE * 4 }, [SIDE, SIDE]);
    }, SIDE * SIDE * 4);
}

export async function main(gpu, writeFile) {
    const adapter = await gpu.requestAdapter();
    const { vendor, architecture, device: name, description } = adapter.info;
    console.log(`adapter: ${vendor}, ${architecture}, ${name}, ${description}`);
    console.log(`features: ${[...adapter.features].sort().join(" ")}`);
    const limits = adapter.limits;
    const names = Object.keys(Object.getPrototypeOf(limits)).sort();
    console.log(`limits: ${names.map((limit) => `${limit}=${limits[limit]}`).join(" ")}`);
    const device = await adapter.requestDevice();
    const numbers = await compute(device);
    console.log(`computed: ${[...numbers.slice(0, 8)].join(" ")}, sum ${numbers.reduce((a, b) => a + b, 0)}`);
    const pixels = await render(device);
    const header = new TextEncoder().encode(`P6 ${SIDE} ${SIDE} 255\n`);
    const picture = new Uint8Array(header.length + SIDE * SIDE * 3);
    picture.set(header);
    for (let i = 0; i < SIDE * SIDE; i++) picture.set(pixels.subarray(i * 4, i * 4 + 3), header.length + i * 3);
    writeFile("picture.ppm", picture);
    device.destroy();
}
