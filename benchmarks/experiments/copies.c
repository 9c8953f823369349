// SPDX-License-Identifier: Apache-2.0
// How long the link to a GPU is idle between two copies of pinned memory: by the size of a copy, one stream or two, and an event
// behind each copy or behind several.
//   gcc -O2 -I/usr/local/cuda/include -o copies benchmarks/experiments/copies.c -L/usr/local/cuda/lib64/stubs -lcuda && ./copies
// Three rounds of 8 GiB for each; the first is not printed. GB/s.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BUFFERS = 24, MOST_MIB = 4, ROUNDS = 3 };
static const size_t TOTAL = 8ULL << 30;

static void check(const char *call, CUresult result) {
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s -> %d\n", call, result);
        exit(1);
    }
}
#define CHECK(call) check(#call, call)

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static CUdeviceptr target;
static char *buffers;
static CUstream streams[2];
static CUevent events[BUFFERS];

// Copies all, with BUFFERS copies in flight; an event stands for its copy and those before it that have none.
static double copy_all(size_t bytes, size_t streams_used, size_t copies_for_event) {
    size_t count = TOTAL / bytes;
    double begin = now();
    for (size_t i = 0; i < count; i++) {
        if (i >= BUFFERS) { // the copy that used this buffer before
            size_t before = i - BUFFERS;
            size_t event = before / copies_for_event * copies_for_event + copies_for_event - 1;
            while (cuEventQuery(events[event % BUFFERS]) == CUDA_ERROR_NOT_READY) {
            }
        }
        CUstream stream = streams[i % streams_used];
        CHECK(cuMemcpyHtoDAsync(target + i * bytes, buffers + i % BUFFERS * bytes, bytes, stream));
        if (i % copies_for_event == copies_for_event - 1 || i == count - 1) {
            CHECK(cuEventRecord(events[i % BUFFERS], stream));
        }
    }
    CHECK(cuCtxSynchronize());
    return (double)TOTAL / (now() - begin) / 1e9;
}

int main(void) {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&target, TOTAL));
    CHECK(cuMemHostAlloc((void **)&buffers, (size_t)BUFFERS * MOST_MIB << 20, CU_MEMHOSTALLOC_PORTABLE));
    for (int i = 0; i < 2; i++) CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < BUFFERS; i++) CHECK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t mib = 1; mib <= MOST_MIB; mib *= 2) {
            for (size_t copies = 1; copies <= 8; copies *= 2) {
                double rate = copy_all(mib << 20, 1, copies);
                if (round > 0) printf("copies of %zu MiB in one stream, an event for %zu: %.1f\n", mib, copies, rate);
            }
            double rate = copy_all(mib << 20, 2, 1);
            if (round > 0) printf("copies of %zu MiB in two streams: %.1f\n", mib, rate);
        }
    }
    return 0;
}
