// SPDX-License-Identifier: Apache-2.0
/*
 * Device memory. Its addresses are reserved and closed (PROT_NONE): access by the host crashes. The bytes
 * lie in a shadow, filled with garbage when they are allocated and when they are freed, as nothing else is promised.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda.h"

enum { SMALL_ALIGNMENT = 512, LARGE = 2 << 20, GARBAGE_AT_MOST = 64 << 20, HOLE_FROM = 1 << 20 };

struct arena arenas[DEVICES];
static struct allocation *allocations; /* by address */
static unsigned long ids;

static struct arena *arena(int device) {
    struct arena *arena = &arenas[device];
    if (arena->addresses) return arena;
    size_t size = (size_t)1 << ARENA_BITS;
    arena->memory = memfd_create("device-memory", MFD_CLOEXEC);
    if (arena->memory < 0 || ftruncate(arena->memory, (off_t)size + IPC_RECORDS)) abort();
    arena->shadow = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena->memory, 0);
    arena->addresses = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena->shadow == MAP_FAILED || arena->addresses == MAP_FAILED) abort();
    return arena;
}

int device_of_address(uint64_t address) {
    for (int i = 0; i < DEVICES; i++) {
        uint64_t base = (uint64_t)(uintptr_t)arenas[i].addresses;
        if (base && address >= base && address - base < (uint64_t)1 << ARENA_BITS) return i;
    }
    return -1;
}

char *shadow(uint64_t address) {
    struct arena *arena = &arenas[device_of_address(address)];
    return arena->shadow + (address - (uint64_t)(uintptr_t)arena->addresses);
}

struct allocation *allocation_at(uint64_t address) {
    for (struct allocation *a = allocations; a; a = a->next)
        if (address >= a->base && address - a->base < a->size) return a;
    return NULL;
}

static uint64_t round_up(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

/* First fit. Small ones are packed, so that nothing is page aligned by chance; large ones have pages of their own. */
struct allocation *place(int device, size_t size) {
    uint64_t start = (uint64_t)(uintptr_t)arena(device)->addresses;
    uint64_t align = size >= LARGE ? LARGE : SMALL_ALIGNMENT;
    /* The first addresses stay empty: a small allocation at the very start would be aligned to everything. */
    uint64_t at = round_up(start + SMALL_ALIGNMENT, align);
    struct allocation **link = &allocations;
    while (*link && ((*link)->base < start || (*link)->base - at < size || (*link)->base < at)) {
        if ((*link)->base >= start && (*link)->base - start < (uint64_t)1 << ARENA_BITS)
            at = round_up((*link)->base + (*link)->size, align);
        link = &(*link)->next;
    }
    if (at + size > start + ((uint64_t)1 << ARENA_BITS)) return NULL;
    struct allocation *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->base = at;
    made->size = size;
    made->next = *link;
    *link = made;
    return made;
}

static void forget(struct allocation *allocation) {
    struct allocation **link = &allocations;
    while (*link != allocation) link = &(*link)->next;
    *link = allocation->next;
    if (allocation->import) {
        ipc_unmap(allocation);
        free(allocation);
        return;
    }
    struct arena *arena = &arenas[device_of_address(allocation->base)];
    arena->used -= allocation->size;
    char *bytes = shadow(allocation->base);
    if (allocation->size <= GARBAGE_AT_MOST) memset(bytes, 0xdd, allocation->size);
    if (allocation->size >= HOLE_FROM) {
        off_t from = (off_t)round_up((uint64_t)(bytes - arena->shadow), 4096);
        off_t end = (bytes - arena->shadow + (off_t)allocation->size) / 4096 * 4096;
        (void)!fallocate(arena->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, end - from);
    }
    free(allocation);
}

void use(const struct span *span, int more) {
    if (span->allocation) {
        span->allocation->using += more;
        if (span->allocation->freed && !span->allocation->using) forget(span->allocation);
    }
    if (span->pinned) {
        span->pinned->using += more;
        if (span->pinned->freed && !span->pinned->using) pinned_free(span->pinned);
    }
}

void allocation_free(struct allocation *allocation) {
    live(allocation->import ? "imports" : "allocations", -1);
    if (!allocation->import) {
        ipc_freed(allocation);
        live("bytes", -(long)allocation->size);
    }
    allocation->freed = 1;
    if (!allocation->using) forget(allocation);
}

long allocations_of(const struct context *context, int end) {
    long count = 0;
    for (struct allocation *a = allocations, *next; a; a = next) {
        next = a->next;
        if (a->context != context || a->freed) continue;
        count++;
        if (end) allocation_free(a);
    }
    return count;
}

int resolve(uint64_t address, size_t size, struct span *span) {
    *span = (struct span){0};
    if (device_of_address(address) < 0) {
        struct pinned *pinned = pinned_at((char *)(uintptr_t)address);
        span->bytes = (char *)(uintptr_t)address;
        if (!pinned) return 1;
        size_t offset = (size_t)((char *)(uintptr_t)address - pinned->base);
        span->pinned = pinned;
        if (pinned->snapshot) span->bytes = pinned->snapshot + offset;
        return !pinned->freed && size <= pinned->size - offset;
    }
    struct allocation *allocation = allocation_at(address);
    if (!allocation || allocation->freed || size > allocation->size - (address - allocation->base)) return 0;
    span->allocation = allocation;
    span->bytes = shadow(address);
    return 1;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
    CALLED(AT_ONCE);
    REQUIRE(address && size, INVALID_VALUE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) {
        size_t total = (size_t)property("total_mem", 4L << 30);
        struct allocation *made = NULL;
        if (size <= total && arenas[context->device].used <= total - size) made = place(context->device, size);
        if (made) {
            made->context = context;
            made->id = ++ids;
            arenas[context->device].used += size;
            if (size <= GARBAGE_AT_MOST) memset(shadow(made->base), 0xd7, size);
            live("allocations", 1);
            live("bytes", (long)size);
            *address = made->base;
        } else {
            result = OUT_OF_MEMORY;
        }
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    CALLED(AT_ONCE);
    if (!address) return SUCCESS;
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) {
        struct allocation *allocation = allocation_at(address);
        if (!allocation || allocation->base != address || allocation->freed || allocation->import) {
            complain("%s: nothing is allocated at %#lx", __func__, (unsigned long)address);
            result = INVALID_VALUE;
        } else {
            if (allocation->using) complain("%s: %d operations use the memory", __func__, allocation->using);
            /* The guide, 3.5 and 3.8; API reference 5.3: free after cuFileBufDeregister. */
            if (allocation->registered) complain("%s: the memory is registered with cuFile", __func__);
            exports_check(allocation);
            allocation_free(allocation);
        }
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *unused, size_t *total) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result && unused && total) {
        *total = (size_t)property("total_mem", 4L << 30);
        *unused = *total - arenas[context->device].used;
    }
    UNLOCK();
    REQUIRE(unused && total, INVALID_VALUE);
    return result;
}

EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) {
        struct allocation *allocation = allocation_at(address);
        if (!allocation || allocation->freed) {
            result = NOT_FOUND;
        } else {
            if (base) *base = allocation->base;
            if (size) *size = allocation->size;
        }
    }
    UNLOCK();
    return result;
}

void memory_reset(void) {
    while (allocations) {
        allocations->using = 0;
        forget(allocations);
    }
}
