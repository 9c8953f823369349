// SPDX-License-Identifier: Apache-2.0
// What fences behind copies between OpenGL buffers cost, and what staging workers with one thread that copies can come to.
// gcc -O2 -pthread -o fences fences.c -ldl && ./fences FILE     (no GL header needed; the first EGL device is taken)
// FILE is made, 1 GiB. First: copies of one size behind each other with a fence, flushed, after every n-th. Then: threads
// that pread the file into staging buffers of a mapped buffer while this one copies these to a buffer of the device's, with a fence
// behind each copy, or one behind as many as come while others run, up to 4 or 8. SMALL=1 makes all of it small.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
typedef void *Handle;
typedef unsigned Name;
enum { COPIES_COMPLETE = 0x9117, TIMEOUT_EXPIRED = 0x911B, MAPPED = 0xC3, CLIENT_STORAGE = 0x200, MOST_BUFFERS = 64 };
static void (*glCreateBuffers)(int, Name *), (*glNamedBufferStorage)(Name, intptr_t, const void *, Name),
    (*glCopyNamedBufferSubData)(Name, Name, intptr_t, intptr_t, intptr_t), (*glDeleteSync)(Handle), (*glFlush)(void),
    (*glFinish)(void), (*glDeleteBuffers)(int, const Name *);
static void *(*glMapNamedBufferRange)(Name, intptr_t, intptr_t, Name);
static Handle (*glFenceSync)(Name, Name);
static Name (*glClientWaitSync)(Handle, Name, uint64_t), (*glUnmapNamedBuffer)(Name);
static const char *(*glGetString)(Name);
static void fail(const char *what) { perror(what); exit(1); }
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e6 + t.tv_nsec / 1e3; }

static void open_context(void) {
    Handle egl = dlopen("libEGL.so.1", RTLD_NOW);
    if (!egl) fail("libEGL.so.1");
    Handle (*find)(const char *) = dlsym(egl, "eglGetProcAddress");
    Name (*devices)(int, Handle *, int *) = find("eglQueryDevicesEXT");
    Handle (*platform)(Name, Handle, const intptr_t *) = find("eglGetPlatformDisplay");
    Name (*initialize)(Handle, int *, int *) = dlsym(egl, "eglInitialize"), (*bind)(Name) = dlsym(egl, "eglBindAPI");
    Handle (*create)(Handle, Handle, Handle, const int *) = dlsym(egl, "eglCreateContext");
    Name (*current)(Handle, Handle, Handle, Handle) = dlsym(egl, "eglMakeCurrent");
    int attributes[] = {0x3098, 4, 0x30FB, 5, 0x3038}, count, version[2]; // OpenGL 4.5
    Handle device;
    if (!devices || !devices(1, &device, &count) || !count) fail("no EGL device");
    Handle display = platform(0x313F, device, NULL);
    if (!initialize(display, &version[0], &version[1]) || !bind(0x30A2)) fail("eglInitialize");
    if (!current(display, NULL, NULL, create(display, NULL, NULL, attributes))) fail("eglMakeCurrent");
#define LOAD(name) if (!(name = (void *)find(#name))) fail(#name);
    LOAD(glCreateBuffers) LOAD(glNamedBufferStorage) LOAD(glCopyNamedBufferSubData) LOAD(glDeleteSync) LOAD(glFlush)
    LOAD(glFinish) LOAD(glDeleteBuffers) LOAD(glMapNamedBufferRange) LOAD(glFenceSync) LOAD(glClientWaitSync)
    LOAD(glUnmapNamedBuffer) LOAD(glGetString)
    printf("%s\n", glGetString(0x1F01));
}

static size_t file_bytes = 1ul << 30;
static Name device;
static Name buffer(size_t bytes, Name flags) {
    Name name;
    glCreateBuffers(1, &name);
    glNamedBufferStorage(name, (intptr_t)bytes, NULL, flags);
    return name;
}
static Handle fence(void) { Handle sync = glFenceSync(COPIES_COMPLETE, 0); glFlush(); return sync; }

static void bare_copies(size_t bytes, size_t every) {
    size_t held = file_bytes / 16, copies = 4 * file_bytes / bytes;
    Name source = buffer(held, MAPPED | CLIENT_STORAGE);
    memset(glMapNamedBufferRange(source, 0, (intptr_t)held, MAPPED), 1, held);
    double start = now();
    for (size_t i = 0; i < copies; i++) {
        glCopyNamedBufferSubData(source, device, (intptr_t)(i * bytes % held), (intptr_t)(i * bytes % file_bytes), (intptr_t)bytes);
        if (i % every == 0) glDeleteSync(fence());
    }
    glFinish();
    printf("copies of %5zu KiB, a fence after every %2zu: %.1f GB/s\n", bytes >> 10, every, copies * bytes / (now() - start) / 1e3);
    glUnmapNamedBuffer(source);
    glDeleteBuffers(1, &source);
}

typedef struct { int filled; size_t at; Handle sync; } StagingBuffer; // filled: 0 a staging worker's, 1 to be copied, 2 being copied
static StagingBuffer stagingBuffers[MOST_BUFFERS];
static int file;
static char *map;
static size_t buffer_bytes, buffers_each, total, next_part;
static void *worker(void *number) {
    for (size_t mine = (size_t)number * buffers_each, i = 0;; i = (i + 1) % buffers_each) {
        StagingBuffer *staging = &stagingBuffers[mine + i];
        while (__atomic_load_n(&staging->filled, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
        staging->at = __atomic_fetch_add(&next_part, buffer_bytes, __ATOMIC_RELAXED);
        if (staging->at >= total) return NULL;
        if (pread(file, map + (mine + i) * buffer_bytes, buffer_bytes, (off_t)(staging->at % file_bytes)) != (ssize_t)buffer_bytes) fail("pread");
        __atomic_store_n(&staging->filled, 1, __ATOMIC_RELEASE);
    }
}

// Returns GB/s with one fence behind up to so many copies: more than one only while others run.
static double staged(Name source, size_t workers, size_t most) {
    static StagingBuffer *order[MOST_BUFFERS]; // copies under way, a ring; the last of each group has the sync
    pthread_t threads[MOST_BUFFERS];
    size_t first = 0, last = 0, open = 0, done = 0;
    memset(stagingBuffers, 0, sizeof stagingBuffers);
    next_part = 0;
    double start = now();
    for (size_t i = 0; i < workers; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    while (done < total) {
        for (size_t i = 0; i < workers * buffers_each; i++) {
            StagingBuffer *staging = &stagingBuffers[i];
            if (__atomic_load_n(&staging->filled, __ATOMIC_ACQUIRE) != 1) continue;
            glCopyNamedBufferSubData(source, device, (intptr_t)(i * buffer_bytes), (intptr_t)(staging->at % file_bytes), (intptr_t)buffer_bytes);
            staging->filled = 2;
            staging->sync = NULL;
            order[last++ % MOST_BUFFERS] = staging;
            if (++open == most) { staging->sync = fence(); open = 0; }
        }
        if (open && last - first == open) { order[(last - 1) % MOST_BUFFERS]->sync = fence(); open = 0; }
        size_t end = first;
        while (end < last && !order[end % MOST_BUFFERS]->sync) end++;
        if (end == last || glClientWaitSync(order[end % MOST_BUFFERS]->sync, 0, 0) == TIMEOUT_EXPIRED) continue;
        glDeleteSync(order[end % MOST_BUFFERS]->sync);
        for (; first <= end; first++, done += buffer_bytes) __atomic_store_n(&order[first % MOST_BUFFERS]->filled, 0, __ATOMIC_RELEASE);
    }
    double rate = total / (now() - start) / 1e3;
    for (size_t i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    return rate;
}

int main(int count, char **arguments) {
    if (count != 2) { fprintf(stderr, "usage: fences FILE\n"); return 2; }
    if (getenv("SMALL")) file_bytes = 64 << 20;
    open_context();
    device = buffer(file_bytes, 0);
    for (size_t bytes = 256 << 10; bytes <= 4 << 20; bytes *= 4)
        for (size_t every = 1; every <= 16; every *= 4) bare_copies(bytes, every);
    file = open(arguments[1], O_RDWR | O_CREAT, 0600);
    char *part = calloc(1, 1 << 20);
    for (size_t at = 0; at < file_bytes; at += 1 << 20)
        if (file < 0 || pwrite(file, part, 1 << 20, (off_t)at) != 1 << 20) fail(arguments[1]);
    total = 6 * file_bytes;
    for (buffer_bytes = 1 << 20; buffer_bytes <= 4 << 20; buffer_bytes *= 4)
        for (size_t workers = 8; workers <= 12; workers += 4)
            for (buffers_each = 2; buffers_each <= 4; buffers_each += 2) {
                size_t bytes = buffer_bytes * MOST_BUFFERS;
                Name source = buffer(bytes, MAPPED | CLIENT_STORAGE);
                map = glMapNamedBufferRange(source, 0, (intptr_t)bytes, MAPPED);
                if (!map) fail("glMapNamedBufferRange");
                memset(map, 0, bytes);
                double each = staged(source, workers, 1), four = staged(source, workers, 4), eight = staged(source, workers, 8);
                printf("staging buffers of %zu MiB, %2zu staging workers with %zu each: a fence each %.1f GB/s, for up to 4 %.1f, 8 %.1f\n",
                        buffer_bytes >> 20, workers, buffers_each, each, four, eight);
                glUnmapNamedBuffer(source);
                glDeleteBuffers(1, &source);
            }
    fflush(stdout);
    _exit(0); // how long drivers take to go is not asked
}
