// SPDX-License-Identifier: Apache-2.0
/*
 * Uses both fakes from several threads at once, rightly; made with sanitizers, which watch the fakes. Exits with 0 if
 * all bytes came through and neither fake complains. The argument is a folder for a file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "cufile/batch.h"
#undef LOCK
#undef UNLOCK

enum { USERS = 4, ROUNDS = 40, SEGMENT = 8192, SEGMENTS = 16, SIZE = SEGMENT * SEGMENTS };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *pointer, size_t size);
int cuMemFree_v2(uint64_t pointer);
int cuMemHostAlloc(void **memory, size_t size, unsigned flags);
int cuMemFreeHost(void *memory);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t size, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamWriteValue32_v2(void *stream, uint64_t pointer, uint32_t value, unsigned flags);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);
CUfileError_t cuFileDriverOpen(void);
CUfileError_t cuFileDriverClose_v2(void);
CUfileError_t cuFileHandleRegister(void **handle, const void *descriptor);
void cuFileHandleDeregister(void *handle);
CUfileError_t cuFileBufRegister(const void *memory, size_t size, int flags);
CUfileError_t cuFileBufDeregister(const void *memory);
ssize_t cuFileRead(void *handle, void *base, size_t size, off_t file_offset, off_t buffer_offset);
ssize_t cuFileWrite(void *handle, const void *base, size_t size, off_t file_offset, off_t buffer_offset);
CUfileError_t cuFileReadAsync(void *handle, void *base, size_t *size, off_t *file_offset, off_t *buffer_offset,
                              ssize_t *bytes, void *stream);
CUfileError_t cuFileStreamRegister(void *stream, unsigned flags);
CUfileError_t cuFileStreamDeregister(void *stream);
CUfileError_t cuFileBatchIOSetUp(void **batch, unsigned capacity);
CUfileError_t cuFileBatchIOSubmit(void *batch, unsigned count, struct parameters *io, unsigned flags);
CUfileError_t cuFileBatchIOGetStatus(
        void *batch, unsigned least, unsigned *count, struct io_event *events, const struct timespec *timeout);
void cuFileBatchIODestroy(void *batch);

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);   \
            exit(1);                                                              \
        }                                                                         \
    } while (0)
#define CUDA(call) CHECK((call) == 0)
#define FILED(call) CHECK((call).err == 0)

static const char *path;
static void *context;

struct user {
    int number;
    uint64_t memory;
    unsigned char *pinned;
    uint32_t *word;
    void *stream, *other, *event, *handle;
    int fd;
};

static void copies(struct user *u, int round) {
    memset(u->pinned, round, SIZE);
    CUDA(cuMemcpyHtoDAsync_v2(u->memory, u->pinned, SIZE, u->stream));
    CUDA(cuEventRecord(u->event, u->stream));
    CUDA(cuStreamWaitEvent(u->other, u->event, 0));
    CUDA(cuMemsetD8Async(u->memory, 0x55, SEGMENT, u->other));
    CUDA(cuStreamWriteValue32_v2(u->other, (uint64_t)(uintptr_t)u->word, (uint32_t)round + 1, 0));
    while (__atomic_load_n(u->word, __ATOMIC_ACQUIRE) != (uint32_t)round + 1) usleep(10);
    CUDA(cuEventQuery(u->event));
    CUDA(cuMemcpyDtoHAsync_v2(u->pinned, u->memory, SIZE, u->other));
    CUDA(cuStreamSynchronize(u->other));
    CHECK(u->pinned[0] == 0x55 && u->pinned[SEGMENT] == round && u->pinned[SIZE - 1] == round);
}

static void *device(const struct user *u) {
    return (void *)(uintptr_t)u->memory;
}

static void at_once(struct user *u) {
    off_t mine = (off_t)u->number * SIZE;
    CHECK(cuFileWrite(u->handle, device(u), SIZE, mine, 0) == SIZE);
    CUDA(cuMemsetD8Async(u->memory, 0, SIZE, u->stream));
    CUDA(cuStreamSynchronize(u->stream));
    FILED(cuFileBufRegister(device(u), SIZE, 0));
    CHECK(cuFileRead(u->handle, device(u), SIZE, mine, 0) == SIZE);
    CHECK(cuFileRead(u->handle, device(u), 100, mine + 3, 3) == 100);
    FILED(cuFileBufDeregister(device(u)));
}

static void in_stream(struct user *u) {
    size_t size = SIZE;
    off_t from = (off_t)u->number * SIZE, to = 0;
    ssize_t *bytes = calloc(1, sizeof *bytes);
    FILED(cuFileStreamRegister(u->stream, 15));
    FILED(cuFileReadAsync(u->handle, device(u), &size, &from, &to, bytes, u->stream));
    CUDA(cuStreamSynchronize(u->stream));
    CHECK(*bytes == SIZE);
    FILED(cuFileStreamDeregister(u->stream));
    free(bytes);
}

static void in_batch(struct user *u) {
    struct parameters io[SEGMENTS];
    struct io_event events[SEGMENTS];
    void *batch;
    FILED(cuFileBatchIOSetUp(&batch, SEGMENTS));
    memset(io, 0, sizeof io);
    for (int i = 0; i < SEGMENTS; i++) {
        io[i] = (struct parameters){.mode = 1, .base = u->memory, .size = SEGMENT, .handle = u->handle, .cookie = &io[i]};
        io[i].file_offset = (off_t)u->number * SIZE + i * SEGMENT;
        io[i].buffer_offset = i * SEGMENT;
    }
    FILED(cuFileBatchIOSubmit(batch, SEGMENTS, io, 0));
    for (unsigned done = 0, count; done < SEGMENTS; done += count) {
        count = SEGMENTS;
        FILED(cuFileBatchIOGetStatus(batch, 1, &count, events, NULL));
        for (unsigned i = 0; i < count; i++) CHECK(events[i].status == COMPLETE && events[i].result == SEGMENT);
    }
    cuFileBatchIODestroy(batch);
}

static void *use_all(void *number) {
    struct user u = {.number = (int)(intptr_t)number};
    struct {
        int type;
        int pad;
        int fd;
        int pad2;
        void *operations;
    } descriptor = {.type = 1};
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuMemAlloc_v2(&u.memory, SIZE));
    CUDA(cuMemHostAlloc((void **)&u.pinned, SIZE, 0));
    CUDA(cuMemHostAlloc((void **)&u.word, sizeof *u.word, 0));
    *u.word = 0;
    CUDA(cuStreamCreate(&u.stream, 1));
    CUDA(cuStreamCreate(&u.other, 1));
    CUDA(cuEventCreate(&u.event, 2));
    descriptor.fd = u.fd = open(path, O_RDWR);
    FILED(cuFileHandleRegister(&u.handle, &descriptor));
    for (int round = 0; round < ROUNDS; round++) {
        copies(&u, round);
        at_once(&u);
        in_stream(&u);
        in_batch(&u);
    }
    cuFileHandleDeregister(u.handle);
    close(u.fd);
    CUDA(cuEventDestroy_v2(u.event));
    CUDA(cuStreamDestroy_v2(u.other));
    CUDA(cuStreamDestroy_v2(u.stream));
    CUDA(cuMemFreeHost(u.word));
    CUDA(cuMemFreeHost(u.pinned));
    CUDA(cuMemFree_v2(u.memory));
    return NULL;
}

/* Each library has controls of its own, by the same names. */
static void check_complaint(const char *library) {
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    CHECK(loaded);
    const char *(*complaint)(void) = (const char *(*)(void))dlsym(loaded, "fake_complaint");
    void (*reset)(void) = (void (*)(void))dlsym(loaded, "fake_reset");
    CHECK(complaint && reset);
    if (complaint()) fprintf(stderr, "%s complains: %s\n", library, complaint());
    CHECK(!complaint());
    reset();
    dlclose(loaded);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    char name[4096];
    snprintf(name, sizeof name, "%s/stress", arguments[1]);
    path = name;
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && !ftruncate(fd, (off_t)USERS * SIZE));
    CUDA(cuInit(0));
    CUDA(cuDevicePrimaryCtxRetain(&context, 0));
    FILED(cuFileDriverOpen());
    pthread_t users[USERS];
    for (intptr_t i = 0; i < USERS; i++) CHECK(!pthread_create(&users[i], NULL, use_all, (void *)i));
    for (int i = 0; i < USERS; i++) pthread_join(users[i], NULL);
    FILED(cuFileDriverClose_v2());
    CUDA(cuDevicePrimaryCtxRelease_v2(0));
    check_complaint("libcufile.so.0");
    check_complaint("libcuda.so.1");
    close(fd);
    unlink(path);
    return 0;
}
