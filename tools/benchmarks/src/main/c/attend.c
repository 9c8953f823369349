// SPDX-License-Identifier: Apache-2.0
// The functions that the Java side of the benchmarks calls: the peers' check of GPU memory.
#include "gpu.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static __thread char failure[400];
static __thread jmp_buf before;

static void give_up(const char *text) {
    snprintf(failure, sizeof failure, "%s", text);
    longjmp(before, 1);
}

#define ATTEMPT(work) \
    failure[0] = 0; \
    fail_with = give_up; \
    if (setjmp(before) == 0) { \
        work; \
    }

// The error of the last call of this thread; empty if it succeeded.
const char *attend_failure(void) {
    return failure;
}

// Processor time of the process: the JVM itself counts it in clock ticks.
int64_t attend_cpu_nanos(void) {
    return cpu_nanos();
}

void attend_open(void) {
    ATTEMPT(gpu_open())
}

int attend_devices(void) {
    volatile int count = 0;
    ATTEMPT(count = gpu_devices())
    return count;
}

void attend_fill(int device, CUdeviceptr memory, size_t bytes, uint64_t base) {
    ATTEMPT(gpu_enter_device(device); gpu_fill(memory, bytes, base))
}

uint64_t attend_differences(int device, CUdeviceptr memory, size_t bytes, uint64_t base) {
    volatile uint64_t bad = 0;
    ATTEMPT(gpu_enter_device(device); bad = gpu_differences(memory, bytes, base))
    return bad;
}

uint64_t attend_gather_differences(CUdeviceptr memory, size_t blocks, size_t block_bytes, const int64_t *offsets) {
    volatile uint64_t bad = 0;
    ATTEMPT(gpu_enter(); bad = gpu_gather_differences(memory, blocks, block_bytes, offsets))
    return bad;
}

Gate *attend_gate(void) {
    Gate *volatile gate = NULL;
    ATTEMPT(gpu_enter(); gate = gate_make())
    return gate;
}

CUevent attend_gate_close(Gate *gate) {
    volatile CUevent event = NULL;
    ATTEMPT(gpu_enter(); event = gate_close(gate))
    return event;
}

CUstream attend_gate_stream(Gate *gate) {
    failure[0] = 0;
    return gate_stream(gate);
}

int64_t attend_gate_open(Gate *gate) {
    failure[0] = 0;
    return gate_open(gate);
}

void attend_gate_free(Gate *gate) {
    ATTEMPT(gpu_enter(); gate_free(gate))
}
