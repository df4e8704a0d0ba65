/* Linked with -lvulkan, as most programs are: every command comes from the library's exported symbols. */
#include "tour.h"
#include <stddef.h>

#define FROM_LINKER(name) .name = name,

static const char *nothing_to_load(struct api *api, VkInstance instance) {
    (void)api, (void)instance;
    return NULL;
}

int main(void) {
    struct api api = {GLOBAL_COMMANDS(FROM_LINKER) INSTANCE_COMMANDS(FROM_LINKER) DEVICE_COMMANDS(FROM_LINKER)};
    const struct loading loading = {.instance = nothing_to_load};
    return tour(&api, &loading);
}
