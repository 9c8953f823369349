// SPDX-License-Identifier: Apache-2.0
// How long small copies take, one at a time, seen by polling a pinned word that the stream writes behind each.
#include "peers.h"

#include <stdlib.h>
#include <unistd.h>

enum { COPIED = 4096, PAUSE_MICROS = 200 };

typedef struct {
    CUstream stream;
    void *from;
    volatile uint32_t *seen;
    CUdeviceptr cell;
    uint32_t turn;
} Poll;

static Poll poll_make(void) {
    Poll poll = {0};
    pinned_word(&poll.seen, &poll.cell);
    CUDA(cuStreamCreate(&poll.stream, CU_STREAM_NON_BLOCKING));
    CUDA(cuMemHostAlloc(&poll.from, COPIED, 0));
    return poll;
}

static void poll_free(Poll *poll) {
    CUDA(cuStreamSynchronize(poll->stream));
    CUDA(cuStreamDestroy_v2(poll->stream));
    CUDA(cuMemFreeHost(poll->from));
    CUDA(cuMemFreeHost((void *)poll->seen));
}

static void submit(Poll *poll, const Order *order) {
    CUDA(cuMemcpyHtoDAsync_v2(order->memory, poll->from, COPIED, poll->stream));
    CUDA(cuStreamWriteValue32_v2(poll->stream, poll->cell, ++poll->turn, 0));
}

static int64_t await(const Poll *poll) {
    while (*poll->seen != poll->turn) {
    }
    return now_nanos();
}

static Outcome each_of(const Order *order, int64_t (*once)(Poll *, const Order *, Gate *), Gate *gate) {
    size_t count = order->blocks;
    int64_t *each = order->times ? order->times : malloc(sizeof *each * count);
    Poll poll = poll_make();
    int64_t cpu = cpu_nanos(), start = now_nanos();
    for (size_t i = 0; i < count; i++) {
        each[i] = once(&poll, order, gate);
    }
    Outcome outcome = {count, now_nanos() - start, cpu_nanos() - cpu, 0};
    qsort(each, count, sizeof *each, by_nanos);
    outcome.median_nanos = (double)each[count / 2];
    if (each != order->times) {
        free(each);
    }
    poll_free(&poll);
    return outcome;
}

static int64_t bare(Poll *poll, const Order *order, Gate *gate) {
    (void)gate;
    int64_t start = now_nanos();
    submit(poll, order);
    return await(poll) - start;
}

Outcome bare_poll(const Order *order) {
    return each_of(order, bare, NULL);
}

static int64_t gated(Poll *poll, const Order *order, Gate *gate) {
    CUDA(cuStreamWaitEvent(poll->stream, gate_close(gate), 0));
    submit(poll, order);
    usleep(PAUSE_MICROS); // so that the device has reached it
    int64_t start = gate_open(gate);
    return await(poll) - start;
}

Outcome gated_poll(const Order *order) {
    Gate *gate = gate_make();
    Outcome outcome = each_of(order, gated, gate);
    gate_free(gate);
    return outcome;
}

static int64_t reading(Poll *poll, const Order *order, Gate *gate) {
    (void)gate;
    const int64_t *offsets = gather_offsets(order);
    int64_t start = now_nanos();
    if (pread(file_of(order->hot, 0, 0), poll->from, COPIED, offsets[poll->turn % order->blocks]) != COPIED) {
        fail("pread: %m");
    }
    submit(poll, order);
    return await(poll) - start;
}

Outcome small_reads(const Order *order) {
    return each_of(order, reading, NULL);
}
