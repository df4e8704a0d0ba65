/* Numbers that program.c and driver.c share. The two halves of each number are different, so that a test notices a
 * truncated or shifted number. */
#include <stdint.h>

#define DEVICE_NAME "for any target"
#define HEAP UINT64_C(0x123456789abcdef0)
#define BUFFER UINT64_C(0x1122334455667788)
#define MEMORY UINT64_C(0x99aabbccddeeff01)
#define OFFSET UINT64_C(0xfedcba9876543210)

/* A sum with a separate factor for each argument, so that exchanged arguments change the result. */
#define ODD_SUM(a, b, c, d, e, f, g, h, i, j, k) \
    ((a) + 2 * (uint64_t)(b) + 3 * (uint64_t)(c) + 5 * (uint64_t)(d) + 7 * (e) + 11 * (uint64_t)(f) + 13 * (g) + \
     17 * (uint64_t)(h) + 19 * (i) + 23 * (uint64_t)(j) + 29 * (k))
#define ODD_ARGUMENTS BUFFER, 3.0f, 5.0, 7u, MEMORY, 11.0f, OFFSET, 13.0, HEAP, 17u, UINT64_C(0x8000000000000001)
