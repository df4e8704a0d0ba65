"""A client of taichi: kernels that are compiled for Vulkan draw a Mandelbrot set into picture.ppm, and add up an array."""

from pathlib import Path

import taichi as ti

ti.init(arch=ti.vulkan, offline_cache=False, enable_fallback=False)
WIDTH, HEIGHT = 300, 200
image = ti.field(ti.i32, shape=(HEIGHT, WIDTH))


@ti.kernel
def draw():
    """Counts the squarings of each point until the point leaves the circle."""
    for y, x in image:
        constant = ti.Vector([x / WIDTH * 3.0 - 2.0, y / HEIGHT * 2.0 - 1.0])
        point = ti.Vector([0.0, 0.0])
        count = 0
        while point.norm() < 2.0 and count < 64:
            point = ti.Vector([point[0] ** 2 - point[1] ** 2, 2.0 * point[0] * point[1]]) + constant
            count += 1
        image[y, x] = count


@ti.kernel
def total() -> ti.i32:
    """Adds up all counts with atomic operations."""
    sum = 0
    for y, x in image:
        sum += image[y, x]
    return sum


def main():
    """Runs both kernels."""
    draw()
    print("architecture:", ti.cfg.arch, "sum:", total())
    grey = (image.to_numpy() * 3).astype("uint8")
    Path("picture.ppm").write_bytes(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + grey.repeat(3).tobytes())


main()
