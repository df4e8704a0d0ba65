//! A Vulkan layer whose behaviour is chosen at run time.
