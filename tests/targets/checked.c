/* The only function of glibc that Debian's build of LLVM's unwinder needs. Programs with musl lack this function. */
#include <stdarg.h>
#include <stdio.h>

int __fprintf_chk(FILE *to, int flag, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vfprintf(to, format, arguments);
    va_end(arguments);
    return (void)flag, written;
}
