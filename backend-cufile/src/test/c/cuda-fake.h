// SPDX-License-Identifier: Apache-2.0
/*
 * What the fake of libcufile asks the fake of libcuda, where the real one asks the kernel driver: the bytes behind a
 * device pointer, a place in a stream's order, and marks that make wrong tear-down visible.
 */
#ifndef PENSTOCK_CUDA_FAKE_H
#define PENSTOCK_CUDA_FAKE_H

#include <stddef.h>
#include <stdint.h>

enum memory { MEMORY_UNKNOWN = 0, MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_FREED = 3 };

struct memory_range {
    enum memory type;
    int device;
    uint64_t base; /* of the whole allocation */
    size_t size;   /* of the whole allocation */
    int inside;    /* the range that was asked for lies in the allocation */
    char *bytes;   /* of the range that was asked for, if inside */
};

/* Starts CUDA unless it is started, and returns a CUresult. */
int fake_cuda_init(void);
int fake_cuda_devices(void);
void fake_cuda_uuid(int device, char *uuid);
void fake_cuda_range(uint64_t address, size_t size, struct memory_range *range);
/* An operation of cuFile starts (1) or stops (-1) to use memory; for memory that CUDA does not know, nothing. */
void fake_cuda_use(uint64_t address, int more);
/* cuFile registers (1) or deregisters (-1) memory. */
void fake_cuda_registered(uint64_t address, int more);
/* The device of the caller's current context, or -1. */
int fake_cuda_current_device(void);
/* cuFile registers (1) or deregisters (-1) a stream, or asks (0): -1 if there is no such stream, else its device. */
int fake_cuda_stream(void *stream, int more);
/* Puts an operation into a stream's order; answers a CUresult. */
int fake_cuda_enqueue(void *stream, const char *function, void (*run)(void *), void *with);
/* Waits for all that the stream holds now. */
void fake_cuda_drain(void *stream);

#endif
