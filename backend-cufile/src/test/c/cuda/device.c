// SPDX-License-Identifier: Apache-2.0
/* Initialization and devices. What they answer is what an H200 answered, but for names and sizes. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"

static int initialized;

static int driver_initialized(void) {
    return __atomic_load_n(&initialized, __ATOMIC_ACQUIRE);
}

int device_count(void) {
    long count = property("device_count", 1);
    return count > DEVICES ? DEVICES : (int)count;
}

CUresult need_init(void) {
    REQUIRE(driver_initialized(), NOT_INITIALIZED);
    return (CUresult)property("device_lost", SUCCESS);
}

static CUresult need_device(CUdevice device) {
    CUresult result = need_init();
    if (result) return result;
    return device >= 0 && device < device_count() ? SUCCESS : INVALID_DEVICE;
}

EXPORT CUresult cuInit(unsigned flags) {
    CALLED(AT_ONCE);
    REQUIRE(!flags, INVALID_VALUE);
    REQUIRE(device_count() > 0, NO_DEVICE);
    __atomic_store_n(&initialized, 1, __ATOMIC_RELEASE);
    return SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
    CALLED(AT_ONCE);
    REQUIRE(version, INVALID_VALUE);
    *version = (int)property("driver_version", 13000);
    return SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(count, INVALID_VALUE);
    *count = device_count();
    return SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    CALLED(AT_ONCE);
    CUresult result = need_device(ordinal);
    if (result) return result;
    REQUIRE(device, INVALID_VALUE);
    *device = ordinal;
    return SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_device(device);
    if (result) return result;
    REQUIRE(name && length > 0, INVALID_VALUE);
    snprintf(name, (size_t)length, "Double of an NVIDIA GPU");
    return SUCCESS;
}

void device_uuid(int device, char *uuid) {
    memcpy(uuid, "penstock fakes", 15);
    uuid[15] = (char)device;
}

EXPORT CUresult cuDeviceGetUuid_v2(char *uuid, CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_device(device);
    if (result) return result;
    REQUIRE(uuid, INVALID_VALUE);
    device_uuid(device, uuid);
    return SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid(char *uuid, CUdevice device) {
    return cuDeviceGetUuid_v2(uuid, device);
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_device(device);
    if (result) return result;
    REQUIRE(bytes, INVALID_VALUE);
    *bytes = (size_t)property("total_mem", 4L << 30);
    return SUCCESS;
}

static long attribute_of(int attribute, CUdevice device) {
    switch (attribute) {
        case 1: return 1024;                             /* MAX_THREADS_PER_BLOCK */
        case 10: return 32;                              /* WARP_SIZE */
        case 16: return 132;                             /* MULTIPROCESSOR_COUNT */
        case 18: return 0;                               /* INTEGRATED */
        case 19: return 1;                               /* CAN_MAP_HOST_MEMORY */
        case 20: return 0;                               /* COMPUTE_MODE */
        case 31: return 1;                               /* CONCURRENT_KERNELS */
        case 33: return 0x1b + device;                   /* PCI_BUS_ID */
        case 34: return 0;                               /* PCI_DEVICE_ID */
        case 35: return 0;                               /* TCC_DRIVER */
        case 40: return 3;                               /* ASYNC_ENGINE_COUNT */
        case 41: return 1;                               /* UNIFIED_ADDRESSING */
        case 50: return 0;                               /* PCI_DOMAIN_ID */
        case 75: return property("compute_major", 9);    /* COMPUTE_CAPABILITY_MAJOR */
        case 76: return property("compute_minor", 0);    /* COMPUTE_CAPABILITY_MINOR */
        case 78: return 1;                               /* STREAM_PRIORITIES_SUPPORTED */
        case 83: return 1;                               /* MANAGED_MEMORY */
        case 88: return 0;                               /* PAGEABLE_MEMORY_ACCESS */
        case 91: return 1;                               /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
        case 99: return 1;                               /* HOST_REGISTER_SUPPORTED */
        case 100: return 0;                              /* PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES */
        case 102: return 1;                              /* VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
        case 113: return property("read_only_register", 1);
        case 115: return 1;                              /* MEMORY_POOLS_SUPPORTED */
        case 116: return property("gpu_direct_rdma", 1); /* GPU_DIRECT_RDMA_SUPPORTED */
        case 117: return 3;                              /* GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */
        case 118: return 100;                            /* GPU_DIRECT_RDMA_WRITES_ORDERING: owner */
        case 122: return 1;                              /* CAN_USE_64_BIT_STREAM_MEM_OPS */
        case 123: return 1;                              /* CAN_USE_STREAM_WAIT_VALUE_NOR */
        case 124: return property("dma_buf", 1);         /* DMA_BUF_SUPPORTED */
        default: return 0;
    }
}

EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_device(device);
    if (result) return result;
    REQUIRE(value && attribute > 0 && attribute < 160, INVALID_VALUE);
    char name[32];
    snprintf(name, sizeof name, "attribute.%d", attribute);
    *value = (int)property(name, attribute_of(attribute, device));
    return SUCCESS;
}

EXPORT CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_device(device);
    if (result) return result;
    REQUIRE(id && length >= 13, INVALID_VALUE);
    snprintf(id, (size_t)length, "0000:%02X:00.0", 0x1b + device);
    return SUCCESS;
}

/* The property "no_peers" is 1 where the devices do not reach each other. */
EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    CALLED(AT_ONCE);
    CUresult result = need_device(device);
    if (!result) result = need_device(peer);
    if (result) return result;
    REQUIRE(can, INVALID_VALUE);
    *can = device != peer && !property("no_peers", 0);
    return SUCCESS;
}
