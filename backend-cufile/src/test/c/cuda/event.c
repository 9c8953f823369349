// SPDX-License-Identifier: Apache-2.0
/* Events. One that was never recorded counts as passed, and a wait is for the last record before it. */
#include <stdlib.h>
#include <time.h>

#include "cuda.h"

enum { DISABLE_TIMING = 2 };

/* All that ever were: a stream may still pass one that was destroyed. */
static struct event *events, *ended;

static CUresult event_of(CUevent handle, const char *function, struct event **event) {
    *event = handle_get(handle, EVENT);
    if (*event) return SUCCESS;
    complain("%s: %s", function, handle_ended(handle, EVENT) ? "the event was destroyed" : "no such event");
    return INVALID_HANDLE;
}

void events_reset(void) {
    while (events) {
        struct event *gone = events;
        events = gone->next;
        if (handle_get(gone->handle, EVENT)) handle_end(gone->handle);
        /* Not freed: a thread of the application may still leave a wait for it. */
        gone->next = ended;
        ended = gone;
    }
}

EXPORT CUresult cuEventCreate(CUevent *handle, unsigned flags) {
    CALLED(AT_ONCE);
    REQUIRE(handle && flags <= 7, INVALID_VALUE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) {
        struct event *made = calloc(1, sizeof *made);
        if (!made) abort();
        made->context = context;
        made->flags = flags;
        made->handle = handle_new(EVENT, made);
        made->next = events;
        events = made;
        live("events", 1);
        *handle = made->handle;
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuEventDestroy_v2(CUevent handle) {
    CALLED(AT_ONCE);
    struct context *context;
    struct event *event;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = event_of(handle, __func__, &event);
    if (!result) {
        handle_end(handle);
        live("events", -1);
    }
    UNLOCK();
    return result;
}

static void pass(struct op *op) {
    struct event *event = op->object;
    LOCK();
    if (event->reached < op->number) event->reached = op->number;
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    UNLOCK();
}

EXPORT CUresult cuEventRecord(CUevent handle, CUstream of) {
    CALLED(IN_STREAM);
    struct context *context;
    struct event *event;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = event_of(handle, __func__, &event);
    if (!result) result = stream_of(of, __func__, &stream);
    if (!result && event->context != stream->context) {
        complain("%s: the event and the stream are of different contexts", __func__);
        result = INVALID_HANDLE;
    }
    if (!result) {
        struct op *op = op_new(__func__, pass);
        op->object = event;
        op->number = ++event->recorded;
        enqueue(stream, op);
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuEventQuery(CUevent handle) {
    CALLED(AT_ONCE);
    struct context *context;
    struct event *event;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = event_of(handle, __func__, &event);
    if (!result) result = event->context->sticky;
    if (!result && event->reached < event->recorded) result = NOT_READY;
    UNLOCK();
    return result;
}

static void await(const struct event *event, uint64_t number) {
    while (event->reached < number && !event->context->sticky && !stopping())
        pthread_cond_wait(&cuda_progress, &cuda_lock);
}

EXPORT CUresult cuEventSynchronize(CUevent handle) {
    CALLED(AT_ONCE);
    struct context *context;
    struct event *event;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = event_of(handle, __func__, &event);
    if (!result) {
        await(event, event->recorded);
        result = event->context->sticky;
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuEventElapsedTime(float *millis, CUevent start, CUevent end) {
    CALLED(AT_ONCE);
    struct event *from, *to;
    LOCK();
    CUresult result = event_of(start, __func__, &from);
    if (!result) result = event_of(end, __func__, &to);
    if (!result && (!millis || (from->flags | to->flags) & DISABLE_TIMING || !from->recorded || !to->recorded))
        result = millis ? INVALID_HANDLE : INVALID_VALUE;
    if (!result && (from->reached < from->recorded || to->reached < to->recorded)) result = NOT_READY;
    if (!result)
        *millis = (float)((double)(to->when.tv_sec - from->when.tv_sec) * 1e3
                          + (double)(to->when.tv_nsec - from->when.tv_nsec) / 1e6);
    UNLOCK();
    return result;
}

static void wait_for_event(struct op *op) {
    LOCK();
    await(op->object, op->number);
    UNLOCK();
}

EXPORT CUresult cuStreamWaitEvent(CUstream of, CUevent handle, unsigned flags) {
    CALLED(IN_STREAM);
    REQUIRE(flags <= 1, INVALID_VALUE);
    struct context *context;
    struct event *event;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = event_of(handle, __func__, &event);
    if (!result) result = stream_of(of, __func__, &stream);
    if (!result) {
        struct op *op = op_new(__func__, wait_for_event);
        op->object = event;
        op->number = event->recorded;
        enqueue(stream, op);
    }
    UNLOCK();
    return result;
}
