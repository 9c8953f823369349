// SPDX-License-Identifier: Apache-2.0
// The peers' paths for the test file: each leaves its bytes in GPU memory (or in the written file).
#ifndef PENSTOCK_PEERS_H
#define PENSTOCK_PEERS_H
#include "gpu.h"

// The parameters of an order.
typedef struct {
    const char *hot;     // the file to read
    const char *written; // the file to write
    size_t bytes;        // how many of them
    size_t chunk;        // by one call
    int threads;         // or streams, or entries of a batch
    int stagingBuffers;           // or operations in flight per stream
    int direct; // O_DIRECT
    int write;
    size_t blocks; // of a gather
    int timed;   // whether each operation is timed
    int64_t *times; // room for the nanoseconds of each, or NULL; 0 of those that cannot be told
    int devices;             // GPUs, each of which gets all bytes
    CUdeviceptr memory;      // of the first of them
    const CUdeviceptr *memories; // of all
    uint64_t base; // the written file holds the contents of the test file from here on
} Order;

// The result of a run.
typedef struct {
    size_t operations; // bytes, or blocks
    int64_t nanos;
    int64_t cpu_nanos;
    double median_nanos; // of each, if each was timed
} Outcome;

typedef struct Gang Gang;
typedef struct {
    const Order *order;
    Gang *gang;
    int index;
    int device; // its GPU
    int64_t *time; // of the part that it works at
    int64_t begun;
} Worker;

// Returns the length of the next part of an order; 0 at the end. The part before it has ended, and is timed so if the order
// is: not by a ring, whose part ends while others are read.
size_t next_part(Worker *worker, size_t *offset);
// The same for workers that take their parts in another way.
void part_begins(Worker *worker, size_t part);
void part_ended(Worker *worker);
// Workers call these once they are ready, and when their work is done: the time between counts.
void gang_begin(Worker *worker);
void gang_end(Worker *worker);
Outcome gang_run(const Order *order, void (*work)(Worker *), size_t operations);

// An opened file, kept until the process ends; truncates none.
int file_of(const char *path, int direct, int write);
// The same, registered with libcufile, whose driver is opened and whose buffer is registered at the first call.
CUfileHandle_t cufile_of(const Order *order);

Outcome host_to_device(const Order *order);   // the limit of the link
Outcome device_to_device(const Order *order); // from the first GPU to the second
Outcome pinned_loop(const Order *order);      // pread, copy, synchronize; or a ring of staging buffers
Outcome raw_disk(const Order *order);         // O_DIRECT to or from host memory, no GPU
Outcome cufile_calls(const Order *order);     // cuFileRead, cuFileWrite
Outcome cufile_batch(const Order *order);     // one batch, filled again as a whole
Outcome cufile_streams(const Order *order);   // cuFileReadAsync
Outcome gather_calls(const Order *order);     // a cuFileRead for each block
Outcome gather_batch(const Order *order);     // batches of blocks
Outcome bare_poll(const Order *order);        // a small copy, from its submission to the poll that sees it
Outcome gated_poll(const Order *order);       // a small copy, from when the device may start it to the poll that sees it
Outcome small_reads(const Order *order);      // pread, a small copy, and the poll

// Compares two times, for qsort.
int by_nanos(const void *a, const void *b);
// Offsets of the blocks of a gather: the same for every peer.
const int64_t *gather_offsets(const Order *order);

#endif
