// SPDX-License-Identifier: Apache-2.0
/*
 * The double of libamdhip64, from AMD's documentation of the HIP runtime (7.x) and what Debian's 5.2 answered: a front of
 * hip* before the simulated GPU of backend-cufile's fakes, whose driver it links. HIP has no contexts: a thread has a
 * current device, 0 at first. No name has a version; hipAmdFileRead is not exported, and is found by hipGetProcAddress.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_FOUND = 500 };
enum { DEVICES = 16 };

typedef int result;
typedef void *handle;
typedef uint64_t address;
struct ipc {
    char reserved[64];
};

result cuInit(unsigned flags);
result cuDeviceGetCount(int *count);
result cuDeviceGet(int *device, int ordinal);
result cuDeviceGetName(char *name, int length, int device);
result cuDeviceGetPCIBusId(char *id, int length, int device);
result cuDeviceGetUuid_v2(char *uuid, int device);
result cuDeviceTotalMem_v2(size_t *bytes, int device);
result cuDeviceCanAccessPeer(int *can, int device, int peer);
result cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
result cuDevicePrimaryCtxRetain(handle *context, int device);
result cuCtxSetCurrent(handle context);
result cuCtxEnablePeerAccess(handle context, unsigned flags);
result cuMemAlloc_v2(address *pointer, size_t bytes);
result cuMemFree_v2(address pointer);
result cuMemFreeHost(void *memory);
result cuMemGetAddressRange_v2(address *base, size_t *bytes, address pointer);
result cuMemGetHandleForAddressRange(void *descriptor, address pointer, size_t bytes, int type, unsigned long long flags);
result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
result cuMemHostGetDevicePointer_v2(address *device, void *memory, unsigned flags);
result cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags);
result cuMemHostUnregister(void *memory);
result cuMemcpyAsync(address to, address from, size_t bytes, handle stream);
result cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, handle stream);
result cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, handle stream);
result cuMemcpyPeerAsync(address to, handle to_context, address from, handle from_context, size_t bytes, handle stream);
result cuMemsetD8Async(address to, unsigned char value, size_t bytes, handle stream);
result cuPointerGetAttribute(void *value, int attribute, address pointer);
result cuIpcOpenMemHandle_v2(address *pointer, struct ipc handle, unsigned flags);
result cuIpcGetMemHandle(struct ipc *handle, address pointer);
result cuIpcCloseMemHandle(address pointer);
result cuStreamCreate(handle *stream, unsigned flags);
result cuStreamDestroy_v2(handle stream);
result cuStreamGetCtx(handle stream, handle *context);
result cuStreamQuery(handle stream);
result cuStreamSynchronize(handle stream);
result cuStreamWaitEvent(handle stream, handle event, unsigned flags);
result cuStreamWriteValue32_v2(handle stream, address where, uint32_t value, unsigned flags);
result cuEventCreate(handle *event, unsigned flags);
result cuEventDestroy_v2(handle event);
result cuEventQuery(handle event);
result cuEventRecord(handle event, handle stream);
result cuEventSynchronize(handle event);
result cuModuleLoadData(handle *module, const void *image);
result cuModuleUnload(handle module);
result cuModuleGetFunction(handle *function, handle module, const char *name);
result cuLaunchKernel(handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, handle stream, void **parameters, void **extra);

static int version = 70200000;
static int file_calls = 1;
static handle contexts[DEVICES];
static __thread int current;

/* For tests: the version that is reported, and whether the calls of hipFile's fast path exist. */
EXPORT void hip_double_set(int reported, int has_file_calls) {
    version = reported;
    file_calls = has_file_calls;
}

static result use(int device, handle *context) {
    unsigned flags;
    int active = 0, count = 0;
    result answer = cuDeviceGetCount(&count);
    if (answer) return answer;
    if (device < 0 || device >= count || device >= DEVICES) return INVALID_DEVICE;
    answer = cuDevicePrimaryCtxGetState(device, &flags, &active);
    if (!answer && (!active || !contexts[device])) answer = cuDevicePrimaryCtxRetain(&contexts[device], device);
    if (context) *context = contexts[device];
    return answer;
}

/* Every call acts on the thread's device, which it starts. */
static result here(void) {
    handle context;
    result answer = use(current, &context);
    return answer ? answer : cuCtxSetCurrent(context);
}

/* For the double of hipFile, which acts on the thread's device too. */
EXPORT int hip_double_here(void) {
    return here();
}

#define HERE(call)              \
    do {                        \
        result at_ = here();    \
        return at_ ? at_ : (call); \
    } while (0)

/* Without a GPU the real 5.2.3 answers so, and hipGetDeviceCount 100. */
EXPORT result hipInit(unsigned flags) {
    if (flags) return INVALID_VALUE;
    result answer = cuInit(0);
    return answer == NO_DEVICE ? INVALID_DEVICE : answer;
}

EXPORT result hipRuntimeGetVersion(int *reported) {
    *reported = version;
    return SUCCESS;
}

EXPORT result hipGetDeviceCount(int *count) {
    result answer = cuDeviceGetCount(count);
    return answer ? NO_DEVICE : *count ? SUCCESS : NO_DEVICE;
}

EXPORT result hipGetDevice(int *device) {
    *device = current;
    return SUCCESS;
}

EXPORT result hipSetDevice(int device) {
    result answer = use(device, NULL);
    if (!answer) current = device;
    return answer;
}

EXPORT result hipDeviceGet(int *device, int ordinal) { return cuDeviceGet(device, ordinal); }
EXPORT result hipDeviceGetName(char *name, int length, int device) { return cuDeviceGetName(name, length, device); }
EXPORT result hipDeviceGetPCIBusId(char *id, int length, int device) { return cuDeviceGetPCIBusId(id, length, device); }
EXPORT result hipDeviceGetUuid(char *uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }
EXPORT result hipDeviceTotalMem(size_t *bytes, int device) { return cuDeviceTotalMem_v2(bytes, device); }
EXPORT result hipDeviceCanAccessPeer(int *can, int device, int peer) { return cuDeviceCanAccessPeer(can, device, peer); }

EXPORT result hipDeviceEnablePeerAccess(int peer, unsigned flags) {
    handle context;
    result answer = use(peer, &context);
    if (answer) return answer;
    HERE(cuCtxEnablePeerAccess(context, flags));
}

EXPORT result hipMalloc(address *pointer, size_t bytes) { HERE(cuMemAlloc_v2(pointer, bytes)); }
EXPORT result hipFree(address pointer) { HERE(cuMemFree_v2(pointer)); }
EXPORT result hipHostMalloc(void **memory, size_t bytes, unsigned flags) { HERE(cuMemHostAlloc(memory, bytes, flags & 3)); }
EXPORT result hipHostFree(void *memory) { HERE(cuMemFreeHost(memory)); }

EXPORT result hipHostGetDevicePointer(address *device, void *memory, unsigned flags) {
    HERE(cuMemHostGetDevicePointer_v2(device, memory, flags));
}

/* Flag 8, read-only, is not supported. */
EXPORT result hipHostRegister(void *memory, size_t bytes, unsigned flags) {
    if (flags & 8) return INVALID_VALUE;
    HERE(cuMemHostRegister_v2(memory, bytes, flags));
}

EXPORT result hipHostUnregister(void *memory) { HERE(cuMemHostUnregister(memory)); }

EXPORT result hipMemGetAddressRange(address *base, size_t *bytes, address pointer) {
    HERE(cuMemGetAddressRange_v2(base, bytes, pointer));
}

EXPORT result hipMemGetHandleForAddressRange(void *descriptor, address pointer, size_t bytes, int type,
                                             unsigned long long flags) {
    HERE(cuMemGetHandleForAddressRange(descriptor, pointer, bytes, type, flags));
}

EXPORT result hipMemcpyAsync(address to, address from, size_t bytes, int kind, handle stream) {
    if (kind < 0 || kind > 4) return 21;
    HERE(cuMemcpyAsync(to, from, bytes, stream));
}

EXPORT result hipMemcpyDtoHAsync(void *to, address from, size_t bytes, handle stream) {
    HERE(cuMemcpyDtoHAsync_v2(to, from, bytes, stream));
}

EXPORT result hipMemcpyHtoDAsync(address to, void *from, size_t bytes, handle stream) {
    HERE(cuMemcpyHtoDAsync_v2(to, from, bytes, stream));
}

EXPORT result hipMemcpyPeerAsync(address to, int to_device, address from, int from_device, size_t bytes, handle stream) {
    handle target, source;
    result answer = use(to_device, &target);
    if (!answer) answer = use(from_device, &source);
    if (answer) return answer;
    HERE(cuMemcpyPeerAsync(to, target, from, source, bytes, stream));
}

EXPORT result hipMemsetD8Async(address to, unsigned char value, size_t bytes, handle stream) {
    HERE(cuMemsetD8Async(to, value, bytes, stream));
}

/* hipMemoryTypeDevice is 2 from HIP 6 on, and 1 before; of the host 1, and 0. */
EXPORT result hipPointerGetAttribute(void *value, int attribute, address pointer) {
    result answer = here();
    if (!answer) answer = cuPointerGetAttribute(value, attribute, pointer);
    if (!answer && attribute == 2 && version < 60000000) *(int *)value = *(int *)value == 2 ? 1 : 0;
    return answer;
}

EXPORT result hipIpcOpenMemHandle(address *pointer, struct ipc handle, unsigned flags) {
    HERE(cuIpcOpenMemHandle_v2(pointer, handle, flags));
}

EXPORT result hipIpcGetMemHandle(struct ipc *handle, address pointer) { HERE(cuIpcGetMemHandle(handle, pointer)); }
EXPORT result hipIpcCloseMemHandle(address pointer) { HERE(cuIpcCloseMemHandle(pointer)); }
EXPORT result hipStreamCreateWithFlags(handle *stream, unsigned flags) { HERE(cuStreamCreate(stream, flags)); }
EXPORT result hipStreamDestroy(handle stream) { HERE(cuStreamDestroy_v2(stream)); }

EXPORT result hipStreamGetDevice(handle stream, int *device) {
    handle context;
    result answer = here();
    if (!answer) answer = cuStreamGetCtx(stream, &context);
    for (int at = 0; !answer && at < DEVICES; at++)
        if (contexts[at] == context) *device = at;
    return answer;
}

EXPORT result hipStreamQuery(handle stream) { HERE(cuStreamQuery(stream)); }
EXPORT result hipStreamSynchronize(handle stream) { HERE(cuStreamSynchronize(stream)); }

EXPORT result hipStreamWaitEvent(handle stream, handle event, unsigned flags) {
    HERE(cuStreamWaitEvent(stream, event, flags));
}

EXPORT result hipStreamWriteValue32(handle stream, address where, uint32_t value, unsigned flags) {
    HERE(cuStreamWriteValue32_v2(stream, where, value, flags));
}

EXPORT result hipEventCreateWithFlags(handle *event, unsigned flags) { HERE(cuEventCreate(event, flags)); }
EXPORT result hipEventDestroy(handle event) { HERE(cuEventDestroy_v2(event)); }
EXPORT result hipEventQuery(handle event) { HERE(cuEventQuery(event)); }
EXPORT result hipEventRecord(handle event, handle stream) { HERE(cuEventRecord(event, stream)); }
EXPORT result hipEventSynchronize(handle event) { HERE(cuEventSynchronize(event)); }

EXPORT result hipModuleLoadData(handle *module, const void *image) { HERE(cuModuleLoadData(module, image)); }
EXPORT result hipModuleUnload(handle module) { HERE(cuModuleUnload(module)); }

EXPORT result hipModuleGetFunction(handle *function, handle module, const char *name) {
    HERE(cuModuleGetFunction(function, module, name));
}

EXPORT result hipModuleLaunchKernel(handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                    unsigned bz, unsigned shared, handle stream, void **parameters, void **extra) {
    HERE(cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra));
}

EXPORT const char *hipGetErrorName(result of) {
    return of == 0 ? "hipSuccess" : of == 2 ? "hipErrorOutOfMemory" : "hipErrorUnknown";
}

static result amd_file_read(void) {
    return NOT_FOUND;
}

EXPORT result hipGetProcAddress(const char *name, void **function, int of_version, uint64_t flags, int *status) {
    (void)of_version, (void)flags;
    int known = file_calls && (!strcmp(name, "hipAmdFileRead") || !strcmp(name, "hipAmdFileWrite"));
    *function = known ? (void *)(uintptr_t)amd_file_read : NULL;
    if (status) *status = known ? 0 : 1;
    return known ? SUCCESS : INVALID_VALUE;
}
