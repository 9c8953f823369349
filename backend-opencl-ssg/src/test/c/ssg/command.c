// SPDX-License-Identifier: Apache-2.0
/*
 * Commands of this layer in the order of the application's queues. A marker below, or the last barrier, says when what a
 * command stands behind is over; gates say to those below when a command is.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "ssg.h"

/* The loader does not report an event that ends with an error: it must be polled. */
enum { LOOK_MILLIS = 1, MILLIS_TO_STOP = 10000 };

static pthread_mutex_t wake_lock = PTHREAD_MUTEX_INITIALIZER; /* the last of all locks: callbacks from below take it */
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static unsigned long wakes;
static struct command *arrived;
static unsigned long numbers;
static int dispatching;

void wake(void) {
    pthread_mutex_lock(&wake_lock);
    wakes++;
    pthread_cond_signal(&woken);
    pthread_mutex_unlock(&wake_lock);
}

unsigned long commands_numbered(void) {
    return __atomic_load_n(&numbers, __ATOMIC_RELAXED);
}

static void CL_CALLBACK event_over(cl_event event, cl_int status, void *with) {
    (void)event;
    (void)status;
    (void)with;
    wake();
}

static cl_int status_of(cl_event event) {
    cl_int status = CL_COMPLETE;
    below.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status;
}

/*
 * What has ended did so before it was seen to. The library below may let a status be read without a lock, so this one, which
 * command_finish takes before it reports the end, publishes what the command has written.
 */
static void acquire(void) {
    pthread_mutex_lock(&wake_lock);
    pthread_mutex_unlock(&wake_lock);
}

/* 1: it can run, or has failed; 0: not yet. */
static int can_run(struct command *command) {
    LOCK();
    int flushed = command->number < command->queue->flushed;
    UNLOCK();
    if (!flushed && flush_needed()) return 0;
    if (command->start && status_of(command->start) > CL_COMPLETE) return 0;
    int pending = 0;
    for (cl_uint i = 0; i < command->wait_count; i++) {
        cl_int status = status_of(command->waits[i]);
        pending |= status > CL_COMPLETE;
        if (status < CL_COMPLETE) command->failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    if (pending && !(command->failed && property("fails_early", 0))) return 0;
    acquire();
    return command->failed || !command->ready || command->ready(command);
}

static struct command *take_arrived(struct command *waiting) {
    struct command *taken = arrived;
    arrived = NULL;
    while (taken) {
        struct command *next = taken->next;
        taken->next = waiting;
        waiting = taken;
        taken = next;
    }
    return waiting;
}

static struct command *start_what_can(struct command *waiting) {
    struct command *left = NULL;
    for (struct command *command = waiting, *next; command; command = next) {
        next = command->next;
        int stops = stopping();
        if (stops) command->failed = CL_OUT_OF_RESOURCES;
        if (stops || can_run(command)) {
            worker_post(command);
        } else {
            command->next = left;
            left = command;
        }
    }
    return left;
}

static void *dispatch(void *nothing) {
    (void)nothing;
    struct command *waiting = NULL;
    unsigned long seen = 0;
    for (;;) {
        pthread_mutex_lock(&wake_lock);
        struct timespec until = in_millis(LOOK_MILLIS);
        while (wakes == seen && !arrived) {
            if (!waiting) pthread_cond_wait(&woken, &wake_lock);
            else if (pthread_cond_timedwait(&woken, &wake_lock, &until) == ETIMEDOUT) break;
        }
        seen = wakes;
        waiting = take_arrived(waiting);
        pthread_mutex_unlock(&wake_lock);
        waiting = start_what_can(waiting);
    }
    return NULL;
}

static void post(struct command *command) {
    pthread_mutex_lock(&wake_lock);
    command->next = arrived;
    arrived = command;
    if (!dispatching) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, dispatch, NULL)) abort();
        pthread_detach(thread);
        dispatching = 1;
    }
    pthread_cond_signal(&woken);
    pthread_mutex_unlock(&wake_lock);
}

cl_int wait_list_check(const char *function, struct queue *queue, cl_uint count, const cl_event *list) {
    if (!count != !list) return refuse(function, CL_INVALID_EVENT_WAIT_LIST, "%u events in list %p", count, (void *)list);
    for (cl_uint i = 0; i < count; i++) {
        LOCK();
        struct event *event = object_get(EVENTS, list[i]);
        int same = event && (!queue || event->context == queue->context);
        UNLOCK();
        if (!event) return refuse(function, CL_INVALID_EVENT_WAIT_LIST, "event %u is none", i);
        if (!same) return refuse(function, CL_INVALID_CONTEXT, "event %u is of another context", i);
    }
    return CL_SUCCESS;
}

struct command *command_new(const char *function, cl_uint type, struct queue *queue, struct buffer *buffer) {
    struct command *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->function = function;
    made->type = type;
    made->queue = queue;
    made->buffer = buffer;
    LOCK();
    pin(queue);
    use(buffer);
    UNLOCK();
    made->memory = buffer->object.handle;
    below.clRetainMemObject(made->memory);
    made->own = own_new(type, queue->object.handle);
    live("operations", 1);
    return made;
}

static void watch(cl_event event) {
    below.clSetEventCallback(event, CL_COMPLETE, event_over, NULL);
}

static void place_in_queue(struct command *command) {
    cl_command_queue queue = command->queue->object.handle;
    if (command->queue->ordered) {
        if (below.clEnqueueMarkerWithWaitList(queue, 0, NULL, &command->start)) abort();
    } else {
        LOCK();
        command->start = command->queue->barrier;
        if (command->start) below.clRetainEvent(command->start);
        UNLOCK();
    }
    gate_enter(command);
}

cl_int command_enqueue(struct command *command, cl_uint count, const cl_event *list, int blocking, cl_event *event) {
    cl_int result;
    struct own *own = command->own;
    command->wait_count = count;
    command->waits = calloc(count + 1, sizeof *command->waits);
    if (!command->waits) abort();
    place_in_queue(command);
    for (cl_uint i = 0; i < count; i++) {
        command->waits[i] = list[i];
        below.clRetainEvent(list[i]);
        watch(list[i]);
    }
    if (command->start) watch(command->start);
    if (event && !(*event = own_event(own, command->queue->context, &result))) abort();
    own_hold(own);
    command->number = __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED);
    /* A command that waits for nothing needs no waiter thread. */
    cl_command_queue queue = command->queue->object.handle;
    if (!command->start && !count && !command->ready && !flush_needed()) worker_post(command);
    else post(command);
    if (blocking) {
        flush_queue(queue);
        own_wait(own);
    }
    own_release(own);
    return CL_SUCCESS;
}

void command_finish(struct command *command, cl_int status) {
    /* Nothing of the application's is in use any more when it learns that. */
    if (command->ended) command->ended(command);
    if (command->file) unuse(command->file);
    unuse(command->buffer);
    wake(); /* before its end can be seen: acquire() */
    own_status(command->own, status);
    gate_leave(command);
    wake();
    if (command->start) below.clReleaseEvent(command->start);
    for (cl_uint i = 0; i < command->wait_count; i++) below.clReleaseEvent(command->waits[i]);
    below.clReleaseMemObject(command->memory);
    own_release(command->own);
    unpin(command->queue);
    free(command->waits);
    free(command->extra);
    free(command);
    live("operations", -1);
}

/* Commands that wait for what will not come fail. */
void commands_reset(void) {
    wake();
    if (fake_await_live("operations", 0, MILLIS_TO_STOP)) complain("commands do not end");
}
