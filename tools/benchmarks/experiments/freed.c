// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: keeps freed chunks of at most 64 bytes, poisoned, and reports at exit which were written into, and who freed them:
//   gcc -O1 -shared -fPIC -ftls-model=initial-exec -o freed.so tools/benchmarks/experiments/freed.c -ldl
// The model of thread-locals matters: another one calls free() from within free().
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHUNKS = 1 << 23, LARGEST = 64, FRAMES = 6, POISON = 0xDB };

typedef struct {
    unsigned char *at; // set last
    size_t size;
    void *frames[FRAMES];
} chunk;

extern void *__libc_calloc(size_t, size_t);
extern void __libc_free(void *);

static chunk *kept;
static atomic_uint count;
static _Thread_local int inside;

__attribute__((constructor)) static void start(void) {
    void *frame[1];
    inside = 1;
    backtrace(frame, 1); // loads what it needs
    kept = __libc_calloc(CHUNKS, sizeof *kept);
    inside = 0;
}

void free(void *memory) {
    size_t size = memory ? malloc_usable_size(memory) : 0;
    unsigned number = !memory || !kept || inside || size > LARGEST ? CHUNKS : atomic_fetch_add(&count, 1);
    if (number >= CHUNKS) {
        __libc_free(memory);
        return;
    }
    inside = 1;
    memset(memory, POISON, size);
    kept[number].size = size;
    backtrace(kept[number].frames, FRAMES);
    kept[number].at = memory;
    inside = 0;
}

static void report(const chunk *found, size_t offset) {
    fprintf(stderr, "%d: a freed chunk of %zu bytes has %02x at %zu; freed by", getpid(), found->size, found->at[offset], offset);
    for (int i = 0; i < FRAMES && found->frames[i]; i++) {
        Dl_info place;
        int known = dladdr(found->frames[i], &place) && place.dli_fname;
        fprintf(stderr, " %s+0x%lx", known ? place.dli_fname : "?",
                (unsigned long)((char *)found->frames[i] - (known ? (char *)place.dli_fbase : NULL)));
    }
    fprintf(stderr, "\n");
}

__attribute__((destructor)) static void end(void) {
    inside = 1;
    unsigned number = atomic_load(&count);
    for (unsigned i = 0; i < number && i < CHUNKS; i++)
        for (size_t offset = 0; kept[i].at && offset < kept[i].size; offset++)
            if (kept[i].at[offset] != POISON) {
                report(&kept[i], offset);
                break;
            }
}
