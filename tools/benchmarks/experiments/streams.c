// SPDX-License-Identifier: Apache-2.0
// What cuFileReadAsync leaves in GPU memory when several streams read, and which condition makes the difference:
//   c=tools/benchmarks/src/main/c; gcc -O2 -I$c -o streams tools/benchmarks/experiments/streams.c $c/gpu.c -ldl && ./streams /tmp/file 1024
// The file is made (second argument: MiB). A line for each way: wrong 64 KiB blocks after all streams were synchronized,
// again a second later, and what the wrong ones hold: poison (never written), the file's bytes of another place, or a mix.
#include "gpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 64 << 10, WORDS = BLOCK / 8, MOST_STREAMS = 32, UNREGISTERED = -1, SHOWN = 4 };

typedef struct {
    const char *what;
    int streams;
    size_t chunk;
    size_t depth; // operations that a stream has at once; 0: all
    int flags;    // of cuFileStreamRegister, or UNREGISTERED
    int buffer;   // whether the memory is registered
    int offset;   // whether the pointer is that of the memory and an offset says where; else the pointer says it
    int apart;    // the file by a descriptor and a handle for each stream
} Variant;

typedef struct {
    size_t bytes;
    off_t at, into;
    ssize_t done;
} Cells;

static CUdeviceptr memory;
static size_t all;
static uint64_t *host;
static CUfileHandle_t handles[MOST_STREAMS];
static CUfileError_t (*deregister)(const void *);
static uint64_t poison = 0x5555555555555555ull;

// The offset of which a word is, or -1: the inverse of word().
static int64_t offset_of(uint64_t mixed) {
    uint64_t inverse[2] = {0x319642b2d24d8ec3ull, 0x96de1b173f119089ull};
    mixed ^= mixed >> 31 ^ mixed >> 62;
    mixed *= inverse[0];
    mixed ^= mixed >> 27 ^ mixed >> 54;
    mixed *= inverse[1];
    uint64_t offset = mixed - 0x9E3779B97F4A7C15ull;
    return offset < all && offset % 8 == 0 ? (int64_t)offset : -1;
}

static void back(void) {
    CUDA(cuMemcpyDtoHAsync_v2(host, memory, all, NULL));
    CUDA(cuStreamSynchronize(NULL));
}

static size_t wrong_blocks(void) {
    size_t wrong = 0;
    back();
    for (size_t block = 0; block < all / BLOCK; block++) {
        int bad = 0;
        for (size_t i = block * WORDS; i < (block + 1) * WORDS; i++) bad |= host[i] != word(8 * i);
        wrong += (size_t)bad;
    }
    return wrong;
}

static void classify(size_t chunk) {
    size_t unwritten = 0, elsewhere = 0, mixed = 0, shown = 0;
    for (size_t block = 0; block < all / BLOCK; block++) {
        const uint64_t *words = host + block * WORDS;
        size_t right = 0, poisoned = 0, moved = 0;
        int64_t from = offset_of(words[0]);
        for (size_t i = 0; i < WORDS; i++) {
            right += words[i] == word(block * BLOCK + 8 * i);
            poisoned += words[i] == poison;
            moved += from >= 0 && offset_of(words[i]) == from + (int64_t)(8 * i);
        }
        if (right == WORDS) continue;
        unwritten += poisoned == WORDS;
        elsewhere += moved == WORDS;
        mixed += poisoned != WORDS && moved != WORDS;
        if (shown++ < SHOWN) {
            printf("    at %zu (chunk %zu + %zu): %zu right, %zu poison, first word of offset %lld (chunk %lld)\n", block * BLOCK,
                   block * BLOCK / chunk, block * BLOCK % chunk, right, poisoned, (long long)from,
                   from < 0 ? -1 : (long long)(from / (int64_t)chunk));
        }
    }
    printf("    blocks: %zu never written, %zu of another place, %zu mixed\n", unwritten, elsewhere, mixed);
}

static void run(const Variant *variant) {
    CUstream streams[MOST_STREAMS];
    size_t count = all / variant->chunk;
    Cells *cells = calloc(count, sizeof *cells);
    for (size_t i = 0; i < all / 8; i++) host[i] = poison;
    CUDA(cuMemcpyHtoDAsync_v2(memory, host, all, NULL));
    CUDA(cuStreamSynchronize(NULL));
    if (variant->buffer) CUFILE(cuFileBufRegister((void *)(uintptr_t)memory, all, 0));
    for (int i = 0; i < variant->streams; i++) {
        CUDA(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        if (variant->flags != UNREGISTERED) CUFILE(cuFileStreamRegister(streams[i], (unsigned)variant->flags));
    }
    int64_t start = now_nanos();
    for (size_t i = 0; i < count; i++) {
        size_t line = i % (size_t)variant->streams, at = i * variant->chunk;
        if (variant->depth && i / (size_t)variant->streams >= variant->depth && i / (size_t)variant->streams % variant->depth == 0)
            CUDA(cuStreamSynchronize(streams[line]));
        cells[i] = (Cells){variant->chunk, (off_t)at, variant->offset ? (off_t)at : 0, 0};
        CUFILE(cuFileReadAsync(handles[variant->apart ? line : 0], (void *)(uintptr_t)(memory + (variant->offset ? 0 : at)),
                &cells[i].bytes, &cells[i].at, &cells[i].into, &cells[i].done, streams[line]));
    }
    for (int i = 0; i < variant->streams; i++) CUDA(cuStreamSynchronize(streams[i]));
    double seconds = (double)(now_nanos() - start) / 1e9;
    size_t shortened = 0;
    for (size_t i = 0; i < count; i++) shortened += cells[i].done != (ssize_t)variant->chunk;
    size_t wrong = wrong_blocks();
    sleep(1);
    size_t later = wrong_blocks();
    printf("%-44s %2d streams, %2zu MiB, %2zu deep, flags %2d: %5.2f GB/s, %zu counts wrong, %zu blocks wrong, %zu later\n",
           variant->what, variant->streams, variant->chunk >> 20, variant->depth, variant->flags, (double)all / 1e9 / seconds, shortened, wrong, later);
    if (later) classify(variant->chunk);
    for (int i = 0; i < variant->streams; i++) {
        if (variant->flags != UNREGISTERED) CUFILE(cuFileStreamDeregister(streams[i]));
        CUDA(cuStreamDestroy_v2(streams[i]));
    }
    if (variant->buffer) CUFILE(deregister((void *)(uintptr_t)memory));
    free(cells);
    fflush(stdout);
}

static void make(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (size_t i = 0; i < all / 8; i++) host[i] = word(8 * i);
    for (size_t done = 0; done < all;) {
        ssize_t more = fd < 0 ? -1 : write(fd, (char *)host + done, all - done);
        if (more <= 0) fail("%s: %m", path);
        done += (size_t)more;
    }
    close(fd);
}

int main(int count, char **arguments) {
    enum { MIB = 1 << 20 };
    if (count != 3) fail("streams FILE MIB");
    all = strtoull(arguments[2], NULL, 10) * MIB;
    gpu_open();
    cufile_load();
    CUDA(cuMemAlloc_v2(&memory, all));
    CUDA(cuMemHostAlloc((void **)&host, all, 0));
    make(arguments[1]);
    CUFILE(cuFileDriverOpen());
    deregister = (CUfileError_t(*)(const void *))cufile_symbol("cuFileBufDeregister");
    for (int i = 0; i < MOST_STREAMS; i++) {
        CUfileDescr_t description = {.type = 1, .handle.fd = open(arguments[1], O_RDONLY)};
        CUFILE(cuFileHandleRegister(&handles[i], &description));
    }
    const Variant variants[] = {
        {"as the peer did", 4, 16 * MIB, 0, 15, 1, 1, 0},
        {"as the peer did", 16, 16 * MIB, 0, 15, 1, 1, 0},
        {"one stream", 1, 16 * MIB, 0, 15, 1, 1, 0},
        {"two streams", 2, 16 * MIB, 0, 15, 1, 1, 0},
        {"two at a time in each", 4, 16 * MIB, 2, 15, 1, 1, 0},
        {"one at a time in each", 4, 16 * MIB, 1, 15, 1, 1, 0},
        {"smaller", 4, 4 * MIB, 0, 15, 1, 1, 0},
        {"smaller still", 4, 1 * MIB, 0, 15, 1, 1, 0},
        {"streams not registered", 4, 16 * MIB, 0, UNREGISTERED, 1, 1, 0},
        {"nothing known before", 4, 16 * MIB, 0, 0, 1, 1, 0},
        {"all known, not aligned", 4, 16 * MIB, 0, 7, 1, 1, 0},
        {"memory not registered", 4, 16 * MIB, 0, 15, 0, 1, 0},
        {"pointer says where", 4, 16 * MIB, 0, 15, 0, 0, 0},
        {"registered, pointer says where", 4, 16 * MIB, 0, 15, 1, 0, 0},
        {"registered, pointer says where", 16, 4 * MIB, 2, 15, 1, 0, 0},
        {"a handle for each stream", 4, 16 * MIB, 0, 15, 1, 1, 1},
        {"as Penstock does it", 8, 4 * MIB, 2, 15, 0, 0, 0},
        {"as Penstock does it", 16, 4 * MIB, 2, 7, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) run(&variants[i]);
    _exit(0);
}
