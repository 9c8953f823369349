// SPDX-License-Identifier: Apache-2.0
/* What a pointer is. */
#include <string.h>

#include "cuda.h"

enum {
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_MEMORY_TYPE = 2,
    ATTRIBUTE_DEVICE_POINTER = 3,
    ATTRIBUTE_HOST_POINTER = 4,
    ATTRIBUTE_SYNC_MEMOPS = 6,
    ATTRIBUTE_BUFFER_ID = 7,
    ATTRIBUTE_IS_MANAGED = 8,
    ATTRIBUTE_DEVICE_ORDINAL = 9,
    ATTRIBUTE_IS_LEGACY_IPC_CAPABLE = 10,
    ATTRIBUTE_RANGE_START = 11,
    ATTRIBUTE_RANGE_SIZE = 12,
    ATTRIBUTE_MAPPED = 13,
    ATTRIBUTE_RDMA_CAPABLE = 15,
};

struct pointer {
    uint64_t address, base;
    size_t size;
    int device_memory;
    unsigned long id;
    struct context *context;
};

static int whole(int *data, int value) {
    *data = value;
    return 1;
}

static int wide(uint64_t *data, uint64_t value) {
    *data = value;
    return 1;
}

/* False for an attribute that such a pointer does not have. */
static int tell(const struct pointer *pointer, int attribute, void *data) {
    switch (attribute) {
        case ATTRIBUTE_CONTEXT: return wide(data, (uint64_t)(uintptr_t)pointer->context->handle);
        case ATTRIBUTE_MEMORY_TYPE: return whole(data, pointer->device_memory ? 2 : 1);
        case ATTRIBUTE_DEVICE_POINTER: return wide(data, pointer->address);
        case ATTRIBUTE_HOST_POINTER: return !pointer->device_memory && wide(data, pointer->address);
        case ATTRIBUTE_SYNC_MEMOPS: return whole(data, 0);
        case ATTRIBUTE_BUFFER_ID: return wide(data, pointer->id);
        case ATTRIBUTE_IS_MANAGED: return whole(data, 0);
        case ATTRIBUTE_DEVICE_ORDINAL: return whole(data, pointer->context->device);
        case ATTRIBUTE_IS_LEGACY_IPC_CAPABLE: return whole(data, pointer->device_memory);
        case ATTRIBUTE_RANGE_START: return wide(data, pointer->base);
        case ATTRIBUTE_RANGE_SIZE: return wide(data, pointer->size);
        case ATTRIBUTE_MAPPED: return whole(data, 1);
        case ATTRIBUTE_RDMA_CAPABLE: return whole(data, pointer->device_memory && property("gpu_direct_rdma", 1));
        default: return 0;
    }
}

static int look_up(uint64_t address, struct pointer *pointer) {
    struct allocation *allocation = allocation_at(address);
    if (allocation && !allocation->freed) {
        *pointer = (struct pointer){address, allocation->base, allocation->size, 1, allocation->id, allocation->context};
        return 1;
    }
    struct pinned *pinned = pinned_at((char *)(uintptr_t)address);
    if (!pinned) return 0;
    *pointer = (struct pointer){address, (uint64_t)(uintptr_t)pinned->base, pinned->size, 0, 0, pinned->context};
    return 1;
}

EXPORT CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr address) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(data, INVALID_VALUE);
    struct pointer pointer;
    LOCK();
    int told = look_up(address, &pointer) && tell(&pointer, attribute, data);
    UNLOCK();
    return told ? SUCCESS : INVALID_VALUE;
}

/* Unlike the single form this succeeds for any pointer, and answers nothing where there is nothing. */
EXPORT CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **data, CUdeviceptr address) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(count && attributes && data, INVALID_VALUE);
    struct pointer pointer;
    LOCK();
    int known = look_up(address, &pointer);
    for (unsigned i = 0; i < count; i++)
        if (!known || !tell(&pointer, attributes[i], data[i])) memset(data[i], 0, sizeof(int));
    UNLOCK();
    return SUCCESS;
}

EXPORT CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr address) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    struct pointer pointer;
    LOCK();
    int known = look_up(address, &pointer);
    UNLOCK();
    return value && known && attribute == ATTRIBUTE_SYNC_MEMOPS ? SUCCESS : INVALID_VALUE;
}
