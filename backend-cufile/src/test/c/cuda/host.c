// SPDX-License-Identifier: Apache-2.0
/* Host memory that the device reaches: allocated by the driver, or the application's own, registered. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>

#include "cuda.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum { PORTABLE = 1, DEVICE_MAP = 2, WRITE_COMBINED = 4, READ_ONLY = 8, PAGE = 4096 };
enum { TMPFS = 0x01021994 };

struct pinned *pinned_memory;

struct pinned *pinned_at(const char *address) {
    for (struct pinned *p = pinned_memory; p; p = p->next)
        if (!p->freed && address >= p->base && (size_t)(address - p->base) < p->size) return p;
    return NULL;
}

static const char *kind_of(const struct pinned *pinned) {
    return !pinned->registered ? "host_allocations" : pinned->read_only ? "host_registrations" : "host_buffers";
}

static struct pinned *pinned_new(char *base, size_t size, struct context *context, int registered, int read_only) {
    struct pinned *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->base = base;
    made->size = size;
    made->context = context;
    made->registered = registered;
    made->read_only = read_only;
    made->next = pinned_memory;
    pinned_memory = made;
    live(kind_of(made), 1);
    live("pinned", (long)size);
    return made;
}

void pinned_free(struct pinned *pinned) {
    struct pinned **link = &pinned_memory;
    while (*link != pinned) link = &(*link)->next;
    *link = pinned->next;
    if (!pinned->registered) munmap(pinned->base, pinned->size);
    if (pinned->snapshot) munmap(pinned->snapshot, pinned->size);
    free(pinned);
}

static CUresult pinned_end(struct pinned *pinned, const char *function) {
    live(kind_of(pinned), -1);
    live("pinned", -(long)pinned->size);
    if (pinned->using) complain("%s: %d operations use the memory", function, pinned->using);
    pinned->freed = 1;
    if (!pinned->using) pinned_free(pinned);
    return SUCCESS;
}

static int too_much(size_t size) {
    long most = property("max_pinned", -1);
    if (most < 0) return 0;
    size_t now = 0;
    for (struct pinned *p = pinned_memory; p; p = p->next) now += p->size;
    return now + size > (size_t)most;
}

static CUresult allocate(const char *function, void **memory, size_t size, unsigned flags) {
    REQUIRE(memory && size && !(flags & ~(unsigned)(PORTABLE | DEVICE_MAP | WRITE_COMBINED)), INVALID_VALUE);
    struct context *context;
    LOCK();
    CUresult result = need_context(function, &context);
    if (!result && too_much(size)) result = OUT_OF_MEMORY;
    if (!result) {
        size_t pages = (size + PAGE - 1) / PAGE * PAGE;
        char *base = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED) {
            result = OUT_OF_MEMORY;
        } else {
            pinned_new(base, size, context, 0, 0);
            *memory = base;
        }
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    CALLED(AT_ONCE);
    return allocate(__func__, memory, size, flags);
}

EXPORT CUresult cuMemAllocHost_v2(void **memory, size_t size) {
    CALLED(AT_ONCE);
    return allocate(__func__, memory, size, 0);
}

EXPORT CUresult cuMemFreeHost(void *memory) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) {
        struct pinned *pinned = pinned_at(memory);
        if (!pinned || pinned->base != memory || pinned->registered) {
            complain("%s: nothing of the driver's is at %p", __func__, memory);
            result = INVALID_VALUE;
        } else {
            result = pinned_end(pinned, __func__);
        }
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags) {
    CALLED(AT_ONCE);
    REQUIRE(address && !flags, INVALID_VALUE);
    LOCK();
    struct context *context;
    CUresult result = need_context(__func__, &context);
    if (!result && !pinned_at(memory)) result = INVALID_VALUE;
    UNLOCK();
    /* One address space for all: unified addressing, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM. */
    if (!result) *address = (uint64_t)(uintptr_t)memory;
    return result;
}

struct mapping {
    int mapped;    /* all of it */
    int writable;  /* all of it */
    int file;      /* any of it is of a file */
    int disk_rw;   /* any of it is a shared writable mapping of a file that is on a disk */
};

static void look_at(const char *line, uintptr_t *covered, uintptr_t end, struct mapping *mapping) {
    unsigned long from, to, inode;
    char rights[8], path[512] = "";
    if (sscanf(line, "%lx-%lx %7s %*s %*s %lu %511[^\n]", &from, &to, rights, &inode, path) < 4) return;
    if (to <= *covered || from > *covered || *covered >= end) return;
    *covered = to;
    if (rights[1] != 'w') mapping->writable = 0;
    if (!inode) return;
    mapping->file = 1;
    struct statfs system;
    if (rights[1] == 'w' && rights[3] == 's' && path[0] == '/' && !statfs(path, &system) && system.f_type != TMPFS)
        mapping->disk_rw = 1;
}

static struct mapping mapping_of(const char *base, size_t size) {
    struct mapping mapping = {0, 1, 0, 0};
    uintptr_t covered = (uintptr_t)base, end = covered + size;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) abort();
    char line[1024];
    while (fgets(line, sizeof line, maps)) look_at(line, &covered, end, &mapping);
    fclose(maps);
    mapping.mapped = covered >= end;
    return mapping;
}

/* As the kernel does when it pins: each page must come, which those beyond the end of a file do not. */
static int pages_come(char *base, size_t size, int writable) {
    uintptr_t from = (uintptr_t)base / PAGE * PAGE;
    size_t length = (uintptr_t)base + size - from;
    if (!madvise((void *)from, length, writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)) return 1;
    return errno == EINVAL; /* a kernel before 5.14 */
}

/*
 * What was seen on an H200: a mapping without the right to write needs READ_ONLY, and one with it must not be of a file on
 * a disk. Pinned pages keep the bytes that they had through an O_DIRECT overwrite, a hole punched and a file cut: the
 * device reads a snapshot here, old in each of these cases. (Buffered overwrites would be seen; no rule counts on that.)
 */
static CUresult register_pages(struct context *context, char *base, size_t size, unsigned flags) {
    struct mapping mapping = mapping_of(base, size);
    int read_only = (flags & READ_ONLY) != 0;
    if (!mapping.mapped || mapping.disk_rw || (!mapping.writable && !read_only)) return INVALID_VALUE;
    if (!pages_come(base, size, !read_only)) return INVALID_VALUE;
    char *snapshot = NULL;
    if (mapping.file && read_only) {
        snapshot = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (snapshot == MAP_FAILED) return OUT_OF_MEMORY;
        memcpy(snapshot, base, size);
    }
    struct pinned *made = pinned_new(base, size, context, 1, read_only);
    made->snapshot = snapshot;
    return SUCCESS;
}

EXPORT CUresult cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
    CALLED(AT_ONCE);
    REQUIRE(memory && size && !(flags & ~15u), INVALID_VALUE);
    char *base = memory;
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    for (struct pinned *p = pinned_memory; !result && p; p = p->next)
        if (!p->freed && p->base < base + size && base < p->base + p->size) result = ALREADY_REGISTERED;
    if (!result && (flags & READ_ONLY) && !property("read_only_register", 1)) result = NOT_SUPPORTED;
    if (!result && too_much(size)) result = OUT_OF_MEMORY;
    if (!result) result = register_pages(context, base, size, flags);
    UNLOCK();
    return result;
}

EXPORT CUresult cuMemHostUnregister(void *memory) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) {
        struct pinned *pinned = pinned_at(memory);
        if (!pinned || pinned->base != memory || !pinned->registered) {
            complain("%s: nothing is registered at %p", __func__, memory);
            result = NOT_REGISTERED;
        } else {
            result = pinned_end(pinned, __func__);
        }
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuMemHostGetFlags(unsigned *flags, void *memory) {
    CALLED(AT_ONCE);
    LOCK();
    struct pinned *pinned = pinned_at(memory);
    UNLOCK();
    REQUIRE(flags && pinned, INVALID_VALUE);
    *flags = PORTABLE | DEVICE_MAP;
    return SUCCESS;
}

/* What the application has not freed stays mapped: it may still poll a word there, and only a test resets. */
void host_reset(void) {
    while (pinned_memory) {
        pinned_memory->registered = 1;
        pinned_free(pinned_memory);
    }
}
