// SPDX-License-Identifier: Apache-2.0
// The paths without libcufile.
#include "peers.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_BUFFERS = 16, LINK_BYTES = 256 << 20 };

Outcome host_to_device(const Order *order) {
    static char *pinned;
    size_t segment = order->bytes < LINK_BYTES ? order->bytes : LINK_BYTES;
    CUstream streams[MOST_DEVICES];
    if (!pinned) {
        CUDA(cuMemHostAlloc((void **)&pinned, segment, CU_MEMHOSTALLOC_PORTABLE));
        memset(pinned, 0, segment);
    }
    for (int device = 0; device < order->devices; device++) {
        gpu_enter_device(device);
        CUDA(cuStreamCreate(&streams[device], CU_STREAM_NON_BLOCKING));
    }
    int64_t cpu = cpu_nanos(), start = now_nanos();
    size_t done = 0;
    for (; done + segment <= order->bytes; done += segment) {
        for (int device = 0; device < order->devices; device++) {
            gpu_enter_device(device);
            CUDA(cuMemcpyHtoDAsync_v2(order->memories[device] + done, pinned, segment, streams[device]));
        }
    }
    for (int device = 0; device < order->devices; device++) {
        CUDA(cuStreamSynchronize(streams[device]));
    }
    Outcome outcome = {done * (size_t)order->devices, now_nanos() - start, 0, 0};
    outcome.cpu_nanos = cpu_nanos() - cpu;
    for (int device = 0; device < order->devices; device++) {
        CUDA(cuStreamDestroy_v2(streams[device]));
    }
    gpu_enter();
    return outcome;
}

Outcome device_to_device(const Order *order) {
    if (order->devices != 2 || !cuMemcpyPeerAsync || !cuCtxEnablePeerAccess) {
        fail("a copy between GPUs needs two of them, and a driver that copies");
    }
    gpu_enter_device(0);
    CUcontext from = gpu_context(0);
    gpu_enter_device(1);
    cuCtxEnablePeerAccess(from, 0); // may be enabled already
    CUstream stream;
    CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    int64_t cpu = cpu_nanos(), start = now_nanos();
    CUDA(cuMemcpyPeerAsync(order->memories[1], gpu_context(1), order->memories[0], from, order->bytes, stream));
    CUDA(cuStreamSynchronize(stream));
    Outcome outcome = {order->bytes, now_nanos() - start, 0, 0};
    outcome.cpu_nanos = cpu_nanos() - cpu;
    CUDA(cuStreamDestroy_v2(stream));
    gpu_enter();
    return outcome;
}

static void read_whole(int fd, char *into, size_t bytes, size_t at) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, into + done, bytes - done, (off_t)(at + done));
        if (got <= 0) {
            fail("pread of %zu bytes at %zu: %zd, %m", bytes, at, got);
        }
        done += (size_t)got;
    }
}

static void loop(Worker *worker) {
    const Order *order = worker->order;
    int fd = file_of(order->hot, order->direct, 0);
    CUstream stream;
    CUevent copied[MOST_BUFFERS];
    char *stagingBuffers;
    size_t at, bytes;
    CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUDA(cuMemHostAlloc((void **)&stagingBuffers, order->chunk * (size_t)order->stagingBuffers, 0));
    memset(stagingBuffers, 0, order->chunk * (size_t)order->stagingBuffers);
    for (int staging = 0; staging < order->stagingBuffers; staging++) {
        CUDA(cuEventCreate(&copied[staging], CU_EVENT_DISABLE_TIMING));
    }
    gang_begin(worker);
    for (int staging = 0; (bytes = next_part(worker, &at)) != 0; staging = (staging + 1) % order->stagingBuffers) {
        char *memory = stagingBuffers + order->chunk * (size_t)staging;
        CUDA(cuEventSynchronize(copied[staging]));
        read_whole(fd, memory, bytes, at);
        CUDA(cuMemcpyHtoDAsync_v2(order->memories[worker->device] + at, memory, bytes, stream));
        if (order->stagingBuffers == 1) {
            CUDA(cuStreamSynchronize(stream)); // the usual loop
        } else {
            CUDA(cuEventRecord(copied[staging], stream));
        }
    }
    CUDA(cuStreamSynchronize(stream));
    gang_end(worker);
    for (int staging = 0; staging < order->stagingBuffers; staging++) {
        CUDA(cuEventDestroy_v2(copied[staging]));
    }
    CUDA(cuMemFreeHost(stagingBuffers));
    CUDA(cuStreamDestroy_v2(stream));
}

Outcome pinned_loop(const Order *order) {
    file_of(order->hot, order->direct, 0); // opened by one thread
    return gang_run(order, loop, order->bytes * (size_t)order->devices);
}

static void disk(Worker *worker) {
    const Order *order = worker->order;
    int fd = file_of(order->write ? order->written : order->hot, 1, order->write);
    size_t at, bytes;
    char *memory = mmap(NULL, order->chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        fail("mmap: %m");
    }
    gang_begin(worker);
    while ((bytes = next_part(worker, &at)) != 0) {
        if (!order->write) {
            read_whole(fd, memory, bytes, at);
            continue;
        }
        // Checking one word of each block is enough.
        for (size_t i = 0; i < bytes; i += 4096) {
            *(uint64_t *)(memory + i) = word(order->base + at + i);
        }
        if (pwrite(fd, memory, bytes, (off_t)at) != (ssize_t)bytes) {
            fail("pwrite of %zu bytes at %zu: %m", bytes, at);
        }
    }
    gang_end(worker);
    munmap(memory, order->chunk);
}

Outcome raw_disk(const Order *order) {
    file_of(order->write ? order->written : order->hot, 1, order->write);
    return gang_run(order, disk, order->bytes);
}
