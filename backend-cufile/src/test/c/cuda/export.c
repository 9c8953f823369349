// SPDX-License-Identifier: Apache-2.0
/*
 * Device memory for other devices: a descriptor of a range. As on the real thing the CPU cannot map it at the range's
 * bytes by itself; a test that plays the other device's driver reads and writes the open file, whose position is where
 * the range starts.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda.h"

enum { DMA_BUF_FD = 1, PAGE = 4096 };

struct export {
    uint64_t base; /* of the allocation */
    int fd;
    dev_t device;
    ino_t inode;
    struct export *next;
};

static struct export *exports;

static int still_open(const struct export *export) {
    struct stat now;
    return !fstat(export->fd, &now) && now.st_dev == export->device && now.st_ino == export->inode;
}

static void forget(struct export **link) {
    struct export *gone = *link;
    *link = gone->next;
    free(gone);
}

/* A peer that holds the descriptor would go on writing into memory that has another owner by then. */
void exports_check(const struct allocation *allocation) {
    struct export **link = &exports;
    while (*link) {
        if ((*link)->base != allocation->base) {
            link = &(*link)->next;
            continue;
        }
        if (still_open(*link)) complain("cuMemFree: the memory is exported as descriptor %d", (*link)->fd);
        forget(link);
    }
}

void exports_reset(void) {
    while (exports) forget(&exports);
}

static int open_at(int device, off_t offset) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", arenas[device].memory);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) lseek(fd, offset, SEEK_SET);
    return fd;
}

static CUresult export(int *handle, uint64_t address, size_t size) {
    struct span span;
    if (device_of_address(address) < 0 || !resolve(address, size, &span)) return INVALID_VALUE;
    int device = device_of_address(address);
    int fd = open_at(device, (off_t)(address - (uint64_t)(uintptr_t)arenas[device].addresses));
    struct stat made;
    if (fd < 0 || fstat(fd, &made)) return OUT_OF_MEMORY;
    /* The number of a descriptor that was closed meanwhile is this one's now. */
    for (struct export **link = &exports; *link;) {
        if ((*link)->fd == fd) forget(link);
        else link = &(*link)->next;
    }
    struct export *kept = calloc(1, sizeof *kept);
    if (!kept) abort();
    *kept = (struct export){span.allocation->base, fd, made.st_dev, made.st_ino, exports};
    exports = kept;
    *handle = fd;
    return SUCCESS;
}

/* CUmemAllocationProp: 32 bytes. */
struct properties {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *win32;
    struct {
        unsigned char compression, rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
_Static_assert(sizeof(struct properties) == 32, "CUmemAllocationProp");

/* The reference, 6.14: PINNED memory of a device, with no bit set that means nothing. */
EXPORT CUresult cuMemGetAllocationGranularity(size_t *bytes, const struct properties *properties, int which) {
    enum { PINNED = 1, DEVICE = 1, RECOMMENDED = 1 };
    CALLED(AT_ONCE);
    REQUIRE(bytes && properties && which >= 0 && which <= RECOMMENDED, INVALID_VALUE);
    REQUIRE(properties->type == PINNED && properties->location.type == DEVICE, INVALID_VALUE);
    REQUIRE(properties->flags.rdma_capable <= 1 && !properties->flags.compression, INVALID_VALUE);
    REQUIRE(properties->location.id >= 0 && properties->location.id < (int)property("device_count", 1), INVALID_DEVICE);
    *bytes = (size_t)property("allocation_granularity", 2 << 20);
    return SUCCESS;
}

EXPORT CUresult cuMemGetHandleForAddressRange(
        void *handle, CUdeviceptr address, size_t size, int type, unsigned long long flags) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result && !property("dma_buf", 1)) result = NOT_SUPPORTED;
    if (!result && (!handle || !size || type != DMA_BUF_FD || flags > 1 || address % PAGE || size % PAGE))
        result = INVALID_VALUE;
    if (!result) result = export(handle, address, size);
    UNLOCK();
    return result;
}
