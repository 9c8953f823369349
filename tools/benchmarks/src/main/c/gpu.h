// SPDX-License-Identifier: Apache-2.0
// What the C peers share: the CUDA driver API and libcufile, loaded at run time, so that no CUDA header is needed to
// build them, and the bytes of the test file, created and checked on the GPU.
#ifndef PENSTOCK_GPU_H
#define PENSTOCK_GPU_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext, *CUstream, *CUevent, *CUmodule, *CUfunction;

enum { CUDA_SUCCESS = 0, CUDA_ERROR_NOT_READY = 600 };
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2, CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2 };

enum { MOST_DEVICES = 16 };

#define CUDA_FUNCTIONS(F) \
    F(cuInit, (unsigned flags)) \
    F(cuDeviceGet, (CUdevice *device, int ordinal)) \
    F(cuDeviceGetCount, (int *count)) \
    F(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device)) \
    F(cuCtxSetCurrent, (CUcontext context)) \
    F(cuMemAlloc_v2, (CUdeviceptr *pointer, size_t bytes)) \
    F(cuMemFree_v2, (CUdeviceptr pointer)) \
    F(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags)) \
    F(cuMemFreeHost, (void *address)) \
    F(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
    F(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream)) \
    F(cuStreamCreate, (CUstream *stream, unsigned flags)) \
    F(cuStreamSynchronize, (CUstream stream)) \
    F(cuStreamDestroy_v2, (CUstream stream)) \
    F(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags)) \
    F(cuEventCreate, (CUevent *event, unsigned flags)) \
    F(cuEventRecord, (CUevent event, CUstream stream)) \
    F(cuEventSynchronize, (CUevent event)) \
    F(cuEventQuery, (CUevent event)) \
    F(cuEventDestroy_v2, (CUevent event))

// Absent from an old driver, or from a fake: users do without them, or fail with a message.
#define CUDA_EXTRAS(F) \
    F(cuModuleLoadData, (CUmodule *module, const void *image)) \
    F(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name)) \
    F(cuLaunchKernel, (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
        unsigned shared, CUstream stream, void **parameters, void **extra)) \
    F(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags)) \
    F(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, \
        CUstream stream)) \
    F(cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags)) \
    F(cuMemHostGetDevicePointer_v2, (CUdeviceptr *pointer, void *address, unsigned flags)) \
    F(cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags)) \
    F(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags))

#define DECLARE(name, parameters) extern CUresult(*name) parameters;
CUDA_FUNCTIONS(DECLARE)
CUDA_EXTRAS(DECLARE)

typedef struct {
    int err;
    CUresult cu_err;
} CUfileError_t;
typedef void *CUfileHandle_t, *CUfileBatchHandle_t;

typedef struct {
    int type; // 1: a file descriptor of Linux
    union {
        int fd;
        void *handle;
    } handle;
    const void *fs_ops;
} CUfileDescr_t;

typedef struct {
    int mode; // 1: batch
    void *devPtr_base;
    int64_t file_offset;
    int64_t devPtr_offset;
    size_t size;
    CUfileHandle_t fh;
    int opcode; // 0: read, 1: write
    void *cookie;
} CUfileIOParams_t;

typedef struct {
    void *cookie;
    int status;
    size_t ret;
} CUfileIOEvents_t;

_Static_assert(sizeof(CUfileDescr_t) == 24, "CUfileDescr_t");
_Static_assert(sizeof(CUfileIOParams_t) == 64 && offsetof(CUfileIOParams_t, cookie) == 56, "CUfileIOParams_t");
_Static_assert(sizeof(CUfileIOEvents_t) == 24, "CUfileIOEvents_t");
enum { CUFILE_COMPLETE = 0x10 };

#define CUFILE_FUNCTIONS(F) \
    F(CUfileError_t, cuFileDriverOpen, (void)) \
    F(CUfileError_t, cuFileHandleRegister, (CUfileHandle_t *handle, CUfileDescr_t *description)) \
    F(void, cuFileHandleDeregister, (CUfileHandle_t handle)) \
    F(CUfileError_t, cuFileBufRegister, (const void *base, size_t bytes, int flags)) \
    F(ssize_t, cuFileRead, (CUfileHandle_t handle, void *base, size_t bytes, off_t at, off_t into)) \
    F(ssize_t, cuFileWrite, (CUfileHandle_t handle, const void *base, size_t bytes, off_t at, off_t from)) \
    F(CUfileError_t, cuFileBatchIOSetUp, (CUfileBatchHandle_t *batch, unsigned entries)) \
    F(CUfileError_t, cuFileBatchIOSubmit, (CUfileBatchHandle_t batch, unsigned n, CUfileIOParams_t *io, unsigned flags)) \
    F(CUfileError_t, cuFileBatchIOGetStatus, (CUfileBatchHandle_t batch, unsigned least, unsigned *n, \
        CUfileIOEvents_t *events, struct timespec *timeout)) \
    F(void, cuFileBatchIODestroy, (CUfileBatchHandle_t batch)) \
    F(CUfileError_t, cuFileStreamRegister, (CUstream stream, unsigned flags)) \
    F(CUfileError_t, cuFileStreamDeregister, (CUstream stream)) \
    F(CUfileError_t, cuFileReadAsync, (CUfileHandle_t handle, void *base, size_t *bytes, off_t *at, off_t *into, \
        ssize_t *done, CUstream stream))

#define DECLARE_CUFILE(type, name, parameters) extern type(*name) parameters;
CUFILE_FUNCTIONS(DECLARE_CUFILE)

// Reports a failure by fail_with, which must not return.
extern void (*fail_with)(const char *text);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define CUDA(call) must(#call, (call))
#define CUFILE(call) must_cufile(#call, (call))
void must(const char *call, CUresult result);
void must_cufile(const char *call, CUfileError_t result);

// Loads the driver from PENSTOCK_CUFILE_LIBCUDA or its default name and makes the primary context current.
void gpu_open(void);
// Loads libcufile from PENSTOCK_CUFILE_LIBCUFILE or its default names.
void cufile_load(void);
// Further functions of libcufile; valid once it is loaded.
void *cufile_symbol(const char *name);
// Makes the context of gpu_open current on this thread.
void gpu_enter(void);
// Makes the primary context of one of the host's GPUs current on this thread; 0 is that of gpu_open, others are ordinals.
void gpu_enter_device(int device);
// Which one gpu_enter_device has made current on this thread.
CUcontext gpu_context(int device); // of a GPU that was entered
int gpu_device(void);
// How many GPUs the host has.
int gpu_devices(void);

int64_t now_nanos(void);
// Processor time of the whole process, kernel included.
int64_t cpu_nanos(void);

// The word of the test file at a byte offset.
static inline uint64_t word(uint64_t offset) {
    uint64_t mixed = (offset + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBull;
    return mixed ^ mixed >> 31;
}

// Fills GPU memory with the contents of the test file from a base offset on.
void gpu_fill(CUdeviceptr memory, size_t bytes, uint64_t base);
// Counts the words of GPU memory that differ from the file's: from a base offset on, or block by block.
uint64_t gpu_differences(CUdeviceptr memory, size_t bytes, uint64_t base);
uint64_t gpu_gather_differences(CUdeviceptr memory, size_t blocks, size_t block_bytes, const int64_t *offsets);
// The method of the last check: "kernel" or "copy".
const char *gpu_checked_by(void);

// Pinned memory with a word of 0, and its address on the GPU.
void pinned_word(volatile uint32_t **word, CUdeviceptr *cell);
// A gate: once closed, its event is reached when it is opened.
typedef struct Gate Gate;
Gate *gate_make(void);
CUevent gate_close(Gate *gate);
CUstream gate_stream(const Gate *gate); // work enqueued behind a closed gate waits there
int64_t gate_open(Gate *gate); // returns when
void gate_free(Gate *gate);

#endif
