/* Preloaded into a program: what lies in /vkl-elsewhere is taken from the folder that VKL_ELSEWHERE names. Opening is
 * redirected and nothing else, so that stat and access find no such path (APP-217, APP-218, LAY-25). */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PREFIX[] = "/vkl-elsewhere/";

/* The path to open instead, in `room` where it is another one. */
static const char *elsewhere(const char *path, char room[PATH_MAX]) {
    const char *root = getenv("VKL_ELSEWHERE");
    if (!path || !root || strncmp(path, PREFIX, sizeof PREFIX - 1) != 0)
        return path;
    snprintf(room, PATH_MAX, "%s/%s", root, path + sizeof PREFIX - 1);
    return room;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                                                    \
    int name(const char *path, int flags, ...) {                                                                      \
        char room[PATH_MAX];                                                                                          \
        va_list more;                                                                                                 \
        va_start(more, flags);                                                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                                       \
        va_end(more);                                                                                                 \
        return NEXT(name)(elsewhere(path, room), flags, mode);                                                        \
    }
OPEN(open)
OPEN(open64)

DIR *opendir(const char *path) {
    char room[PATH_MAX];
    return NEXT(opendir)(elsewhere(path, room));
}

void *dlopen(const char *path, int flags) {
    char room[PATH_MAX];
    return NEXT(dlopen)(elsewhere(path, room), flags);
}
