// The part of Vulkan that the fixtures need.
#pragma once
#include <cstddef>
#include <cstdint>

typedef void (*Function)();
typedef Function (*GetProcAddr)(void *, const char *);

struct Callbacks {
    void *data;
    void *(*allocate)(void *, size_t, size_t, int);
    void *(*reallocate)(void *, void *, size_t, size_t, int);
    void (*release)(void *, void *);
    void *internal[2];
};

struct InstanceInfo {
    int type;
    const void *next;
    uint32_t flags;
    const void *application;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
};
