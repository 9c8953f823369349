// SPDX-License-Identifier: Apache-2.0
/*
 * The fake of libcufile.so.0, written from NVIDIA's best practices guide ("the guide"), the cuFile API reference ("the
 * reference") and what was seen on an H200. It reads and writes real files, into and out of the other fake's memory.
 *
 * Properties, with their defaults: udev 1 (0: no handle can be registered, as in a bare container), tmpfs 0 (1: files there
 * can), nvfs 0 (1: the kernel driver is there and aligned transfers go directly), p2p 0, compat 1 (0: no POSIX mode),
 * streams 1, bar_kb (of each GPU), max_batch_io_size 128, version 1150, short_seed 0 (else operations come short by
 * chance), batch_repeats 0 (1: each event of a batch comes once more, with a later poll), batch_pending 0 (1: a poll tells of
 * entries that have not ended too), batch_failure 0x40 (the status of an entry that fails).
 */
#ifndef PENSTOCK_CUFILE_H
#define PENSTOCK_CUFILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control.h"
#include "../cuda-fake.h"
#include "../handles.h"

/* CUfileOpError, less 5000. */
enum {
    OK = 0,
    DRIVER_NOT_INITIALIZED = 5001,
    UNSUPPORTED_LIMIT = 5003,
    IO_NOT_SUPPORTED = 5008,
    NVFS_DRIVER_ERROR = 5010,
    CUDA_DRIVER_ERROR = 5011,
    POINTER_INVALID = 5012,
    POINTER_RANGE = 5014,
    CONTEXT_MISMATCH = 5015,
    MAPPING_SIZE = 5016,
    FILE_TYPE = 5018,
    OPEN_FLAG = 5019,
    DIO_NOT_SET = 5020,
    INVALID = 5022,
    ALREADY_REGISTERED = 5023,
    MEMORY_NOT_REGISTERED = 5024,
    ALREADY_OPEN = 5026,
    HANDLE_NOT_REGISTERED = 5027,
    HANDLE_ALREADY_REGISTERED = 5028,
    INTERNAL = 5030,
    PINNING_FAILED = 5036,
    BATCH_FULL = 5037,
    ASYNC_NOT_SUPPORTED = 5038,
    BATCH_SUBMIT_ERROR = 5040,
    INVALID_CONTEXT = 5047,
};

enum { FILE_HANDLE = 1, BATCH_HANDLE };
enum { BLOCK = 4096, GPU_PAGE = 65536 };
enum opcode { READ = 0, WRITE = 1 };

typedef struct {
    int err;
    int cu_err;
} CUfileError_t;

struct file {
    void *handle;
    int fd;        /* the application's */
    int direct;    /* a second descriptor of the same opened file, with its flags */
    int posix;     /* opened anew without O_DIRECT */
    int batch;     /* opened by its name for batches, or -1 */
    int flags;
    int far;       /* on a disk that the kernel driver does not reach: its name begins with "far" */
    int gate;      /* the TCK's gate, which counts what it lets through by commands: nothing of it comes short */
    dev_t device;
    ino_t inode;
    int using;
    int ended;
    struct file *next;
};

struct buffer {
    uint64_t base;
    size_t size;
    int device; /* -1: host memory */
    int using;
    struct buffer *next;
};

/* One read or write, however it was asked for. */
struct io {
    const char *function;
    struct file *file;
    enum opcode opcode;
    uint64_t base;
    size_t size;
    off_t file_offset, buffer_offset;
};

/* Guards all of this. */
extern pthread_mutex_t cufile_lock;
/* Broadcast when an operation has ended. */
extern pthread_cond_t cufile_progress;
#define LOCK() pthread_mutex_lock(&cufile_lock)
#define UNLOCK() pthread_mutex_unlock(&cufile_lock)

#define RESULT(error) ((CUfileError_t){(error), 0})
#define CALLED(answers_late)                                                                                  \
    do {                                                                                                      \
        struct answer answer_;                                                                                \
        if (called(__func__, &answer_)) return (CUfileError_t){(int)answer_.code, (int)answer_.err};         \
        if (!(answers_late)) carry_out(__func__);                                                             \
    } while (0)
#define AT_ONCE 0
#define LATER 1
#define REQUIRE(condition, otherwise) \
    do {                              \
        if (!(condition)) return RESULT(otherwise); \
    } while (0)

/* driver.c; with the lock. */
int driver_open_count(void);
/* Opens the driver where the application has not, and complains. */
int driver_needed(const char *function);

/* parameters.c; with the lock. */
enum size_parameter {
    PROFILE_STATS, MAX_IO_QUEUE_DEPTH, MAX_IO_THREADS, MIN_IO_THRESHOLD_KB, MAX_REQUEST_PARALLELISM, MAX_DIRECT_IO_KB,
    MAX_DEVICE_CACHE_KB, PER_BUFFER_CACHE_KB, MAX_PINNED_KB, IO_BATCH_SIZE, POLL_THRESHOLD_KB, BATCH_TIMEOUT_MS,
    SIZE_PARAMETERS
};
enum bool_parameter {
    USE_POLL_MODE, ALLOW_COMPAT_MODE, FORCE_COMPAT_MODE, API_CHECK_AGGRESSIVE, PARALLEL_IO, PROFILE_NVTX,
    ALLOW_SYSTEM_MEMORY, USE_PCIP2PDMA, PREFER_IO_URING, FORCE_ODIRECT, SKIP_TOPOLOGY, STREAM_MEMOPS_BYPASS,
    BOOL_PARAMETERS
};
enum { SLABS = 3 };
void parameters_take(void); /* the driver opens */
void parameters_reset(void);
size_t size_parameter(enum size_parameter parameter);
bool bool_parameter(enum bool_parameter parameter);
void set_size_parameter(enum size_parameter parameter, size_t value);
void set_bool_parameter(enum bool_parameter parameter, bool value);
void slabs(size_t sizes_kb[SLABS], size_t counts[SLABS]);
int size_set(enum size_parameter parameter);
int bool_set(enum bool_parameter parameter);
void set_slabs(const size_t sizes_kb[SLABS], const size_t counts[SLABS]); /* unless they are set */
int direct_mode(void); /* the kernel driver is there, and compatibility mode is not forced */
int compat_allowed(void);

/* config.c; with the lock. Sets what the program has not. */
void config_take(void);

/* file.c; with the lock. */
struct file *file_of(const void *handle, const char *function);
void file_use(struct file *file, int more);
/* All transfers of the file go through host memory: no kernel driver, one that does not reach its disk, or no O_DIRECT. */
int file_is_posix(const struct file *file);
/* Opens the file by its name, for its first entry in a batch; false if nothing has that name any more. */
int file_for_batches(struct file *file);
long files_end(void);

/* buffer.c; with the lock. */
struct buffer *buffer_around(uint64_t address);
struct buffer *buffer_of(uint64_t base);
size_t registered_bytes(int device);
long buffers_end(void);

/* io.c; without the lock. What cuFileRead and cuFileWrite answer; errno is set where it is -1. */
ssize_t transfer(const struct io *io, int context_needed);

/* posix.c; without the lock. */
ssize_t read_file(const struct file *file, char *bytes, size_t size, off_t offset, int aligned);
/* As read_file, but memory stays as it is where the file has holes; these count all the same. */
ssize_t read_extents(const struct file *file, char *bytes, size_t size, off_t offset, int aligned);
ssize_t write_file(const struct file *file, const char *bytes, size_t size, off_t offset, int aligned);

/* batch.c and pool.c; with the lock. */
long batches_end(void);
void pool_reset(void);

/* async.c; with the lock. */
long async_end(void);

/* stats.c */
struct traffic {
    enum opcode opcode;
    int device;
    long result;
    long micros;
    int direct, unaligned, batch;
};
void count_traffic(const struct traffic *traffic);
enum counter { HANDLE_REGISTER, HANDLE_DEREGISTER, BUFFER_REGISTER, BUFFER_DEREGISTER, BATCH_SUBMIT, BATCH_COMPLETE,
               BATCH_SETUP, BATCH_CANCEL, BATCH_DESTROY, COUNTERS };
void count_call(enum counter counter, int failed);
void count_mapping(int device, size_t bytes, int more, int failed);
void stats_reset(void);

#endif
