// SPDX-License-Identifier: Apache-2.0
/* Of OpenGL and EGL what the fake needs, so that it compiles where no headers are. */
#ifndef PENSTOCK_GL_H
#define PENSTOCK_GL_H

#include <stddef.h>
#include <stdint.h>

typedef void *GLsync;
typedef unsigned GLenum, GLuint, GLbitfield;

enum {
    GL_NO_ERROR = 0,
    GL_INVALID_ENUM = 0x0500,
    GL_INVALID_VALUE = 0x0501,
    GL_INVALID_OPERATION = 0x0502,
    GL_OUT_OF_MEMORY = 0x0505,
    GL_CONTEXT_LOST = 0x0507,
    GL_EXTENSIONS = 0x1F03,
    GL_NUM_EXTENSIONS = 0x821D,
    GL_BUFFER_STORAGE_FLAGS = 0x8220,
    GL_BUFFER_SIZE = 0x8764,
    GL_READ_ONLY = 0x88B8,
    GL_WRITE_ONLY = 0x88B9,
    GL_READ_WRITE = 0x88BA,
    GL_BUFFER_MAPPED = 0x88BC,
    GL_BUFFER_MAP_POINTER = 0x88BD,
    GL_MAP_READ_BIT = 0x1,
    GL_MAP_WRITE_BIT = 0x2,
    GL_MAP_PERSISTENT_BIT = 0x40,
    GL_CLIENT_STORAGE_BIT = 0x200,
    GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117,
    GL_SYNC_FLUSH_COMMANDS_BIT = 0x1,
    GL_ALREADY_SIGNALED = 0x911A,
    GL_TIMEOUT_EXPIRED = 0x911B,
};

/* Those that the fake passes on as they are, and calls itself. */
void glCopyNamedBufferSubData(GLuint from, GLuint to, ptrdiff_t from_at, ptrdiff_t to_at, ptrdiff_t size);
void glCreateBuffers(int count, GLuint *names);
GLsync glFenceSync(GLenum condition, GLbitfield flags);
void glFinish(void);
void glFlush(void);
void glGetNamedBufferParameteriv(GLuint buffer, GLenum name, int *value);
void glGetNamedBufferParameteri64v(GLuint buffer, GLenum name, int64_t *value);
void glGetNamedBufferPointerv(GLuint buffer, GLenum name, void **value);
void glGetNamedBufferSubData(GLuint buffer, ptrdiff_t offset, ptrdiff_t size, void *data);
unsigned char glIsBuffer(GLuint buffer);
void *glMapNamedBufferRange(GLuint buffer, ptrdiff_t offset, ptrdiff_t size, GLbitfield access);
unsigned char glUnmapNamedBuffer(GLuint buffer);
void *eglGetCurrentContext(void);

#endif
