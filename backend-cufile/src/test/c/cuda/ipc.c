// SPDX-License-Identifier: Apache-2.0
/*
 * Device memory of other processes, after the driver API's manual, "cuIpc...". A handle names the file behind the
 * exporter's memory, which the importer maps at the place of the bytes in its own shadow. Word id of the records behind
 * that memory is the id of a live allocation; each importer holds a lock on a byte of it, which ends with the process.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda.h"

enum { PAGE = 4096, WORDS = IPC_RECORDS / 8, LARGE = 2 << 20, LAZY_ENABLE_PEER_ACCESS = 1 };

/* A CUipcMemHandle: 64 bytes. */
struct handle {
    char magic[8];
    int process, file;
    int device, reserved;
    uint64_t id, offset, size;
    char rest[16];
};
_Static_assert(sizeof(struct handle) == 64, "CUipcMemHandle");

static const char MAGIC[8] = "fakeIPC";

struct import {
    struct handle handle;
    struct context *context;
    struct allocation *allocation;
    int file; /* the exporter's, with a lock on its word */
    int opened;
    struct import *next;
};

static struct import *imports;

static off_t word(uint64_t id) {
    return ((off_t)1 << ARENA_BITS) + (off_t)(id % WORDS * 8);
}

static struct flock lock_of(uint64_t id, short type) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = word(id), .l_len = 1};
}

static void record(int device, uint64_t id, uint64_t value) {
    if (pwrite(arenas[device].memory, &value, sizeof value, word(id)) != sizeof value) abort();
}

/* "Calling cuMemFree on an exported memory region before calling cuIpcCloseMemHandle in the importing context will
 * result in undefined behavior." */
void ipc_freed(const struct allocation *allocation) {
    if (!allocation->exported) return;
    int device = device_of_address(allocation->base);
    record(device, allocation->id, 0);
    struct flock lock = lock_of(allocation->id, F_WRLCK);
    if (!fcntl(arenas[device].memory, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK)
        complain("cuMemFree: another process has the memory open");
}

static off_t first_page(const struct allocation *allocation) {
    return (off_t)(allocation->base / PAGE * PAGE) - (off_t)(uintptr_t)arenas[device_of_address(allocation->base)].addresses;
}

static size_t page_bytes(uint64_t offset, uint64_t size) {
    return (offset % PAGE + size + PAGE - 1) / PAGE * PAGE;
}

/* Puts pages of a file into the shadow of an allocation. */
static int map(const struct allocation *at, size_t bytes, int file, off_t from) {
    struct arena *arena = &arenas[device_of_address(at->base)];
    return mmap(arena->shadow + first_page(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file,
                from) != MAP_FAILED;
}

void ipc_unmap(struct allocation *allocation) {
    struct import *import = allocation->import, **link = &imports;
    size_t bytes = page_bytes(import->handle.offset, import->handle.size);
    if (!map(allocation, bytes, arenas[device_of_address(allocation->base)].memory, first_page(allocation))) abort();
    while (*link != import) link = &(*link)->next;
    *link = import->next;
    close(import->file);
    free(import);
}

EXPORT CUresult cuIpcGetMemHandle(struct handle *handle, CUdeviceptr address) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    struct allocation *allocation = allocation_at(address);
    if (!result && (!handle || !allocation || allocation->freed || allocation->base != address || allocation->import
                    || property("no_ipc", 0)))
        result = INVALID_VALUE;
    if (!result) {
        int device = device_of_address(address);
        *handle = (struct handle){.process = getpid(), .file = arenas[device].memory, .device = device};
        memcpy(handle->magic, MAGIC, sizeof MAGIC);
        handle->id = allocation->id;
        handle->offset = address - (uint64_t)(uintptr_t)arenas[device].addresses;
        handle->size = allocation->size;
        allocation->exported = 1;
        record(device, allocation->id, allocation->id);
    }
    UNLOCK();
    return result;
}

/* Opens the exporter's file, and locks the allocation's word. -1 if the process has ended or the memory was freed. */
static int open_exported(const struct handle *handle) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->process, handle->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return -1;
    struct flock lock = lock_of(handle->id, F_RDLCK);
    uint64_t id = 0;
    if (fcntl(file, F_OFD_SETLK, &lock) || pread(file, &id, sizeof id, word(handle->id)) != sizeof id || id != handle->id) {
        close(file);
        return -1;
    }
    return file;
}

static CUresult import(const struct handle *handle, struct context *context, struct allocation **made) {
    int file = open_exported(handle);
    if (file < 0) return INVALID_HANDLE;
    size_t bytes = page_bytes(handle->offset, handle->size);
    struct allocation *placed = place(handle->device, bytes < LARGE ? LARGE : bytes);
    if (!placed) {
        close(file);
        return OUT_OF_MEMORY;
    }
    if (!map(placed, bytes, file, (off_t)(handle->offset / PAGE * PAGE))) abort();
    struct import *kept = malloc(sizeof *kept);
    if (!kept) abort();
    *kept = (struct import){*handle, context, placed, file, 0, imports};
    imports = kept;
    placed->base += handle->offset % PAGE;
    placed->size = bytes - handle->offset % PAGE; /* nothing else is placed on its last page */
    placed->context = context;
    placed->import = kept;
    live("imports", 1);
    *made = placed;
    return SUCCESS;
}

/* The allocation that has this handle open, or null. */
static struct allocation *opened(const struct handle *handle) {
    for (struct import *import = imports; import; import = import->next)
        if (import->handle.process == handle->process && import->handle.device == handle->device
            && import->handle.id == handle->id)
            return import->allocation;
    return NULL;
}

EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, struct handle handle, unsigned flags) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result && (!address || flags != LAZY_ENABLE_PEER_ACCESS)) result = INVALID_VALUE;
    if (!result && memcmp(handle.magic, MAGIC, sizeof MAGIC)) result = INVALID_HANDLE;
    if (!result && handle.process == getpid()) result = INVALID_CONTEXT;
    /* "may only be opened by one CUcontext per CUdevice per other process" */
    for (struct import *other = imports; !result && other; other = other->next)
        if (other->handle.process == handle.process && other->handle.device == handle.device
            && other->context->device == context->device && other->context != context)
            result = INVALID_CONTEXT;
    if (!result && handle.device != context->device && property("no_peers", 0)) result = NOT_MAPPED_HERE;
    struct allocation *allocation = result ? NULL : opened(&handle);
    if (!result && !allocation) result = import(&handle, context, &allocation);
    if (!result) {
        /* "the reference count on the handle is incremented by 1 and the existing device pointer is returned" */
        allocation->import->opened++;
        *address = allocation->base;
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    struct allocation *allocation = result ? NULL : allocation_at(address);
    if (!result && (!allocation || allocation->base != address || !allocation->import || allocation->freed)) {
        complain("%s: nothing is open at %#lx", __func__, (unsigned long)address);
        result = INVALID_VALUE;
    }
    if (!result && --allocation->import->opened == 0) {
        if (allocation->using) complain("%s: %d operations use the memory", __func__, allocation->using);
        if (allocation->registered) complain("%s: the memory is registered with cuFile", __func__);
        allocation_free(allocation);
    }
    UNLOCK();
    return result;
}
