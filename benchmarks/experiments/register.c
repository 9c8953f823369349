// SPDX-License-Identifier: Apache-2.0
// What registering an 8 GiB file in the page cache costs. gcc -O2 -pthread -o register register.c -ldl && ./register /tmp/hot 8192
// The file is made if it is not there (give a path on ext4). Second argument: MiB. No CUDA header needed.
// Columns: threads, segment, populate: GB/s of cuMemHostRegister, CPU s/GiB, ms of MADV_POPULATE_READ and of
// cuMemHostRegister summed over threads, the longest single call, then GB/s of unregistering.
// After that: what a read by 1..8 registrars + 1 copier comes to (copier follows in file order), and what copies from
// pinned memory get while another thread registers (does registering stop the copies?).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
typedef unsigned long long u64;
static int (*cuInit)(unsigned), (*cuDeviceGet)(int *, int), (*cuRetain)(void **, int), (*cuSet)(void *), (*cuAlloc)(u64 *, size_t),
    (*cuReg)(void *, size_t, unsigned), (*cuUnreg)(void *), (*cuHtoD)(u64, const void *, size_t, void *),
    (*cuStream)(void **, unsigned), (*cuSync)(void *), (*cuEvent)(void **, unsigned), (*cuRecord)(void *, void *),
    (*cuEventSync)(void *), (*cuHostAlloc)(void **, size_t, unsigned);
#define DO(x) do { int r_ = (x); if (r_) { fprintf(stderr, "%s -> %d\n", #x, r_); exit(1); } } while (0)
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) {
    struct rusage u; getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}
static void *context; static char *map; static size_t bytes, segment; static int populate;
static u64 gpu; static atomic_size_t next_segment; static atomic_int *ready; // per segment, 1 once registered
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static double pop_s, reg_s, worst; static int registering_on;
static size_t length(size_t i) { size_t at = i * segment; return bytes - at < segment ? bytes - at : segment; }
static void *registrar(void *unused) {
    double pops = 0, regs = 0, most = 0;
    DO(cuSet(context));
    for (size_t i; (i = atomic_fetch_add(&next_segment, 1)) * segment < bytes;) {
        double a = now();
        if (populate && madvise(map + i * segment, length(i), 22)) perror("MADV_POPULATE_READ");
        double b = now(); DO(cuReg(map + i * segment, length(i), 8)); double c = now();
        pops += b - a; regs += c - b; if (c - b > most) most = c - b;
        atomic_store(&ready[i], 1);
    }
    pthread_mutex_lock(&lock); pop_s += pops; reg_s += regs; if (most > worst) worst = most; pthread_mutex_unlock(&lock);
    return unused;
}
static void *copier(void *unused) { // in file order, as soon as a segment is there; at most 4 copies ahead
    void *stream, *events[4]; DO(cuSet(context)); DO(cuStream(&stream, 1));
    for (int i = 0; i < 4; i++) DO(cuEvent(&events[i], 2));
    for (size_t i = 0; i * segment < bytes; i++) {
        while (!atomic_load(&ready[i])) usleep(20);
        for (size_t at = 0; at < length(i); at += 8 << 20) {
            size_t some = length(i) - at < 8 << 20 ? length(i) - at : 8 << 20; static size_t n;
            DO(cuEventSync(events[n & 3])); DO(cuHtoD(gpu + i * segment + at, map + i * segment + at, some, stream));
            DO(cuRecord(events[n++ & 3], stream));
        }
    }
    DO(cuSync(stream)); return unused;
}
static void *background(void *pinned) { // copies from pinned memory for as long as the other thread registers
    void *stream; DO(cuSet(context)); DO(cuStream(&stream, 1)); double a = now(), longest = 0, most = 0; size_t moved = 0;
    while (__atomic_load_n(&registering_on, __ATOMIC_ACQUIRE)) {
        double b = now(); DO(cuHtoD(gpu, pinned, 16 << 20, stream)); double c = now(); DO(cuSync(stream));
        double d = now() - b; longest = d > longest ? d : longest; most = c - b > most ? c - b : most; moved += 16 << 20;
    }
    printf("   copies meanwhile %.1f GB/s, longest %.2f ms (its call %.2f ms)\n", moved / (now() - a) / 1e9, longest * 1e3, most * 1e3);
    return NULL;
}
static void one(int threads, size_t mib, int pop, int copies, void *pinned, int fd) {
    pthread_t t[16], copy; segment = mib << 20; populate = pop; pop_s = reg_s = worst = 0; atomic_store(&next_segment, 0);
    map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0); // a mapping of its own: no page table is filled yet
    size_t count = (bytes + segment - 1) / segment; ready = calloc(count, sizeof *ready); registering_on = 1;
    double c = cpu(), a = now();
    for (int i = 0; i < threads; i++) pthread_create(&t[i], NULL, registrar, NULL);
    if (copies) pthread_create(&copy, NULL, copies == 1 ? copier : background, pinned);
    for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
    double b = now(); __atomic_store_n(&registering_on, 0, __ATOMIC_RELEASE);
    if (copies) pthread_join(copy, NULL);
    double end = now(), used = cpu() - c;
    for (size_t i = 0; i < count; i++) DO(cuUnreg(map + i * segment));
    double gone = now(); munmap(map, bytes); free(ready);
    printf("%d x %4zu MiB %s%s: register %5.1f GB/s", threads, mib, pop ? "populated" : "as it is ", copies == 1 ? " + copy" : copies ? " + pinned copies" : "", bytes / (b - a) / 1e9);
    if (copies == 1) printf(", with the copy %5.1f GB/s", bytes / (end - a) / 1e9);
    printf(", %.3f CPU s/GiB, populate %.0f ms, register %.0f ms, longest %.1f ms; unregister %.1f GB/s\n", used / (bytes / 1073741824.0), pop_s * 1e3, reg_s * 1e3, worst * 1e3, bytes / (gone - end) / 1e9);
    fflush(stdout);
}
#define SYM(f, n) (*(void **)&f = dlsym(lib, n))
int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "/tmp/hot"; bytes = (size_t)(argc > 2 ? atol(argv[2]) : 8192) << 20;
    void *lib = dlopen(getenv("LIBCUDA") ? getenv("LIBCUDA") : "libcuda.so.1", RTLD_NOW), *pinned; int device;
    if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    SYM(cuInit, "cuInit"); SYM(cuDeviceGet, "cuDeviceGet"); SYM(cuRetain, "cuDevicePrimaryCtxRetain"); SYM(cuSet, "cuCtxSetCurrent");
    SYM(cuAlloc, "cuMemAlloc_v2"); SYM(cuReg, "cuMemHostRegister_v2"); SYM(cuUnreg, "cuMemHostUnregister"); SYM(cuHtoD, "cuMemcpyHtoDAsync_v2");
    SYM(cuStream, "cuStreamCreate"); SYM(cuSync, "cuStreamSynchronize"); SYM(cuEvent, "cuEventCreate"); SYM(cuRecord, "cuEventRecord");
    SYM(cuEventSync, "cuEventSynchronize"); SYM(cuHostAlloc, "cuMemHostAlloc");
    DO(cuInit(0)); DO(cuDeviceGet(&device, 0)); DO(cuRetain(&context, device)); DO(cuSet(context)); DO(cuAlloc(&gpu, bytes));
    DO(cuHostAlloc(&pinned, 16 << 20, 0)); memset(pinned, 1, 16 << 20);
    int fd = open(path, O_RDWR | O_CREAT, 0600); struct stat s; fstat(fd, &s); char *block = malloc(16 << 20); memset(block, 7, 16 << 20);
    for (size_t at = (size_t)s.st_size; at < bytes;) { ssize_t n = pwrite(fd, block, bytes - at < 16 << 20 ? bytes - at : 16 << 20, at); if (n <= 0) return perror("write"), 1; at += n; }
    fsync(fd); for (size_t at = 0; at < bytes; at += 16 << 20) if (pread(fd, block, 16 << 20, at) < 0) return perror("read"), 1;
    int threads[] = {1, 2, 4, 8}; size_t mib[] = {32, 128, 512};
    one(1, bytes >> 20, 0, 0, NULL, fd); one(1, bytes >> 20, 1, 0, NULL, fd);
    for (int pop = 0; pop < 2; pop++) for (int m = 0; m < 3; m++) for (int t = 0; t < 4; t++) one(threads[t], mib[m], pop, 0, NULL, fd);
    for (int pop = 0; pop < 2; pop++) for (int m = 0; m < 3; m++) for (int t = 0; t < 4; t++) one(threads[t], mib[m], pop, 1, NULL, fd);
    for (int m = 0; m < 3; m++) { one(1, mib[m], 1, 2, pinned, fd); one(4, mib[m], 1, 2, pinned, fd); }
    return 0;
}
