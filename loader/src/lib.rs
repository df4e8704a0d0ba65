//! A drop-in `libvulkan.so.1`.
