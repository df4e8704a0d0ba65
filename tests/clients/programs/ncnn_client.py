"""A client of ncnn: runs a small network with fixed weights on the device, and prints its output."""

import ncnn
import numpy

NETWORK = """7767517
5 5
Input       in     0 1 in
Convolution first  1 1 in a      0=8 1=3 4=1 5=1 6=216 9=1
Pooling     second 1 1 a b       0=0 1=2 2=2
Convolution third  1 1 b c       0=4 1=1 5=1 6=32
Softmax     out    1 1 c out     0=0 1=1
"""


def weights(count, bias):
    """Returns the weights of one convolution in ncnn's format: a tag, the factors, the sums."""
    factors = numpy.sin(numpy.arange(count, dtype=numpy.float32)) / 4
    return b"\0\0\0\0" + factors.tobytes() + numpy.linspace(-1, 1, bias, dtype=numpy.float32).tobytes()


def main():
    """Loads the network, runs it, and prints its output."""
    with open("network.param", "w", encoding="ascii") as file:
        file.write(NETWORK)
    with open("network.bin", "wb") as file:
        file.write(weights(216, 8) + weights(32, 4))
    # Without this call, ncnn opens the drivers without a loader.
    assert ncnn.create_gpu_instance("libvulkan.so.1") == 0
    print("devices:", ncnn.get_gpu_count(), ncnn.get_gpu_info(0).device_name())
    with ncnn.Net() as net:
        net.opt.use_vulkan_compute = True
        net.set_vulkan_device(0)
        assert net.load_param("network.param") == 0
        assert net.load_model("network.bin") == 0
        values = numpy.arange(3 * 16 * 16, dtype=numpy.float32).reshape(3, 16, 16) % 17 / 17
        with net.create_extractor() as extractor:
            extractor.input("in", ncnn.Mat(values).clone())
            status, out = extractor.extract("out")
            result = numpy.array(out)
    print("status:", status, "shape:", result.shape)
    print("\n".join(" ".join(f"{value:.6f}" for value in row) for row in result.reshape(-1, 16)))
    ncnn.destroy_gpu_instance()


main()
