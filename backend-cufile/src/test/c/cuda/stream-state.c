// SPDX-License-Identifier: Apache-2.0
/* What a stream is, and whether it is done. */
#include "cuda.h"

EXPORT CUresult cuStreamQuery(CUstream handle) {
    CALLED(AT_ONCE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(handle, __func__, &stream);
    if (!result && stream->done < stream->issued) result = NOT_READY;
    UNLOCK();
    return result;
}

EXPORT CUresult cuStreamSynchronize(CUstream handle) {
    CALLED(AT_ONCE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(handle, __func__, &stream);
    if (!result) {
        stream_wait(stream, stream->issued);
        result = stream->context->sticky;
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext *context_of) {
    CALLED(AT_ONCE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(handle, __func__, &stream);
    if (!result && context_of) *context_of = stream->context->handle;
    UNLOCK();
    REQUIRE(context_of, INVALID_VALUE);
    return result;
}

EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
    CALLED(AT_ONCE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(handle, __func__, &stream);
    if (!result && flags) *flags = stream->flags;
    UNLOCK();
    REQUIRE(flags, INVALID_VALUE);
    return result;
}

EXPORT CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    CALLED(AT_ONCE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(handle, __func__, &stream);
    if (!result && priority) *priority = stream->priority;
    UNLOCK();
    REQUIRE(priority, INVALID_VALUE);
    return result;
}
