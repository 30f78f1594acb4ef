// Counts allocations by replacing the functions of the C library: definitions in a program have precedence over those
// in the libraries that it loads, so the calls of Swift's runtime and libzstd are counted too.

#include "CBench.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define BENCH_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(BENCH_SANITIZED)

#include <errno.h>

static atomic_int counting;
static atomic_uint_fast64_t allocations;

static inline void note(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    note();
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    note();
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}

void free(void *memory) { __libc_free(memory); }

int bench_counts_allocations(void) { return 1; }

void bench_start_counting(void) {
    atomic_store(&allocations, 0);
    atomic_store(&counting, 1);
}

uint64_t bench_stop_counting(void) {
    atomic_store(&counting, 0);
    return atomic_load(&allocations);
}

#else

int bench_counts_allocations(void) { return 0; }
void bench_start_counting(void) {}
uint64_t bench_stop_counting(void) { return 0; }

#endif
