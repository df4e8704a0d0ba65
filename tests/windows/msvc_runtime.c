/* Replaces Microsoft's C runtime on machines without it. This file contains only the parts that vulkan-1.dll needs, so
 * that the library can be linked with the options of Microsoft's tools, and then runs. Only tests use this file, and
 * clang compiles it. */
#include <stddef.h>
#include <stdint.h>

/* On x86, symbols of C begin with an underscore, pointers have 4 bytes, and a table lists exception handlers. */
#if defined(__i386__)
#define WORD ".long "
#define U "_"
#define PROCESS "0, 0"
#define HANDLERS "___safe_se_handler_table, ___safe_se_handler_count"
#else
#define WORD ".quad "
#define U ""
#define PROCESS "0\n.long 0"
#define HANDLERS "0, 0"
#endif

typedef int __stdcall dll_main(void *module, uint32_t reason, void *at_exit);
typedef void __stdcall thread_callback(void *module, uint32_t reason, void *reserved);
typedef int initializer(void);

/* Code with floating-point numbers refers to this symbol. */
int _fltused = 0x9875;

/* Thread-local storage: its initial value, the index of the library, and the functions that Windows calls for each
 * thread. */
#pragma section(".tls", read, write)
#pragma section(".tls$ZZZ", read, write)
#pragma section(".CRT$XLA", read)
#pragma section(".CRT$XLZ", read)
#pragma section(".rdata$T", read)
uint32_t _tls_index;
__declspec(allocate(".tls")) char _tls_start;
__declspec(allocate(".tls$ZZZ")) char _tls_end;
__declspec(allocate(".CRT$XLA")) thread_callback *const __xl_a = NULL;
__declspec(allocate(".CRT$XLZ")) thread_callback *const __xl_z = NULL;
__declspec(allocate(".rdata$T")) extern const struct {
    const void *start, *end;
    uint32_t *index;
    thread_callback *const *callbacks;
    uint32_t zeros, flags;
} _tls_used = {&_tls_start, &_tls_end, &_tls_index, &__xl_a + 1, 0, 0};

/* Functions that run before DllMain. */
#pragma section(".CRT$XCA", read)
#pragma section(".CRT$XCZ", read)
__declspec(allocate(".CRT$XCA")) initializer *const __xc_a = NULL;
__declspec(allocate(".CRT$XCZ")) initializer *const __xc_z = NULL;

dll_main DllMain;
dll_main _DllMainCRTStartup;
int __stdcall _DllMainCRTStartup(void *module, uint32_t reason, void *at_exit) {
    initializer *const *function = &__xc_a;
    if (reason == 1)
        while (++function < &__xc_z)
            if (*function != NULL)
                (*function)();
    return DllMain(module, reason, at_exit);
}

/* Functions of the control-flow guard for systems without the guard. Other systems replace the pointers when they
 * load the library. */
#pragma section(".00cfg", read)
static void no_check(void) {
}
__declspec(allocate(".00cfg")) void (*const __guard_check_icall_fptr)(void) = no_check;
#if defined(__x86_64__)
__attribute__((naked)) static void dispatch(void) {
    __asm__("jmp *%rax");
}
__declspec(allocate(".00cfg")) void (*const __guard_dispatch_icall_fptr)(void) = dispatch;
#define DISPATCH "__guard_dispatch_icall_fptr"
#else
#define DISPATCH "0"
#endif

/* The load configuration. The members have the order of IMAGE_LOAD_CONFIG_DIRECTORY. The linker defines the tables,
 * counts and flags. */
uintptr_t __security_cookie = (uintptr_t)0x2B992DDFA232;
__asm__(".section .rdata,\"dr\"\n"
        ".globl " U "_load_config_used\n"
        ".balign 8\n"
        U "_load_config_used:\n"
        "1: .long 2f - 1b, 0\n"
        ".short 0, 0\n"
        ".long 0, 0, 0\n"
        WORD "0, 0, 0, 0, 0\n"
        WORD PROCESS "\n"
        ".short 0, 0\n"
        WORD "0\n"
        WORD U "__security_cookie\n"
        WORD HANDLERS "\n"
        WORD U "__guard_check_icall_fptr, " DISPATCH "\n"
        WORD U "__guard_fids_table, " U "__guard_fids_count\n"
        ".long " U "__guard_flags\n"
        ".short 0, 0\n"
        ".long 0, 0\n"
        WORD U "__guard_iat_table, " U "__guard_iat_count\n"
        WORD U "__guard_longjmp_table, " U "__guard_longjmp_count\n"
        WORD "0, 0, 0, 0\n"
        ".long 0\n"
        ".short 0, 0\n"
        WORD "0\n"
        ".long 0, 0\n"
        WORD "0, 0\n"
        WORD U "__guard_eh_cont_table, " U "__guard_eh_cont_count\n"
        WORD "0, 0, 0, 0, 0\n"
        "2:\n"
        ".long 0\n"
        ".text\n");

/* Functions with a large frame call __chkstk, which touches each page of the frame in order. The size is in rax or eax,
 * or in x15 in units of 16 bytes. On x86, __chkstk also moves the stack pointer. */
__asm__(".globl __chkstk\n"
        ".def __chkstk\n.scl 2\n.type 32\n.endef\n"
        "__chkstk:\n"
#if defined(__x86_64__)
        "pushq %rcx\n"
        "pushq %rax\n"
        "leaq 24(%rsp), %rcx\n"
        "1: cmpq $4096, %rax\n"
        "jb 2f\n"
        "subq $4096, %rcx\n"
        "testq %rcx, (%rcx)\n"
        "subq $4096, %rax\n"
        "jmp 1b\n"
        "2: subq %rax, %rcx\n"
        "testq %rcx, (%rcx)\n"
        "popq %rax\n"
        "popq %rcx\n"
        "ret\n"
#elif defined(__i386__)
        "pushl %ecx\n"
        "leal 8(%esp), %ecx\n"
        "1: cmpl $4096, %eax\n"
        "jb 2f\n"
        "subl $4096, %ecx\n"
        "testl %ecx, (%ecx)\n"
        "subl $4096, %eax\n"
        "jmp 1b\n"
        "2: subl %eax, %ecx\n"
        "testl %ecx, (%ecx)\n"
        "movl %esp, %eax\n"
        "movl %ecx, %esp\n"
        "movl (%eax), %ecx\n"
        "jmpl *4(%eax)\n"
#else
        "lsl x16, x15, #4\n"
        "mov x17, sp\n"
        "1: sub x17, x17, #4096\n"
        "subs x16, x16, #4096\n"
        "ldr xzr, [x17]\n"
        "b.gt 1b\n"
        "ret\n"
#endif
);

#if defined(__i386__)
/* The offset of the pointer to thread-local storage in the system's record of a thread. The symbol's address is this offset. */
__asm__(".globl __tls_array\n.set __tls_array, 0x2C\n");

/* Divides numbers of 64 bits. */
uint64_t __stdcall divide(uint64_t dividend, uint64_t divisor) __asm__("__aulldiv");
uint64_t __stdcall divide(uint64_t dividend, uint64_t divisor) {
    uint64_t rest = 0, quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
        rest = rest << 1 | (dividend >> bit & 1);
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= UINT64_C(1) << bit;
        }
    }
    return quotient;
}
#endif

/* Functions for memory and strings. */
void *memcpy(void *to, const void *from, size_t count) {
    for (size_t at = 0; at < count; at++)
        ((char *)to)[at] = ((const char *)from)[at];
    return to;
}
void *memmove(void *to, const void *from, size_t count) {
    if ((uintptr_t)to <= (uintptr_t)from)
        return memcpy(to, from, count);
    while (count-- > 0)
        ((char *)to)[count] = ((const char *)from)[count];
    return to;
}
void *memset(void *to, int value, size_t count) {
    for (size_t at = 0; at < count; at++)
        ((char *)to)[at] = (char)value;
    return to;
}
int memcmp(const void *left, const void *right, size_t count) {
    for (size_t at = 0; at < count; at++) {
        const int difference = ((const unsigned char *)left)[at] - ((const unsigned char *)right)[at];
        if (difference != 0)
            return difference;
    }
    return 0;
}
size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length] != 0)
        length++;
    return length;
}
