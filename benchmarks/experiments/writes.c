// SPDX-License-Identifier: Apache-2.0
// What makes a file's writes past the page cache faster: threads, sizes, order, whether its blocks are there before, and the
// pages of the memory that is written. READ=1 in the environment: the same of reads, of those ways that make sense.
//   gcc -O2 -pthread -o writes benchmarks/experiments/writes.c && ./writes /tmp/file 1024 7
// The file is made (second argument: MiB; the third: rounds), and removed. All ways run once in each round, in an order
// that is turned round after each. A line for each: GB/s and processor seconds per GiB as median (least-most), and the
// median of the rates against the first way's in the same round.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { fprintf(stderr, "%s: %s\n", #x, strerror(errno)); exit(1); } } while (0)
enum { MOST_THREADS = 64, MOST_ROUNDS = 64, HUGE_PAGE = 2 << 20 };
typedef enum { WRITTEN, RESERVED, SPARSE, EMPTY } State;
static const char *const STATES[] = {"", ", reserved by fallocate", ", of holes, at its length", ", empty: each write may lengthen it"};
typedef struct {
    int threads;
    size_t kib;     // by one call
    int apart;      // each thread has a part of the file; else all take the next segment from a counter
    State before;
    int split;      // into so many calls of a staging buffer, one after another
    int flags;      // of pwritev2
    int at_once;    // 0: no more than there are threads; else they take turns
    int huge;       // the memory lies in huge pages, so that a request to the disk may be as large as the disk allows
} Variant;
static const Variant WAYS[] = {
    {4, 4096, 0, WRITTEN, 1, 0, 0, 0}, {1, 4096, 0, WRITTEN, 1, 0, 0, 0}, {2, 4096, 0, WRITTEN, 1, 0, 0, 0}, {8, 4096, 0, WRITTEN, 1, 0, 0, 0}, {16, 4096, 0, WRITTEN, 1, 0, 0, 0},
    {8, 4096, 0, WRITTEN, 1, 0, 4, 0}, {8, 4096, 0, WRITTEN, 1, 0, 2, 0}, {8, 4096, 0, WRITTEN, 4, 0, 0, 0}, {4, 4096, 0, WRITTEN, 4, 0, 0, 0},
    {4, 1024, 0, WRITTEN, 1, 0, 0, 0}, {8, 1024, 0, WRITTEN, 1, 0, 0, 0}, {4, 2048, 0, WRITTEN, 1, 0, 0, 0}, {8, 2048, 0, WRITTEN, 1, 0, 0, 0}, {4, 16384, 0, WRITTEN, 1, 0, 0, 0}, {8, 16384, 0, WRITTEN, 1, 0, 0, 0},
    {1, 4096, 0, WRITTEN, 1, 0, 0, 1}, {2, 4096, 0, WRITTEN, 1, 0, 0, 1}, {4, 4096, 0, WRITTEN, 1, 0, 0, 1}, {8, 4096, 0, WRITTEN, 1, 0, 0, 1},
    {16, 4096, 0, WRITTEN, 1, 0, 0, 1}, {8, 4096, 0, WRITTEN, 1, 0, 4, 1}, {4, 1024, 0, WRITTEN, 1, 0, 0, 1}, {8, 1024, 0, WRITTEN, 1, 0, 0, 1},
    {4, 4096, 1, WRITTEN, 1, 0, 0, 0}, {8, 4096, 1, WRITTEN, 1, 0, 0, 0},
    {8, 4096, 0, WRITTEN, 1, RWF_HIPRI, 0, 0},
    {4, 4096, 0, RESERVED, 1, 0, 0, 0}, {8, 4096, 0, RESERVED, 1, 0, 0, 0}, {4, 4096, 0, SPARSE, 1, 0, 0, 0}, {8, 4096, 0, SPARSE, 1, 0, 0, 0}, {4, 4096, 0, EMPTY, 1, 0, 0, 0}, {8, 4096, 0, EMPTY, 1, 0, 0, 0},
};
enum { COUNT = sizeof WAYS / sizeof *WAYS };

static const Variant *variant;
static int file;
static size_t all;
static atomic_size_t next;
static pthread_barrier_t barrier;
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int writing, reads;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void admit(int delta) {
    if (variant->at_once == 0) return;
    pthread_mutex_lock(&turns);
    while (delta > 0 && writing == variant->at_once) pthread_cond_wait(&turn, &turns);
    writing += delta;
    pthread_mutex_unlock(&turns);
    if (delta < 0) pthread_cond_signal(&turn);
}

static void *writer(void *argument) {
    size_t segment = variant->kib << 10, part = all / (size_t)variant->threads, own = (size_t)(long)argument * part, end = own + part;
    size_t mapped = segment + HUGE_PAGE;
    char *map = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED);
    char *staging = (char *)(((uintptr_t)map + HUGE_PAGE - 1) & -(uintptr_t)HUGE_PAGE);
    CHECK(madvise(map, mapped, variant->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0);
    memset(staging, 7, segment);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (;;) {
        size_t at = variant->apart ? own : atomic_fetch_add(&next, segment);
        if (at >= (variant->apart ? end : all)) break;
        own += segment;
        admit(1);
        for (int i = 0; i < variant->split; i++) {
            size_t step = segment / (size_t)variant->split;
            struct iovec bytes = {staging + (size_t)i * step, step};
            off_t to = (off_t)(at + (size_t)i * step);
            CHECK((reads ? preadv2(file, &bytes, 1, to, variant->flags) : pwritev2(file, &bytes, 1, to, variant->flags)) == (ssize_t)step);
        }
        admit(-1);
    }
    pthread_barrier_wait(&barrier);
    munmap(map, mapped);
    return NULL;
}

static void prepare(State state) {
    if (state == WRITTEN) return;
    CHECK(ftruncate(file, 0) == 0);
    if (state == RESERVED) CHECK(fallocate(file, 0, 0, (off_t)all) == 0);
    if (state == SPARSE) CHECK(ftruncate(file, (off_t)all) == 0);
    CHECK(fsync(file) == 0);
}

static void run(double *rate, double *cost) {
    pthread_t threads[MOST_THREADS];
    prepare(variant->before);
    pthread_barrier_init(&barrier, NULL, (unsigned)variant->threads + 1);
    atomic_store(&next, 0);
    for (long i = 0; i < variant->threads; i++) CHECK(pthread_create(&threads[i], NULL, writer, (void *)i) == 0);
    pthread_barrier_wait(&barrier);
    double started = now(), spent = cpu();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    *rate = (double)all / (now() - started) / 1e9;
    *cost = (cpu() - spent) / ((double)all / (1 << 30));
    for (int i = 0; i < variant->threads; i++) pthread_join(threads[i], NULL);
}

static int ascending(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }
static double median(double *of, int count) { qsort(of, (size_t)count, sizeof *of, ascending); return of[count / 2]; }

int main(int argc, char **argv) {
    static double rate[COUNT][MOST_ROUNDS], cost[COUNT][MOST_ROUNDS], against[COUNT][MOST_ROUNDS];
    CHECK(argc >= 3);
    int rounds = argc > 3 ? atoi(argv[3]) : 7;
    CHECK(rounds > 0 && rounds <= MOST_ROUNDS);
    all = (size_t)atol(argv[2]) << 20;
    CHECK(all % (256 << 20) == 0); // every thread's part in segments of every size
    file = open(argv[1], O_RDWR | O_CREAT | O_DIRECT, 0600);
    CHECK(file >= 0);
    double unused[2];
    variant = &WAYS[0];
    run(&unused[0], &unused[1]); // so that its blocks are there
    reads = getenv("READ") != NULL;
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < COUNT; i++) {
            double r, c;
            int w = round & 1 ? COUNT - 1 - i : i;
            variant = &WAYS[w];
            if (reads && variant->before != WRITTEN) continue;
            run(&r, &c);
            if (round >= 0) rate[w][round] = r, cost[w][round] = c;
        }
    for (int w = 0; w < COUNT; w++)
        for (int round = 0; round < rounds; round++) against[w][round] = rate[w][round] / rate[0][round];
    for (int w = 0; w < COUNT; w++) {
        char at_once[32] = "";
        if (reads && WAYS[w].before != WRITTEN) continue;
        if (WAYS[w].at_once) snprintf(at_once, sizeof at_once, ", %d at once", WAYS[w].at_once);
        double r = median(rate[w], rounds), c = median(cost[w], rounds);
        printf("%2d threads%s, %5zu KiB%s%s%s%s%s: %.2f (%.2f-%.2f) GB/s, %.3f (%.3f-%.3f) CPU s/GiB, %.2f x\n", WAYS[w].threads, at_once,
                WAYS[w].kib / (size_t)WAYS[w].split, WAYS[w].split > 1 ? " after one another" : "", WAYS[w].huge ? ", huge pages" : "", WAYS[w].apart ? ", each a part of the file" : "",
                WAYS[w].flags ? ", RWF_HIPRI" : "", STATES[WAYS[w].before], r, rate[w][0], rate[w][rounds - 1], c, cost[w][0], cost[w][rounds - 1],
                median(against[w], rounds));
    }
    unlink(argv[1]);
    return 0;
}
