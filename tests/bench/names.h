/* Functions that compare command names without libc. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan.h>

/* A command name, and the function that the driver returns for it. */
struct answer {
    const char *name;
    PFN_vkVoidFunction function;
};

#define ANSWER(name, function) {#name, (PFN_vkVoidFunction)(function)}

static inline bool same(const char *one, const char *other) {
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

static inline PFN_vkVoidFunction find(const struct answer *table, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (same(table[i].name, name))
            return table[i].function;
    return NULL;
}

#endif
