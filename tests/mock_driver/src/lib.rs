//! A Vulkan driver whose behaviour is chosen at run time.
