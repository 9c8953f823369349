// SPDX-License-Identifier: Apache-2.0
// What staging a file in the page cache to several GPUs at once depends on: threads, staging buffers and their size, which memory they
// are, whether a thread keeps its own or takes any of its GPU's, and whether each thread has a stream or all of a GPU share one.
//   c=benchmarks/src/main/c; gcc -O2 -pthread -I$c -o several benchmarks/experiments/several.c $c/gpu.c $c/check.c $c/gate.c -ldl && ./several /tmp/file 4096 5 4
// The file is made (second argument: MiB; the third: rounds; the fourth: GPUs, each of which reads all of it). In each round all ways run
// once; a line for each: GB/s and processor seconds per GiB, each as median (least-most), and how many words were wrong at the end.
#include "gpu.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20, MOST_GPUS = 8, MOST_BUFFERS = 64, MOST_THREADS = 128, MOST_ROUNDS = 32, ARENA = 128 * MIB };
enum { KINDS = 3, REGISTERED_PORTABLE = 1 };
static const char *const kinds[KINDS] = {"allocated", "registered", "registered huge"};

typedef struct {
    int threads; // of each GPU
    size_t staging;
    int each; // staging buffers of each thread
    int kind; // of memory
    int shared; // whether a thread takes the staging buffer that any of its GPU used last
    int one; // whether all threads of a GPU share a stream
    int polls; // whether threads poll an event, instead of waiting in the driver
    double rates[MOST_ROUNDS], costs[MOST_ROUNDS];
    uint64_t wrong;
} Variant;

typedef struct {
    CUdeviceptr memory;
    char *arenas[KINDS];
    CUstream streams[MOST_BUFFERS];
    CUevent events[MOST_BUFFERS];
    atomic_size_t next;
    pthread_mutex_t lock;
    int free[MOST_BUFFERS], frees; // guarded by lock; the last is the warmest
} Gpu;

static Variant *variant;
static size_t all;
static int file, gpus;
static Gpu gpu[MOST_GPUS];
static pthread_barrier_t barrier;

static int take(Gpu *of) {
    pthread_mutex_lock(&of->lock);
    int staging = of->free[--of->frees];
    pthread_mutex_unlock(&of->lock);
    return staging;
}

static void give(Gpu *to, int staging) {
    pthread_mutex_lock(&to->lock);
    to->free[to->frees++] = staging;
    pthread_mutex_unlock(&to->lock);
}

static void await(CUevent event) {
    if (!variant->polls) {
        CUDA(cuEventSynchronize(event));
        return;
    }
    for (CUresult state; (state = cuEventQuery(event)) != CUDA_SUCCESS;) {
        if (state != CUDA_ERROR_NOT_READY) fail("cuEventQuery: %d", state);
        for (int64_t until = now_nanos() + 3000; now_nanos() < until;) __builtin_ia32_pause();
    }
}

static void *fill(void *number) {
    int worker = (int)(intptr_t)number, n = variant->each, of = worker % gpus, thread = worker / gpus;
    Gpu *mine = &gpu[of];
    int ring[MOST_BUFFERS]; // in flight, oldest first
    gpu_enter_device(of);
    pthread_barrier_wait(&barrier);
    for (int turn = 0;; turn++) {
        int place = turn % n, staging = thread * n + place;
        if (turn >= n) {
            await(mine->events[ring[place]]);
            if (variant->shared) give(mine, ring[place]);
        }
        size_t at = atomic_fetch_add(&mine->next, variant->staging);
        if (at >= all) {
            for (int rest = 1; rest < n && turn - rest >= 0; rest++) {
                int left = ring[(turn - rest) % n];
                await(mine->events[left]);
                if (variant->shared) give(mine, left);
            }
            break;
        }
        if (variant->shared) staging = take(mine);
        ring[place] = staging;
        char *into = mine->arenas[variant->kind] + (variant->staging + 16 * KIB) * (size_t)staging;
        if (pread(file, into, variant->staging, (off_t)at) != (ssize_t)variant->staging) fail("pread: %m");
        CUstream stream = mine->streams[variant->one ? 0 : thread];
        CUDA(cuMemcpyHtoDAsync_v2(mine->memory + at, into, variant->staging, stream));
        CUDA(cuEventRecord(mine->events[staging], stream));
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void run(Variant *one, int round) {
    pthread_t threads[MOST_THREADS];
    variant = one;
    int count = one->threads * gpus;
    for (int i = 0; i < gpus; i++) {
        gpu[i].next = 0;
        for (gpu[i].frees = 0; gpu[i].frees < one->threads * one->each; gpu[i].frees++) gpu[i].free[gpu[i].frees] = gpu[i].frees;
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, fill, (void *)(intptr_t)i);
    pthread_barrier_wait(&barrier);
    int64_t cpu = cpu_nanos(), start = now_nanos();
    pthread_barrier_wait(&barrier);
    double seconds = (double)(now_nanos() - start) / 1e9, bytes = (double)all * gpus;
    int64_t used = cpu_nanos() - cpu;
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    if (round < 0) return;
    one->rates[round] = bytes / 1e9 / seconds;
    one->costs[round] = (double)used / 1e9 / (bytes / (1 << 30));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void say(Variant *one, int rounds) {
    qsort(one->rates, (size_t)rounds, sizeof(double), by_size);
    qsort(one->costs, (size_t)rounds, sizeof(double), by_size);
    printf("%2d threads each, %d staging buffers of %4zu KiB, %-15s, %-6s, %-10s, %-5s: %5.1f (%.1f-%.1f) GB/s, %.3f CPU s/GiB, %llu words wrong\n",
           one->threads, one->each, one->staging / KIB, kinds[one->kind], one->shared ? "any" : "own", one->one ? "one stream" : "streams",
           one->polls ? "polls" : "waits", one->rates[rounds / 2], one->rates[0], one->rates[rounds - 1], one->costs[rounds / 2],
           (unsigned long long)one->wrong);
}

static void make(const char *path) {
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (size_t at = 0; at < all; at += ARENA) {
        size_t part = all - at < ARENA ? all - at : ARENA;
        gpu_fill(gpu[0].memory, part, at);
        CUDA(cuMemcpyDtoHAsync_v2(gpu[0].arenas[0], gpu[0].memory, part, NULL));
        CUDA(cuStreamSynchronize(NULL));
        for (size_t done = 0; done < part;) {
            ssize_t more = file < 0 ? -1 : write(file, gpu[0].arenas[0] + done, part - done);
            if (more <= 0) fail("%s: %m", path);
            done += (size_t)more;
        }
    }
}

static char *mapped(int advice) {
    char *memory = mmap(NULL, ARENA + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap: %m");
    memory = (char *)(((uintptr_t)memory + 2 * MIB - 1) & -(uintptr_t)(2 * MIB));
    madvise(memory, ARENA, advice);
    memset(memory, 0, ARENA);
    CUDA(cuMemHostRegister_v2(memory, ARENA, REGISTERED_PORTABLE));
    return memory;
}

static void show(const char *path) {
    char line[256];
    FILE *known = fopen(path, "r");
    if (known && fgets(line, sizeof line, known)) printf("%s: %s", path, line);
    if (known) fclose(known);
}

int main(int count, char **arguments) {
    static Variant variants[400];
    static const struct { int threads, kib, each; } sizes[] = {{8, 1024, 2}, {12, 1024, 2}, {12, 1024, 3}, {8, 2048, 2}, {8, 2048, 3}, {12, 2048, 3}};
    int rounds = count == 5 ? atoi(arguments[3]) : 0, made = 0;
    gpus = count == 5 ? atoi(arguments[4]) : 0;
    if (rounds < 1 || rounds > MOST_ROUNDS || gpus < 1 || gpus > MOST_GPUS) fail("several FILE MIB ROUNDS GPUS");
    all = strtoull(arguments[2], NULL, 10) * MIB;
    if (all == 0 || all % (8 * MIB)) fail("%s MiB: a multiple of 8", arguments[2]);
    show("/sys/kernel/mm/transparent_hugepage/enabled");
    gpu_open();
    for (int g = 0; g < gpus; g++) {
        gpu_enter_device(g);
        pthread_mutex_init(&gpu[g].lock, NULL);
        CUDA(cuMemAlloc_v2(&gpu[g].memory, all));
        CUDA(cuMemHostAlloc((void **)&gpu[g].arenas[0], ARENA, 0));
        gpu[g].arenas[1] = mapped(MADV_NOHUGEPAGE);
        gpu[g].arenas[2] = mapped(MADV_HUGEPAGE);
        for (int i = 0; i < MOST_BUFFERS; i++) {
            CUDA(cuStreamCreate(&gpu[g].streams[i], CU_STREAM_NON_BLOCKING));
            CUDA(cuEventCreate(&gpu[g].events[i], CU_EVENT_DISABLE_TIMING));
        }
    }
    gpu_enter();
    make(arguments[1]);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int way = 0; way < KINDS * 4; way++)
            variants[made++] = (Variant){.threads = sizes[s].threads, .staging = (size_t)sizes[s].kib * KIB, .each = sizes[s].each,
                    .kind = way / 4, .shared = way / 2 % 2, .one = way % 2};
    for (int one = 0; one < 2; one++)
        variants[made++] = (Variant){.threads = 12, .staging = MIB, .each = 2, .one = one, .polls = 1};
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < made; i++) run(&variants[i], round);
    for (int i = 0; i < made; i++) {
        run(&variants[i], -1);
        for (int g = 0; g < gpus; g++) {
            gpu_enter_device(g);
            variants[i].wrong += gpu_differences(gpu[g].memory, all, 0);
        }
        gpu_enter();
        say(&variants[i], rounds);
    }
    unlink(arguments[1]);
    return 0;
}
