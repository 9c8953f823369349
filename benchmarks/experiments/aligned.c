// SPDX-License-Identifier: Apache-2.0
// What pread of a file in the page cache takes, by the offsets of file and memory within their pages.
//   gcc -O2 -o aligned benchmarks/experiments/aligned.c && ./aligned FILE    (of at least 128 MiB; it is read first)
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 2 << 20, CHUNKS = 60, ROUNDS = 9 };

static const int offsets[][2] = {{0, 0}, {8, 0}, {8, 8}, {2048, 0}, {4032, 0}, {4064, 0}, {4080, 0}, {4080, 48}, {4088, 0}, {4088, 48}, {4095, 0}, {4095, 48}};
enum { VARIANTS = sizeof offsets / sizeof *offsets };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int less(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rate(int file, char *memory, int variant) {
    double start = now();
    long done = 0;
    for (int k = 0; k < CHUNKS; k++) {
        done += pread(file, memory + (long)(k % 3) * CHUNK + offsets[variant][1], CHUNK, (long)k * CHUNK + offsets[variant][0]);
    }
    return done / (now() - start) / 1e9;
}

int main(int count, char **arguments) {
    int file = count == 2 ? open(arguments[1], O_RDONLY) : -1;
    char *memory = aligned_alloc(CHUNK, 4L * CHUNK);
    static double rates[VARIANTS][ROUNDS];
    if (file < 0 || memory == NULL) {
        fprintf(stderr, "aligned FILE\n");
        return 2;
    }
    memset(memory, 1, 4L * CHUNK);
    rate(file, memory, 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int variant = 0; variant < VARIANTS; variant++) {
            rates[variant][round] = rate(file, memory, variant);
        }
    }
    for (int variant = 0; variant < VARIANTS; variant++) {
        qsort(rates[variant], ROUNDS, sizeof(double), less);
        printf("file %4d, memory %4d: %5.2f GB/s (%.2f to %.2f)\n", offsets[variant][0], offsets[variant][1], rates[variant][ROUNDS / 2], rates[variant][0],
               rates[variant][ROUNDS - 1]);
    }
    return 0;
}
