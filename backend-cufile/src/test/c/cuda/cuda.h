// SPDX-License-Identifier: Apache-2.0
/*
 * The fake of libcuda.so.1: names and numbers of the driver's ABI, and what its parts know of each other. Device memory
 * is a reservation of addresses without access, with a shadow that only the fake knows; streams are threads.
 */
#ifndef PENSTOCK_CUDA_H
#define PENSTOCK_CUDA_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "control.h"
#include "../handles.h"

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext, *CUstream, *CUevent, *CUmodule, *CUfunction;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NOT_MAPPED_HERE = 205, /* CUDA_ERROR_MAP_FAILED; the system's headers have that name */
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    CONTEXT_IS_DESTROYED = 709,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    PEER_ACCESS_UNSUPPORTED = 217,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
};

enum { DEVICES = 8 };
enum { CONTEXT = 1, STREAM, EVENT, MODULE, FUNCTION };

struct context {
    CUcontext handle;
    int device;
    int primary; /* how often it is retained; a created one has 0 */
    unsigned flags;
    int dead;
    CUresult sticky; /* what an operation of this context broke: all calls answer it from now on */
    struct stream *legacy;
    int peers[DEVICES]; /* whose memory its streams may read without the host */
    struct context *next;
};

/* Device memory. */
struct allocation {
    uint64_t base;
    size_t size;
    struct context *context;
    int using;      /* operations that are not over */
    int registered; /* with cuFile */
    int freed;      /* while it was used: goes with its last use */
    unsigned long id;
    int exported;          /* a handle of it was given out */
    struct import *import; /* of another process */
    struct allocation *next;
};

/* Host memory that the device can reach. */
struct pinned {
    char *base;
    size_t size;
    int registered; /* or allocated */
    int read_only;
    char *snapshot; /* what a device reads of a read-only mapping of a file */
    struct context *context;
    int using;
    int freed;
    struct pinned *next;
};

/* A block of memory as the fake sees it. Pageable host memory has neither owner. */
struct span {
    char *bytes;
    struct allocation *allocation;
    struct pinned *pinned;
};

struct op;

struct stream {
    CUstream handle;
    struct context *context;
    unsigned flags;
    int priority;
    int destroyed;
    int registered; /* with cuFile */
    int working;    /* its thread lives */
    uint64_t issued, done;
    struct op *head, *tail;
    pthread_cond_t work;
    struct stream *next;
};

struct copy {
    struct span to, from;
    size_t size;
};

/* One operation of a stream. */
struct op {
    const char *function;
    void (*run)(struct op *op);  /* without the lock */
    int internal;                /* no function of the vendor's: not held, not delayed */
    struct stream *stream;
    struct copy *copies;         /* what it touches */
    size_t copy_count;
    int illegal;                 /* touches memory that is not there */
    void *object;                /* what run needs */
    void *extra;
    uint64_t number;
    unsigned flags;
    struct op *next;
};

struct event {
    CUevent handle;
    struct context *context;
    unsigned flags;
    uint64_t recorded, reached; /* the number of records, and the last that a stream has passed */
    struct timespec when;
    struct event *next;
};

/* Guards all of this. */
extern pthread_mutex_t cuda_lock;
/* Broadcast when an operation has ended. */
extern pthread_cond_t cuda_progress;
#define LOCK() pthread_mutex_lock(&cuda_lock)
#define UNLOCK() pthread_mutex_unlock(&cuda_lock)

/* At the head of each function: counts the call, fails as ordered, waits where told to. */
#define CALLED(answers_late)                                            \
    do {                                                                \
        struct answer answer_;                                          \
        if (called(__func__, &answer_)) return (CUresult)answer_.code;  \
        if (!(answers_late)) carry_out(__func__);                       \
    } while (0)
#define AT_ONCE 0
#define IN_STREAM 1
#define REQUIRE(condition, otherwise) \
    do {                              \
        if (!(condition)) return otherwise; \
    } while (0)

/* device.c */
CUresult need_init(void);
int device_count(void);
void device_uuid(int device, char *uuid);

/* context.c; with the lock. */
CUresult need_context(const char *function, struct context **context);
struct context *current_context(void);
void contexts_reset(void);
int host_function_running(void);
void host_function(int running);

/* memory.c; with the lock. */
struct arena {
    char *addresses; /* without access */
    char *shadow;
    int memory; /* the file behind the shadow */
    size_t used;
};
/* Behind the bytes of all its memory an arena has a word for each handle, and locks of those that have it open. */
enum { ARENA_BITS = 35, IPC_RECORDS = 1 << 16 };
extern struct arena arenas[DEVICES];
struct allocation *allocation_at(uint64_t address);
int device_of_address(uint64_t address);
/* Resolves a block of memory; false if it is device memory that is not there or ends too early. */
struct allocation *place(int device, size_t size);
char *shadow(uint64_t address);
int resolve(uint64_t address, size_t size, struct span *span);
void use(const struct span *span, int more);
void allocation_free(struct allocation *allocation);
long allocations_of(const struct context *context, int end);
void memory_reset(void);

/* compiled.c: kernels compiled for the processor; with the lock. */
struct compiled_kernel {
    void *function;
    void *index; /* of the thread that runs, one per thread of the processor */
    int parameters;
};
void *compiled_open(const char *text);
void compiled_close(void *library);
int compiled_find(void *library, const char *name, struct compiled_kernel *kernel);
struct op *compiled_op(const struct compiled_kernel *kernel, uint64_t threads, void **parameters);

/* host.c; with the lock. */
extern struct pinned *pinned_memory;
struct pinned *pinned_at(const char *address);
void pinned_free(struct pinned *pinned);
void host_reset(void);

/* export.c; with the lock. */
void exports_check(const struct allocation *allocation);
void exports_reset(void);

/* ipc.c; with the lock. */
void ipc_freed(const struct allocation *allocation);
void ipc_unmap(struct allocation *import);

/* stream.c; with the lock. */
CUresult stream_of(CUstream handle, const char *function, struct stream **stream);
struct op *op_new(const char *function, void (*run)(struct op *op));
uint64_t enqueue(struct stream *stream, struct op *op);
void stream_wait(struct stream *stream, uint64_t number);
long streams_of(const struct context *context, int end);
void streams_drain(const struct context *context);
int streams_reset(void);

/* event.c */
void events_reset(void);

/* copy.c; with the lock. */
CUresult copy_enqueue(const char *function, struct stream *stream, struct copy *copies, size_t count, int wait);

/* memop.c; with the lock. */
struct op *host_op(const char *function, void (*run)(void *), void *with, int internal);

/* module.c; with the lock. */
void modules_reset(void);

#endif
