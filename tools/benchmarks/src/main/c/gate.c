// SPDX-License-Identifier: Apache-2.0
// A stream gated by the processor: work enqueued behind the gate completes at a known time.
#include "gpu.h"

#include <stdlib.h>

struct Gate {
    CUstream stream;
    CUevent event;
    volatile uint32_t *word; // the word that the stream waits for
    CUdeviceptr cell;        // its address on the GPU
    uint32_t turn;
};

void pinned_word(volatile uint32_t **word, CUdeviceptr *cell) {
    enum { PAGE = 4096 };
    if (!cuMemHostGetDevicePointer_v2 || !cuStreamWaitValue32_v2 || !cuStreamWriteValue32_v2) {
        fail("this driver's streams neither wait for words nor write them");
    }
    CUDA(cuMemHostAlloc((void **)word, PAGE, CU_MEMHOSTALLOC_DEVICEMAP));
    CUDA(cuMemHostGetDevicePointer_v2(cell, (void *)*word, 0));
    **word = 0;
}

Gate *gate_make(void) {
    Gate *gate = calloc(1, sizeof *gate);
    pinned_word(&gate->word, &gate->cell);
    CUDA(cuStreamCreate(&gate->stream, CU_STREAM_NON_BLOCKING));
    CUDA(cuEventCreate(&gate->event, CU_EVENT_DISABLE_TIMING));
    return gate;
}

CUevent gate_close(Gate *gate) {
    gate->turn++;
    CUDA(cuStreamWaitValue32_v2(gate->stream, gate->cell, gate->turn, 0)); // until it is at least this value
    CUDA(cuEventRecord(gate->event, gate->stream));
    return gate->event;
}

CUstream gate_stream(const Gate *gate) {
    return gate->stream;
}

int64_t gate_open(Gate *gate) {
    int64_t now = now_nanos();
    __atomic_store_n(gate->word, gate->turn, __ATOMIC_RELEASE);
    return now;
}

void gate_free(Gate *gate) {
    gate_open(gate);
    CUDA(cuStreamSynchronize(gate->stream));
    CUDA(cuEventDestroy_v2(gate->event));
    CUDA(cuStreamDestroy_v2(gate->stream));
    CUDA(cuMemFreeHost((void *)gate->word));
    free(gate);
}
