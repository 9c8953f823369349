// SPDX-License-Identifier: Apache-2.0
/*
 * Syncs are the real ones of glFenceSync; one that file operations have joined does not pass before these have ended, and
 * none passes before its context was flushed.
 */
#include <stdlib.h>
#include <time.h>

#include "ssg.h"

static struct sync *syncs;

struct sync *sync_find(GLsync handle) {
    for (struct sync *sync = syncs; sync; sync = sync->next)
        if (sync->handle == handle) return sync;
    return NULL;
}

struct sync *sync_of(GLsync handle, int ours) {
    struct sync *sync = sync_find(handle);
    if (sync) return sync;
    sync = calloc(1, sizeof *sync);
    if (!sync) abort();
    *sync = (struct sync){.handle = handle, .context = eglGetCurrentContext(), .ours = ours, .next = syncs};
    syncs = sync;
    if (ours) live("syncs", 1);
    return sync;
}

EXPORT GLsync glFenceSync(GLenum condition, GLbitfield flags) {
    struct answer answer;
    if (called(__func__, &answer)) {
        raise_error(__func__, (GLenum)answer.code, "as ordered");
        return NULL;
    }
    GLsync made = real.glFenceSync(condition, flags);
    LOCK();
    struct sync *sync = made ? sync_of(made, 0) : NULL;
    if (sync) {
        sync->context = eglGetCurrentContext(); /* the handle may have come again */
        sync->flushed = 0;
    }
    UNLOCK();
    return made;
}

/* All that the current context was told goes to the device. */
static void flushed(void) {
    void *context = eglGetCurrentContext();
    LOCK();
    for (struct sync *sync = syncs; sync; sync = sync->next)
        if (sync->context == context) sync->flushed = 1;
    UNLOCK();
}

EXPORT void glFlush(void) {
    struct answer answer;
    called(__func__, &answer);
    flushed();
    real.glFlush();
}

/* File operations are commands of the context too. */
EXPORT void glFinish(void) {
    struct answer answer;
    called(__func__, &answer);
    flushed();
    void *context = eglGetCurrentContext();
    LOCK();
    for (struct sync *sync = syncs; sync;) {
        int busy = sync->context == context && sync->operations;
        if (busy) pthread_cond_wait(&ssg_changed, &ssg_lock);
        sync = busy ? syncs : sync->next;
    }
    UNLOCK();
    real.glFinish();
}

/* True if a sync can pass; with the lock. */
static int is_flushed(GLsync handle) {
    struct sync *sync = sync_find(handle);
    return !sync || sync->flushed || !property("flush", 1);
}

/* Waits until no operation has joined it, for so long; with the lock. True if there is none. */
static int settled(GLsync handle, uint64_t nanos) {
    struct timespec until = in_millis((long)(nanos / 1000000 > 60000 ? 60000 : nanos / 1000000));
    struct sync *sync = sync_find(handle);
    while (sync && sync->operations && nanos) {
        if (pthread_cond_timedwait(&ssg_changed, &ssg_lock, &until)) break;
        sync = sync_find(handle);
    }
    return !sync || !sync->operations;
}

EXPORT GLenum glClientWaitSync(GLsync handle, GLbitfield flags, uint64_t nanos) {
    struct answer answer;
    if (called(__func__, &answer)) {
        raise_error(__func__, (GLenum)answer.err, "as ordered");
        return (GLenum)answer.code;
    }
    views_sweep();
    if (flags & GL_SYNC_FLUSH_COMMANDS_BIT) flushed();
    LOCK();
    int passed = is_flushed(handle) && settled(handle, nanos);
    UNLOCK();
    if (!passed) {
        /* Where the context is lost, a wait must end. */
        return property("reset_status", 0) ? GL_ALREADY_SIGNALED : GL_TIMEOUT_EXPIRED;
    }
    views_sweep();
    return real.glClientWaitSync(handle, flags, nanos);
}

EXPORT void glWaitSync(GLsync handle, GLbitfield flags, uint64_t nanos) {
    LOCK();
    struct sync *sync = sync_find(handle);
    if (sync && sync->context != eglGetCurrentContext() && !is_flushed(handle))
        complain("glWaitSync: the sync was not flushed in the context that it was made in");
    settled(handle, nanos);
    UNLOCK();
    real.glWaitSync(handle, flags, nanos);
}

void sync_forget(struct sync *sync) {
    struct sync **link = &syncs;
    while (*link != sync) link = &(*link)->next;
    *link = sync->next;
    if (sync->ours) live("syncs", -1);
    free(sync);
}

EXPORT void glDeleteSync(GLsync handle) {
    LOCK();
    struct sync *sync = sync_find(handle);
    int busy = sync && sync->operations;
    if (busy && !property("reset_status", 0)) complain("glDeleteSync: a sync whose transfers run");
    if (busy) sync->deleted = 1; /* the last of them forgets it */
    else if (sync) sync_forget(sync);
    UNLOCK();
    if (!busy) real.glDeleteSync(handle);
}

void syncs_reset(void) {
    LOCK();
    while (syncs) {
        if (syncs->operations) pthread_cond_wait(&ssg_changed, &ssg_lock);
        else sync_forget(syncs);
    }
    UNLOCK();
}
