"""A client of wgpu through its Python package: prints a compute shader's numbers, and draws a triangle into picture.ppm."""

import struct
from pathlib import Path

import wgpu

COMPUTE = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = (id.x * 2654435761u) ^ (id.x << 7u);
}"""
RENDER = """
@vertex fn vertex(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    var corners = array(vec2f(-0.8, -0.7), vec2f(0.8, -0.6), vec2f(0.1, 0.9));
    return vec4f(corners[i], 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return vec4f(at.x / 256.0, at.y / 256.0, 0.5, 1.0);
}"""
COUNT, SIDE = 1024, 256


def compute(device):
    """Returns the numbers that the compute shader writes."""
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    buffer = device.create_buffer(size=COUNT * 4, usage=usage)
    module = device.create_shader_module(code=COMPUTE)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    entries = [{"binding": 0, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    encoder = device.create_command_encoder()
    step = encoder.begin_compute_pass()
    step.set_pipeline(pipeline)
    step.set_bind_group(0, group)
    step.dispatch_workgroups(COUNT // 64)
    step.end()
    device.queue.submit([encoder.finish()])
    return struct.unpack(f"{COUNT}I", device.queue.read_buffer(buffer))


def render(device):
    """Returns the pixels of the picture, four bytes each."""
    size = (SIDE, SIDE, 1)
    usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    texture = device.create_texture(size=size, format="rgba8unorm", usage=usage)
    module = device.create_shader_module(code=RENDER)
    pipeline = device.create_render_pipeline(
        layout="auto",
        vertex={"module": module, "entry_point": "vertex"},
        fragment={"module": module, "entry_point": "fragment", "targets": [{"format": "rgba8unorm"}]},
    )
    encoder = device.create_command_encoder()
    attachment = {
        "view": texture.create_view(),
        "load_op": "clear",
        "store_op": "store",
        "clear_value": (0.2, 0.2, 0.2, 1),
    }
    step = encoder.begin_render_pass(color_attachments=[attachment])
    step.set_pipeline(pipeline)
    step.draw(3)
    step.end()
    device.queue.submit([encoder.finish()])
    layout = {"offset": 0, "bytes_per_row": SIDE * 4, "rows_per_image": SIDE}
    return bytes(device.queue.read_texture({"texture": texture, "mip_level": 0, "origin": (0, 0, 0)}, layout, size))


def main():
    """Prints the adapter, and runs the compute shader and the drawing."""
    for adapter in wgpu.gpu.enumerate_adapters_sync():
        print("adapter:", dict(adapter.info))
        print("features:", *sorted(adapter.features))
        print("limits:", dict(sorted(adapter.limits.items())))
    device = wgpu.gpu.request_adapter_sync().request_device_sync()
    numbers = compute(device)
    print("computed:", *numbers[:8], "sum", sum(numbers))
    pixels = render(device)
    rows = b"".join(pixels[i : i + 3] for i in range(0, len(pixels), 4))
    Path("picture.ppm").write_bytes(b"P6 %d %d 255\n" % (SIDE, SIDE) + rows)


main()
