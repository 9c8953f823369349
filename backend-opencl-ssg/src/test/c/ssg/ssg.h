// SPDX-License-Identifier: Apache-2.0
/*
 * The fake of AMD's OpenCL driver for Radeon Pro SSG: a layer above any other OpenCL. It is written from AMD's "Solid
 * State Graphics API User Manual" (chapters 3-5, below: "the manual") and the extension cl_amd_bus_addressable_memory.
 *
 * Unarmed (property "armed" is 0) it only counts what the application holds. Armed, its properties say what the machine
 * is; a test sets them, or SSG_FAKE in the environment ("armed=1 block_size=4096 delay:clEnqueueReadSsgFileAMD=1000"):
 *   extension       1: the strings name cl_amd_liquid_flash (the string is no proof either way)
 *   functions       1: its functions are found
 *   ssg_device      1: the context's device is an SSG; 0: no file object can be made
 *   manual_codes    0: a file that cannot be opened is CL_INVALID_VALUE, as in the runtime; 1: as in the manual
 *   flush           1: no command starts before its queue is flushed
 *   read_write      0: CL_FILE_READ_WRITE_AMD is refused, as the manual says; 1: it is accepted, as in the runtime
 *   block_size      512
 *   growth_seen     0: a file object knows the size that the file had when it was opened; 1: the size that it has
 *   grows           0: a file stays as long as it is; 1: a write behind its end lengthens it by whole blocks
 *   persistent_heap bytes of persistent memory, 128 MiB
 *   gma             1: there is cl_amd_bus_addressable_memory
 *   gma_heap        bytes that can be resident, 96 MiB
 *   gma_eager       1: clCreateBuffer fails for lack of room; 0: clEnqueueMakeBuffersResidentAMD does
 *   marker_offset   where in its page the marker of a resident buffer lies, 0
 *   p2p             0; 1: there is clEnqueueCopyBufferP2PAMD
 *   ends_behind_a_look  1: the next status that is not terminal is returned, and then all reads end
 *   fails_early     1: a command fails at the first event of its list that does; 0: when all of them have ended
 *   seed, jitter    each operation takes up to so many microseconds longer, by the seed; 0: none
 */
#ifndef PENSTOCK_SSG_H
#define PENSTOCK_SSG_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "amd.h"
#include "control.h"

/* What lies below this layer; what it answers with. */
extern cl_icd_dispatch below, layer;

extern pthread_mutex_t ssg_lock;
#define LOCK() pthread_mutex_lock(&ssg_lock)
#define UNLOCK() pthread_mutex_unlock(&ssg_lock)

/* A call that fails because a test ordered so. */
#define ORDERED_AS(name)                                             \
    do {                                                             \
        struct answer ordered;                                       \
        if (called(name, &ordered)) return (cl_int)ordered.code;     \
    } while (0)
#define ORDERED() ORDERED_AS(__func__)

/* registry.c: what the application holds. With the lock, but for those that say so. */
enum kind { CONTEXTS, QUEUES, BUFFERS, IMAGES, EVENTS, FILES, KINDS };

struct object {
    enum kind kind;
    void *handle;
    long references; /* of the application */
    long pins;       /* of commands, and of objects that need this one */
    long uses;       /* of commands that have not ended, which the application must wait for */
    unsigned generation;
    void (*end)(struct object *object); /* without the lock, when the last reference is gone */
    struct object *next;
};

struct context {
    struct object object;
};

struct command;
struct queue {
    struct object object;
    struct context *context; /* pinned */
    cl_device_id device;
    int ordered;
    struct command *pending; /* of this layer */
    cl_event barrier;       /* the last of a queue that is not ordered, or null */
    cl_command_queue inner; /* moves data beside the application's queue */
    unsigned long flushed;  /* commands of this layer with a lower number go to the device */
};

struct bus;
struct map;
struct buffer {
    struct object object;
    struct context *context; /* pinned */
    struct buffer *parent;   /* of a sub-buffer; pinned */
    cl_mem_flags flags;      /* as the application gave them */
    size_t size;
    char *storage;     /* the device's copy of the bytes; null: below */
    char *host;        /* the host's: the application's (CL_MEM_USE_HOST_PTR), or ours from the first map on */
    size_t persistent; /* bytes that it has of the persistent heap */
    int referenced;    /* the device has touched it */
    struct bus *bus;   /* of memory on the bus, else null */
    size_t origin;     /* of a sub-buffer */
    struct map *maps;  /* what the application has mapped */
};

struct event {
    struct object object;
    struct context *context; /* pinned */
    struct own *own;         /* of commands of this layer, else null */
};

void *object_new(enum kind kind, void *handle, size_t size);
void *object_get(enum kind kind, const void *handle);
void pin(void *object);
void use(void *object);
/* Without the lock. */
void unpin(void *object);
void unuse(void *object);
/* Without the lock: 0, or -1 if there is no such object, which is a complaint. */
int object_retain(enum kind kind, void *handle, const char *function);
int object_release(enum kind kind, void *handle, const char *function);
/* It was made after the last reset. */
int counted(const void *object);
void registry_reset(void);

/* What is wrong with a call, if anything. */
struct finding {
    cl_int code;
    const char *message;
};

/* journal.c: what the fake said no to. Without the lock. Answers the code. */
cl_int refuse(const char *function, cl_int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
void journal_reset(void);

/* layer.c: answers a question about an object. */
cl_int give(const void *value, size_t size, size_t room, void *to, size_t *needed);

/* counted.c, enqueued.c, buffer.c, event.c: what the layer answers itself. */
void counted_dispatch(void);
void enqueued_dispatch(void);
void buffer_dispatch(void);
void event_dispatch(void);
/* A new event of the application's; without the lock. */
void event_born(cl_event event, struct context *context);
/* A buffer has been made below. */
void buffer_born(cl_mem made, cl_context context, cl_mem_flags flags, size_t size, char *storage, void *host,
                 struct bus *bus);
/* The device has touched a buffer. */
void buffer_referenced(cl_mem memory);
void heap_reset(void);

/* file.c */
struct file {
    struct object object;
    int descriptor;
    int reads, writes;
    cl_uint block;
    uint64_t size; /* when it was opened */
};
cl_int file_read(const struct file *file, char *to, size_t size, uint64_t offset);
cl_int file_write(const struct file *file, const char *from, size_t size, uint64_t offset);

/* command.c: commands of this layer, in the order of the application's queues. Without the lock. */
struct command {
    const char *function;
    cl_uint type;
    struct queue *queue;                  /* pinned */
    struct buffer *buffer;                /* in use */
    cl_int (*run)(struct command *self);  /* answers the event's status */
    int (*ready)(struct command *self);   /* what else it waits for, or null */
    void (*ended)(struct command *self);  /* releases its own resources, before its end can be seen */
    int write;
    struct file *file; /* in use */
    size_t buffer_offset, other_offset, size;
    uint64_t file_offset, marker;
    uint32_t value;
    void *extra; /* freed with the command */
    /* gate.c's. */
    struct hold *holds;
    struct command *before, *behind;
    /* The rest is command.c's. */
    cl_mem memory;
    cl_event start, *waits;
    cl_uint wait_count;
    struct own *own;
    unsigned long number;
    cl_int failed;
    struct command *next;
};
/* Checks a wait list as the runtime does, of the queue's context or, without a queue, of any; without the lock. */
cl_int wait_list_check(const char *function, struct queue *queue, cl_uint count, const cl_event *list);
/* The command, zeroed but for these. */
struct command *command_new(const char *function, cl_uint type, struct queue *queue, struct buffer *buffer);
cl_int command_enqueue(struct command *command, cl_uint count, const cl_event *list, int blocking, cl_event *event);
/* Something happened that a command may wait for. */
void wake(void);
/* Commands so far. */
unsigned long commands_numbered(void);
void commands_reset(void);

/* gate.c: what stands behind commands in a queue waits for them. Without the lock. */
void gate_enter(struct command *command);
void gate_leave(struct command *command);
/* What comes next to this queue waits for all that stands before it. */
void gate_here(cl_command_queue queue);

/* worker.c */
void worker_post(struct command *command);
/* Takes a time that the seed makes of a number. */
void jitter(unsigned long number);
/* command.c, for workers. */
void command_finish(struct command *command, cl_int status);

/* event.c: what is known of a command's event, and shared by the command and the event. */
struct own *own_new(cl_uint type, cl_command_queue queue);
cl_event own_event(struct own *own, struct context *context, cl_int *result);
void own_status(struct own *own, cl_int status);
cl_int own_wait(struct own *own);
void own_hold(struct own *own);
void own_release(struct own *own);

/* storage.c: buffers whose bytes are ours. Without the lock. */
cl_mem storage_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, char **storage, cl_int *result);
cl_mem_flags storage_flags(cl_mem_flags flags);
void storage_end_with(cl_mem memory, char *bytes, size_t size);

/* view.c: bytes of a buffer that a command may read or write. */
struct view {
    char *bytes;
    struct queue *queue;
    cl_mem memory, copy; /* the second is ours, or null where the first's bytes can be reached */
    size_t offset, size;
    int write;
};
cl_int view_open(struct view *view, struct queue *queue, const struct buffer *buffer, cl_mem memory);
void view_close(struct view *view);
/* Memory of the application's is still there. */
int is_mapped(const char *at, size_t size);

/* bus.c: memory that has a bus address. With the lock, but for bus_reset. */
struct bus {
    uint64_t surface, marker;
    size_t size;
    char *bytes; /* of the surface; a mapping of the buffer's own */
    int owned;   /* other devices write to it; else it is another device's */
    int resident, on_heap;
};
size_t page_size(void);
size_t whole_pages(size_t size);
struct bus *bus_addressable(size_t size);
struct bus *bus_external(uint64_t surface, uint64_t marker, size_t size);
void bus_end(struct bus *bus, int is_counted);
int bus_take_of_heap(struct bus *bus);
uint64_t bus_memory(size_t size);
void bus_memory_end(uint64_t address);
char *bus_bytes(uint64_t address, size_t size);
void bus_reset(void);

/* bus-buffer.c: clCreateBuffer of memory on the bus. */
cl_int bus_buffer_check(cl_mem_flags flags, size_t size, const void *host);
cl_mem bus_buffer(cl_context context, cl_mem_flags flags, size_t size, const void *host, cl_int *result);
/* Another device's memory is only written to. */
void expect_no_external(const char *function, cl_mem memory);

/* signal.c: 0, or -1 if there is no such marker. Without the lock. */
int signal_write(const char *who, uint64_t address, uint32_t value);

/* map.c: of buffers with storage. maps_forget with the lock; the others without it. */
void *map_buffer(cl_command_queue queue, struct buffer *buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                 size_t size, cl_uint count, const cl_event *list, cl_event *event, cl_int *result);
cl_int unmap_buffer(cl_command_queue queue, struct buffer *buffer, const void *at, cl_uint count, const cl_event *list,
                    cl_event *event);
void maps_forget(struct buffer *buffer);
void expect_unmapped(const char *function, struct buffer *buffer, size_t offset, size_t size, int writes);

/* flush.c. Without the lock. */
int flush_needed(void);
/* What commands below wait for until the queue is flushed; the caller's to release. */
cl_event flush_event(cl_command_queue queue, cl_context context);
void flush_queue(cl_command_queue queue);
void flush_reset(void);

/* plain.c: orders for commands of the library below. Without the lock. */
struct plain {
    cl_event gate, flush, *list;
};
/* The list of what a command waits for, made longer where it is not to start yet. */
const cl_event *plain_begin(struct plain *plain, const char *function, cl_command_queue queue, cl_bool blocking,
                            cl_uint *count, const cl_event *list);
void plain_end(struct plain *plain);
/* True if the command is to fail: then the event is another one, which belongs to the application already. */
int plain_fails(const char *function, struct context *context, cl_command_queue queue, cl_event *event);

void device_reset(void);

/* settings.c */
void settings_read(void);

#endif
