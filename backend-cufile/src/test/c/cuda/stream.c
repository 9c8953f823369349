// SPDX-License-Identifier: Apache-2.0
/*
 * Streams: each has a thread of its own that carries out its operations in order, so that nothing is over when a call
 * returns unless the manual says so.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cuda.h"

enum { NON_BLOCKING = 1, SECONDS_TO_STOP = 10 };

/* All that ever were: an operation may wait for one that was destroyed meanwhile. */
static struct stream *streams, *ended;
static int working;

static int blocking(const struct stream *stream) {
    return !(stream->flags & NON_BLOCKING);
}

static struct stream *stream_new(struct context *context, unsigned flags, int priority) {
    struct stream *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->context = context;
    made->flags = flags;
    made->priority = priority;
    pthread_cond_init(&made->work, NULL);
    made->next = streams;
    streams = made;
    return made;
}

CUresult stream_of(CUstream handle, const char *function, struct stream **stream) {
    struct context *context = current_context();
    if ((uintptr_t)handle <= 2) {
        /* The legacy stream (0, 1), and the thread's own (2), which the fake does not tell apart. */
        if (!context || context->dead) return INVALID_CONTEXT;
        if (!context->legacy) context->legacy = stream_new(context, 0, 0);
        *stream = context->legacy;
        return context->sticky;
    }
    *stream = handle_get(handle, STREAM);
    if (!*stream) {
        complain("%s: %s", function, handle_ended(handle, STREAM) ? "the stream was destroyed" : "no such stream");
        return INVALID_HANDLE;
    }
    return (*stream)->context->sticky;
}

struct op *op_new(const char *function, void (*run)(struct op *op)) {
    struct op *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->function = function;
    made->run = run;
    return made;
}

static void touch(struct op *op, int more) {
    for (size_t i = 0; i < op->copy_count; i++) {
        use(&op->copies[i].to, more);
        use(&op->copies[i].from, more);
    }
}

/* What a broken operation leaves behind: the context answers nothing else from now on. */
static void carry_out_op(struct op *op) {
    struct context *context = op->stream->context;
    struct answer answer;
    LOCK();
    int skip = context->sticky || stopping();
    UNLOCK();
    if (!op->internal) carry_out(op->function);
    if (skip && !op->internal) return;
    CUresult broken = op->illegal ? ILLEGAL_ADDRESS : SUCCESS;
    if (!op->internal && fails_late(op->function, &answer)) broken = (CUresult)answer.code;
    if (broken) {
        LOCK();
        context->sticky = broken;
        UNLOCK();
        return;
    }
    op->run(op);
}

static void *work(void *of) {
    struct stream *stream = of;
    LOCK();
    for (;;) {
        while (!stream->head && !stream->destroyed && !stopping()) pthread_cond_wait(&stream->work, &cuda_lock);
        struct op *op = stream->head;
        if (!op) break;
        UNLOCK();
        carry_out_op(op);
        LOCK();
        stream->head = op->next;
        if (!stream->head) stream->tail = NULL;
        touch(op, -1);
        stream->done++;
        live("operations", -1);
        free(op->copies);
        free(op->extra);
        free(op);
        pthread_cond_broadcast(&cuda_progress);
    }
    stream->working = 0;
    working--;
    pthread_cond_broadcast(&cuda_progress);
    UNLOCK();
    return NULL;
}

static void append(struct stream *stream, struct op *op) {
    op->stream = stream;
    touch(op, 1);
    if (stream->tail) stream->tail->next = op;
    else stream->head = op;
    stream->tail = op;
    stream->issued++;
    live("operations", 1);
    if (!stream->working) {
        pthread_t thread;
        pthread_attr_t detached;
        pthread_attr_init(&detached);
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        if (pthread_create(&thread, &detached, work, stream)) abort();
        pthread_attr_destroy(&detached);
        stream->working = 1;
        working++;
    }
    pthread_cond_signal(&stream->work);
}

static void wait_for_other(struct op *op) {
    struct stream *other = op->object;
    LOCK();
    stream_wait(other, op->number);
    UNLOCK();
}

static void append_wait(struct stream *stream, struct stream *other) {
    if (other->done >= other->issued) return;
    struct op *op = op_new("", wait_for_other);
    op->internal = 1;
    op->object = other;
    op->number = other->issued;
    append(stream, op);
}

/* The legacy stream and the blocking streams of a context wait for each other. */
uint64_t enqueue(struct stream *stream, struct op *op) {
    struct stream *legacy = stream->context->legacy;
    if (stream == legacy) {
        for (struct stream *s = streams; s; s = s->next)
            if (s != stream && s->context == stream->context && blocking(s)) append_wait(stream, s);
    } else if (legacy && blocking(stream)) {
        append_wait(stream, legacy);
    }
    append(stream, op);
    return stream->issued;
}

void stream_wait(struct stream *stream, uint64_t number) {
    while (stream->done < number && !stopping()) pthread_cond_wait(&cuda_progress, &cuda_lock);
}

static void stream_end(struct stream *stream) {
    stream->destroyed = 1;
    if (stream->handle) {
        handle_end(stream->handle);
        live("streams", -1);
    }
    pthread_cond_signal(&stream->work);
}

long streams_of(const struct context *context, int end) {
    long count = 0;
    for (struct stream *s = streams; s; s = s->next) {
        if (s->context != context || s->destroyed) continue;
        if (s->handle) count++;
        if (end) stream_end(s);
    }
    return count;
}

void streams_drain(const struct context *context) {
    for (struct stream *s = streams; s; s = s->next)
        if (s->context == context) stream_wait(s, s->issued);
}

/* Ends all threads; false if some do not end, whose memory must stay then. */
int streams_reset(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS_TO_STOP;
    for (struct stream *s = streams; s; s = s->next) pthread_cond_signal(&s->work);
    pthread_cond_broadcast(&cuda_progress);
    while (working)
        if (pthread_cond_timedwait(&cuda_progress, &cuda_lock, &until) == ETIMEDOUT) return 0;
    while (streams) {
        struct stream *gone = streams;
        streams = gone->next;
        if (gone->handle && !gone->destroyed) handle_end(gone->handle);
        if (gone->context->legacy == gone) gone->context->legacy = NULL;
        /* Not freed: a thread of the application may still leave a wait for it. */
        gone->next = ended;
        ended = gone;
    }
    return 1;
}

static CUresult create(const char *function, CUstream *handle, unsigned flags, int priority) {
    REQUIRE(handle && flags <= 1, INVALID_VALUE);
    struct context *context;
    LOCK();
    CUresult result = need_context(function, &context);
    if (!result) {
        struct stream *made = stream_new(context, flags, priority);
        made->handle = handle_new(STREAM, made);
        live("streams", 1);
        *handle = made->handle;
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned flags, int priority) {
    CALLED(AT_ONCE);
    return create(__func__, handle, flags, priority);
}

EXPORT CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
    CALLED(AT_ONCE);
    return create(__func__, handle, flags, 0);
}

EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
    CALLED(AT_ONCE);
    REQUIRE((uintptr_t)handle > 2, INVALID_HANDLE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(handle, __func__, &stream);
    if (!result) {
        /* The guide, 3.7: the stream is deregistered while it is there. */
        if (stream->registered) complain("%s: the stream is registered with cuFile", __func__);
        /* What it still holds is carried out all the same. */
        stream_end(stream);
    }
    UNLOCK();
    return result;
}
