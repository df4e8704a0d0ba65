/* A program that is linked with -lvulkan, like most programs. Every command is an exported symbol of the library. The
 * argument `mock` means that the devices execute nothing. */
#include "tour.h"
#include <string.h>

#define FROM_LINKER(name) .name = name,

static const char *nothing_to_load(struct api *api, VkInstance instance) {
    (void)api, (void)instance;
    return NULL;
}

int main(int count, char **arguments) {
    struct api api = {GLOBAL_COMMANDS(FROM_LINKER) INSTANCE_COMMANDS(FROM_LINKER) DEVICE_COMMANDS(FROM_LINKER)};
    const struct loading loading = {
        .instance = nothing_to_load,
        .mock = count > 1 && strcmp(arguments[1], "mock") == 0,
    };
    return tour(&api, &loading);
}
