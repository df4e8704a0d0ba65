/* Multiplies two matrices with the Vulkan backend of llama.cpp. The backend is in the published libraries of llama.cpp
 * for Windows. ggml-vulkan.dll imports vulkan-1.dll. The program must run in the folder of these libraries. The program
 * prints a line `device` for each device, and fails if a sum is different from the sum on the CPU. The numbers are
 * small integers, so that every order of additions gives the same sum. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

struct parameters { size_t size; void *buffer; bool no_alloc; };
enum { OF_FLOATS, DEPTH = 64, ROWS = 96, COLUMNS = 80 };

static void *function(HMODULE library, const char *name) {
    void *found = (void *)GetProcAddress(library, name);
    if (!found)
        printf("the library has no %s\n", name), exit(1);
    return found;
}

int main(void) {
    SetEnvironmentVariableA("GGML_VK_VISIBLE_DEVICES", "0"); /* without this variable, the backend ignores software devices */
    _putenv("GGML_VK_VISIBLE_DEVICES=0");
    HMODULE base = LoadLibraryA("ggml-base.dll"), vulkan = LoadLibraryA("ggml-vulkan.dll");
    if (!base || !vulkan)
        return printf("a library did not load: error %lu\n", GetLastError()), 1;
    int (*count)(void) = function(vulkan, "ggml_backend_vk_get_device_count");
    void (*describe)(int, char *, size_t) = function(vulkan, "ggml_backend_vk_get_device_description");
    void *(*open)(size_t) = function(vulkan, "ggml_backend_vk_init");
    void *(*context_of)(struct parameters) = function(base, "ggml_init");
    void *(*matrix)(void *, int, int64_t, int64_t) = function(base, "ggml_new_tensor_2d");
    void *(*product)(void *, void *, void *) = function(base, "ggml_mul_mat");
    void *(*graph_of)(void *) = function(base, "ggml_new_graph");
    void (*expand)(void *, void *) = function(base, "ggml_build_forward_expand");
    void *(*allocate)(void *, void *) = function(base, "ggml_backend_alloc_ctx_tensors");
    void (*set)(void *, const void *, size_t, size_t) = function(base, "ggml_backend_tensor_set");
    void (*get)(const void *, void *, size_t, size_t) = function(base, "ggml_backend_tensor_get");
    int (*compute)(void *, void *) = function(base, "ggml_backend_graph_compute");
    void (*close)(void *) = function(base, "ggml_backend_free");

    const int devices = count();
    for (int device = 0; device < devices; device++) {
        char text[256];
        describe(device, text, sizeof text);
        printf("device %s\n", text);
    }
    void *backend = devices ? open(0) : NULL;
    if (!backend)
        return printf("no device\n"), 1;
    void *context = context_of((struct parameters){1 << 20, NULL, true});
    void *a = matrix(context, OF_FLOATS, DEPTH, ROWS), *b = matrix(context, OF_FLOATS, DEPTH, COLUMNS);
    void *c = product(context, a, b), *graph = graph_of(context);
    expand(graph, c);
    if (!allocate(context, backend))
        return printf("no memory of the device\n"), 1;
    static float left[ROWS][DEPTH], right[COLUMNS][DEPTH], result[COLUMNS][ROWS];
    for (int depth = 0; depth < DEPTH; depth++) {
        for (int row = 0; row < ROWS; row++)
            left[row][depth] = (float)((row * 7 + depth * 3) % 5 - 2);
        for (int column = 0; column < COLUMNS; column++)
            right[column][depth] = (float)((column * 5 + depth) % 7 - 3);
    }
    set(a, left, 0, sizeof left), set(b, right, 0, sizeof right);
    if (compute(backend, graph))
        return printf("it was not computed\n"), 1;
    get(c, result, 0, sizeof result);
    double sum = 0;
    for (int column = 0; column < COLUMNS; column++)
        for (int row = 0; row < ROWS; row++) {
            float expected = 0;
            for (int depth = 0; depth < DEPTH; depth++)
                expected += left[row][depth] * right[column][depth];
            if (result[column][row] != expected)
                return printf("row %d, column %d: %g, not %g\n", row, column, result[column][row], expected), 1;
            sum += expected;
        }
    close(backend);
    printf("ok %d sums, all together %g\n", ROWS * COLUMNS, sum);
    return 0;
}
