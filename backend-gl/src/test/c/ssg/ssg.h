// SPDX-License-Identifier: Apache-2.0
/*
 * AMD's SSG for OpenGL over the machine's own: chapters 6 to 8 of the "Solid State Graphics (SSG) API User Manual", rev.
 * 1.01. It is a libGL, a libEGL and a library of the five functions in one: what it does not have is found in the real
 * ones, which it is linked to. Files are any files; their transfers run on threads of its own, and end when they are told.
 *
 * Properties:
 *   block_size     what offsets and sizes are multiples of (512)
 *   block_token, size_token  the two that no manual tells (0x7F01, 0x7F02)
 *   handle_bits    64, or 32: what else is in the register is anything then
 *   sync           what becomes of a sync where the buffer is right for it: 0 another comes back, and later calls with
 *                  that one join it; 1 the one that was given is used; 2 ignored; 3 refused;
 *                  4 another comes back from each call
 *   plain_sync     a sync for a buffer that is not right for it: 0 refused (6.4), 1 ignored (chapter 7)
 *   grows          1: writes behind the end lengthen the file, by whole blocks
 *   growth_seen    0: a file object keeps to the length that the file had when it was made; 1: it sees the file grow
 *   flush          1: a sync passes only if its context was flushed after it was made, and after what has joined it
 *   visible_bytes  of local visible memory; 0 without an end
 *   reset_status   what glGetGraphicsResetStatus answers: the context is lost
 *   extension      1: the context's list of extensions has GL_PENSTOCK_fake
 */
#ifndef PENSTOCK_SSG_H
#define PENSTOCK_SSG_H

#include <pthread.h>

#include "control.h"
#include "gl.h"

#define EXTENSION "GL_PENSTOCK_fake"

/* Of the functions that the fake has itself, the real ones. */
struct real {
    GLenum (*glClientWaitSync)(GLsync, GLbitfield, uint64_t);
    void (*glDeleteBuffers)(int, const GLuint *);
    void (*glDeleteSync)(GLsync);
    GLsync (*glFenceSync)(GLenum, GLbitfield);
    void (*glFinish)(void);
    void (*glFlush)(void);
    GLenum (*glGetError)(void);
    GLenum (*glGetGraphicsResetStatus)(void);
    void (*glGetIntegerv)(GLenum, int *);
    const unsigned char *(*glGetStringi)(GLenum, GLuint);
    void (*glNamedBufferStorage)(GLuint, ptrdiff_t, const void *, GLbitfield);
    void (*glWaitSync)(GLsync, GLbitfield, uint64_t);
    void *(*eglGetProcAddress)(const char *);
};
extern struct real real;

extern pthread_mutex_t ssg_lock;
extern pthread_cond_t ssg_changed;
#define LOCK() pthread_mutex_lock(&ssg_lock)
#define UNLOCK() pthread_mutex_unlock(&ssg_lock)

/* Leaves an error for glGetError, as the manual's tables say. */
void raise_error(const char *function, GLenum error, const char *why);

/* A file object. */
struct file {
    uint64_t handle;
    int fd;
    GLenum mode;
    int64_t seen; /* its length when it was made */
    long operations;
    struct file *next;
};
/* The file of a handle, or null; with the lock. */
struct file *file_get(uint64_t handle);
/* How many bytes the driver takes a file to have. */
int64_t file_length(const struct file *file);
void files_reset(void);

/* A sync: of glFenceSync, or one that file operations have joined. */
struct sync {
    GLsync handle;
    void *context; /* that it was made in, or joined */
    int flushed;
    long operations;
    int ours;    /* made here, and not given back yet */
    int deleted; /* given back while operations run */
    struct sync *next;
};
/* With the lock. The sync of a handle; made if there is none. */
struct sync *sync_of(GLsync handle, int ours);
struct sync *sync_find(GLsync handle);
void sync_forget(struct sync *sync);
void syncs_reset(void);

/* The memory of a buffer that an operation works on; on the thread of the context. */
struct buffer;
struct buffer *view_open(GLuint buffer, int64_t size, char **address);
/* The operation has ended; any thread, with the lock. */
void view_end(struct buffer *buffer);
/* Unmaps what no operation needs any more; on the thread of the context. */
void views_sweep(void);
/* Waits for the operations on a buffer, and forgets it; on the thread of the context. */
void view_forget(GLuint buffer);
void views_reset(void);

#endif
