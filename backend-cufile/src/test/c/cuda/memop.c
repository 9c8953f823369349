// SPDX-License-Identifier: Apache-2.0
/* Words that a stream writes or waits for, and host functions. */
#include <stdlib.h>
#include <time.h>

#include "cuda.h"

enum { GEQ = 0, EQ = 1, AND = 2, NOR = 3, FLUSH = 1 << 30, NO_BARRIER = 1 };

static void write_word(struct op *op) {
    uint32_t *word = (uint32_t *)(void *)op->copies[0].to.bytes;
    /* Release: who sees the word sees what the stream has written before it. */
    __atomic_store_n(word, (uint32_t)op->number, __ATOMIC_RELEASE);
}

static int met(uint32_t now, uint32_t value, unsigned flags) {
    switch (flags & 3) {
        case GEQ: return (int32_t)(now - value) >= 0;
        case EQ: return now == value;
        case AND: return (now & value) != 0;
        default: return ~(now | value) != 0;
    }
}

static void wait_for_word(struct op *op) {
    uint32_t *word = (uint32_t *)(void *)op->copies[0].to.bytes;
    const struct timespec moment = {0, 50000};
    while (!met(__atomic_load_n(word, __ATOMIC_ACQUIRE), (uint32_t)op->number, op->flags) && !stopping())
        nanosleep(&moment, NULL);
}

static CUresult word_op(const char *function, void (*run)(struct op *op), CUstream of, CUdeviceptr address,
                        uint32_t value, unsigned flags) {
    struct context *context;
    struct stream *stream;
    struct span span;
    LOCK();
    CUresult result = need_context(function, &context);
    if (!result) result = stream_of(of, function, &stream);
    if (!result && (address % 4 || !resolve(address, 4, &span) || (!span.allocation && !span.pinned))) {
        complain("%s: the device reaches no word at %#lx", function, (unsigned long)address);
        result = INVALID_VALUE;
    }
    if (!result) {
        struct op *op = op_new(function, run);
        op->copies = calloc(1, sizeof *op->copies);
        if (!op->copies) abort();
        op->copies[0].to = span;
        op->copies[0].size = 4;
        op->copy_count = 1;
        op->number = value;
        op->flags = flags;
        enqueue(stream, op);
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
    CALLED(IN_STREAM);
    REQUIRE(!(flags & ~(unsigned)NO_BARRIER), INVALID_VALUE);
    return word_op(__func__, write_word, stream, address, value, flags);
}

EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
    CALLED(IN_STREAM);
    REQUIRE(!(flags & ~(unsigned)(3 | FLUSH)), INVALID_VALUE);
    return word_op(__func__, wait_for_word, stream, address, value, flags);
}

struct call {
    void (*function)(void *);
    void *with;
};

static void call(struct op *op) {
    struct call *call = op->extra;
    host_function(!op->internal);
    call->function(call->with);
    host_function(0);
}

/* The operation of a host function, or of the fake of cuFile, which counts and holds its own. */
struct op *host_op(const char *function, void (*run)(void *), void *with, int internal) {
    struct op *op = op_new(function, call);
    struct call *kept = malloc(sizeof *kept);
    if (!kept) abort();
    *kept = (struct call){run, with};
    op->extra = kept;
    op->internal = internal;
    return op;
}

EXPORT CUresult cuLaunchHostFunc(CUstream of, void (*run)(void *), void *with) {
    CALLED(IN_STREAM);
    REQUIRE(run, INVALID_VALUE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(of, __func__, &stream);
    if (!result) enqueue(stream, host_op(__func__, run, with, 0));
    UNLOCK();
    return result;
}
