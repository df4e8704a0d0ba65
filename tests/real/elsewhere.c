/* A preloaded library that opens the files of the folder VKL_ELSEWHERE for paths in /vkl-elsewhere. The library
 * redirects only functions that open files and folders, so stat and access do not find these paths (APP-217, APP-218,
 * LAY-25). */
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

/* Returns the path to open in place of `path`. `room` is the buffer for a redirected path. */
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
