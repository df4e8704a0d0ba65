/* A preloaded library that records the variables that a process reads, and the library that reads each of them, in the
 * file $VKL_NAMES. Reads by the Vulkan loader itself are ignored. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static char *find(const char *name) {
    const size_t length = strlen(name);
    for (char **one = environ; one && *one; one++)
        if (!strncmp(*one, name, length) && (*one)[length] == '=')
            return *one + length + 1;
    return NULL;
}

static char *answer(const char *name, void *caller) {
    Dl_info library;
    const char *notes = find("VKL_NAMES");
    char line[512];
    if (notes && strcmp(name, "VKL_NAMES") && dladdr(caller, &library) && library.dli_fname) {
        const char *last = strrchr(library.dli_fname, '/');
        const int length = snprintf(line, sizeof line, "%s %s\n", last ? last + 1 : library.dli_fname, name);
        const int file = open(notes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (file >= 0 && length > 0 && (size_t)length < sizeof line)
            (void)!write(file, line, (size_t)length);
        if (file >= 0)
            close(file);
    }
    return find(name);
}

char *getenv(const char *name) {
    return answer(name, __builtin_return_address(0));
}

char *secure_getenv(const char *name) {
    return answer(name, __builtin_return_address(0));
}

char *__secure_getenv(const char *name) {
    return answer(name, __builtin_return_address(0));
}
