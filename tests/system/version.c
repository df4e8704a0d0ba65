/* Prints the version of the loader that a program of this word size loads. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW);
    int (*ask)(unsigned *) = library ? (int (*)(unsigned *))dlsym(library, "vkEnumerateInstanceVersion") : NULL;
    unsigned version = 0;
    if (!ask || ask(&version)) {
        puts(library ? "it does not tell" : dlerror());
        return 1;
    }
    printf("%u.%u.%u\n", version >> 22, version >> 12 & 1023, version & 4095);
    return 0;
}
