// SPDX-License-Identifier: Apache-2.0
// When libcufile writes into memory that it has freed:
//   gcc -O1 -shared -fPIC -ftls-model=initial-exec -o freed.so tools/benchmarks/experiments/freed.c -ldl
//   gcc -O1 -rdynamic -o reopened tools/benchmarks/experiments/reopened.c -ldl -lpthread
//   head -c 1M /dev/urandom >/tmp/file && LD_PRELOAD=./freed.so ./reopened /tmp/file ohtdcoe
// The letters are what happens, in order: o the driver is opened, c closed; h the file is registered, d deregistered; t a thread
// reads by cuFileRead, and waits; e that thread ends; x a thread reads, and ends. Capitals O, D and C: by threads that end.
// On an H200 (libcufile 1.15.1) only a thread that outlives a close and the opening after it, and then ends, is found: ohtdcoe, and
// not ohtdce, ohtedcoc or OhtDCeOhtDCe. LIBCUFILE names the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64 << 10, READS = 8 };

typedef struct {
    int error, cuda;
} answer;

typedef struct {
    int type; // 1: a file descriptor
    union {
        int fd;
        void *handle;
    };
    const void *operations;
} description;

static void *cufile, *cuda, *context, *handle;
static unsigned long long memory;
static int fd;
static sem_t reading, ending;
static pthread_t waiting;

#define CUFILE(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(cufile, name))
#define CUDA(name, ...) ((int (*)(__VA_ARGS__))dlsym(cuda, name))

static void check(const char *what, long code, long right) {
    if (code == right) return;
    fprintf(stderr, "%s: %ld\n", what, code);
    exit(1);
}

static void *opens(void *unused) {
    CUDA("cuCtxSetCurrent", void *)(context);
    check("cuFileDriverOpen", CUFILE(answer, "cuFileDriverOpen", void)().error, 0);
    return unused;
}

static void *closes(void *unused) {
    check("cuFileDriverClose_v2", CUFILE(answer, "cuFileDriverClose_v2", void)().error, 0);
    return unused;
}

static void registers(void) {
    description file = {1, {fd}, NULL};
    check("cuFileHandleRegister", CUFILE(answer, "cuFileHandleRegister", void **, description *)(&handle, &file).error, 0);
}

static void *deregisters(void *unused) {
    CUFILE(void, "cuFileHandleDeregister", void *)(handle);
    return unused;
}

static void *reads(void *unused) {
    CUDA("cuCtxSetCurrent", void *)(context);
    for (int i = 0; i < READS; i++)
        check("cuFileRead",
              CUFILE(long, "cuFileRead", void *, void *, size_t, long, long)(handle, (void *)memory, BLOCK, i * (long)BLOCK, 0),
              BLOCK);
    return unused;
}

static void *reads_and_waits(void *unused) {
    reads(unused);
    sem_post(&reading);
    sem_wait(&ending);
    return unused;
}

static void by_a_thread(void *(*step)(void *)) {
    pthread_t thread;
    check("pthread_create", pthread_create(&thread, NULL, step, NULL), 0);
    pthread_join(thread, NULL);
}

static void step(char letter) {
    switch (letter) {
        case 'o': opens(NULL); break;
        case 'O': by_a_thread(opens); break;
        case 'c': closes(NULL); break;
        case 'C': by_a_thread(closes); break;
        case 'h': registers(); break;
        case 'd': deregisters(NULL); break;
        case 'D': by_a_thread(deregisters); break;
        case 'x': by_a_thread(reads); break;
        case 't':
            check("pthread_create", pthread_create(&waiting, NULL, reads_and_waits, NULL), 0);
            sem_wait(&reading);
            break;
        case 'e':
            sem_post(&ending);
            pthread_join(waiting, NULL);
            break;
        default: check("no such step", letter, 0);
    }
}

int main(int count, char **words) {
    check("arguments", count, 3);
    cuda = dlopen("libcuda.so.1", RTLD_NOW);
    cufile = dlopen(getenv("LIBCUFILE") ? getenv("LIBCUFILE") : "libcufile.so.0", RTLD_NOW);
    check("libraries", cuda && cufile, 1);
    int gpu;
    check("cuInit", CUDA("cuInit", unsigned)(0), 0);
    check("cuDeviceGet", CUDA("cuDeviceGet", int *, int)(&gpu, 0), 0);
    check("cuDevicePrimaryCtxRetain", CUDA("cuDevicePrimaryCtxRetain", void **, int)(&context, gpu), 0);
    check("cuCtxSetCurrent", CUDA("cuCtxSetCurrent", void *)(context), 0);
    check("cuMemAlloc", CUDA("cuMemAlloc_v2", unsigned long long *, size_t)(&memory, BLOCK), 0);
    fd = open(words[1], O_RDONLY | O_DIRECT);
    check("open", fd < 0, 0);
    for (const char *letter = words[2]; *letter; letter++) step(*letter);
    return 0;
}
