// SPDX-License-Identifier: Apache-2.0
/*
 * Events. Those of this layer's commands are user events below, and look like any other command's event from above: they
 * have a type, a queue, all states, times, and callbacks that are called for failures too.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ssg.h"

typedef void(CL_CALLBACK *callback_fn)(cl_event, cl_int, void *);

struct callback {
    callback_fn function;
    void *with;
    cl_int from;
    struct callback *next;
};

struct own {
    long references;
    cl_event event;
    cl_uint type;
    cl_command_queue queue;
    int profiled;
    cl_int status;
    cl_ulong times[CL_QUEUED + 1]; /* by status */
    struct callback *callbacks;
};

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t own_ended = PTHREAD_COND_INITIALIZER;

static cl_ulong now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (cl_ulong)time.tv_sec * 1000000000 + (cl_ulong)time.tv_nsec;
}

struct own *own_new(cl_uint type, cl_command_queue queue) {
    cl_command_queue_properties properties = 0;
    below.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    struct own *own = calloc(1, sizeof *own);
    if (!own) abort();
    own->references = 1;
    own->type = type;
    own->queue = queue;
    own->profiled = !!(properties & CL_QUEUE_PROFILING_ENABLE);
    own->status = CL_QUEUED;
    own->times[CL_QUEUED] = now();
    return own;
}

void own_hold(struct own *own) {
    pthread_mutex_lock(&own_lock);
    own->references++;
    pthread_mutex_unlock(&own_lock);
}

void own_release(struct own *own) {
    pthread_mutex_lock(&own_lock);
    long left = --own->references;
    pthread_mutex_unlock(&own_lock);
    if (left) return;
    for (struct callback *callback = own->callbacks, *next; callback; callback = next) {
        next = callback->next;
        free(callback);
    }
    free(own);
}

static void event_ends(struct object *object) {
    struct event *event = (struct event *)object;
    if (event->own) own_release(event->own);
    unpin(event->context);
}

static void event_register(cl_event handle, struct context *context, struct own *own) {
    LOCK();
    struct event *event = object_new(EVENTS, handle, sizeof *event);
    event->object.end = event_ends;
    event->context = context;
    event->own = own;
    pin(context);
    UNLOCK();
}

void event_born(cl_event event, struct context *context) {
    event_register(event, context, NULL);
}

cl_event own_event(struct own *own, struct context *context, cl_int *result) {
    cl_event event = below.clCreateUserEvent(context->object.handle, result);
    if (!event) return NULL;
    /* Once more for the command: the application may let go of it at any time. */
    below.clRetainEvent(event);
    own->event = event;
    own_hold(own);
    event_register(event, context, own);
    return event;
}

/* Takes the callbacks that are due out of the list. */
static struct callback *due(struct own *own) {
    struct callback *taken = NULL, **at = &own->callbacks;
    while (*at) {
        struct callback *callback = *at;
        if (own->status > callback->from) {
            at = &callback->next;
            continue;
        }
        *at = callback->next;
        callback->next = taken;
        taken = callback;
    }
    return taken;
}

static void tell(cl_event event, cl_int status, struct callback *callbacks) {
    for (struct callback *callback = callbacks, *next; callback; callback = next) {
        next = callback->next;
        callback->function(event, status < CL_COMPLETE ? status : callback->from, callback->with);
        free(callback);
    }
}

void own_status(struct own *own, cl_int status) {
    pthread_mutex_lock(&own_lock);
    own->status = status;
    own->times[status > CL_COMPLETE ? status : CL_COMPLETE] = now();
    struct callback *callbacks = due(own);
    cl_event event = own->event;
    if (status <= CL_COMPLETE) own->event = NULL;
    pthread_cond_broadcast(&own_ended);
    pthread_mutex_unlock(&own_lock);
    if (event && status <= CL_COMPLETE) below.clSetUserEventStatus(event, status);
    tell(event, status, callbacks);
    if (event && status <= CL_COMPLETE) below.clReleaseEvent(event);
}

cl_int own_wait(struct own *own) {
    pthread_mutex_lock(&own_lock);
    while (own->status > CL_COMPLETE) pthread_cond_wait(&own_ended, &own_lock);
    cl_int status = own->status;
    pthread_mutex_unlock(&own_lock);
    return status;
}

/* The command behind an event, for as long as it is released again; null for events from below. */
static struct own *own_of(cl_event handle) {
    LOCK();
    struct event *event = object_get(EVENTS, handle);
    struct own *own = event ? event->own : NULL;
    if (own) own_hold(own);
    UNLOCK();
    return own;
}

static cl_int CL_API_CALL event_info(cl_event handle, cl_event_info what, size_t room, void *to, size_t *needed) {
    ORDERED_AS("clGetEventInfo");
    struct own *own = own_of(handle);
    if (!own) return below.clGetEventInfo(handle, what, room, to, needed);
    pthread_mutex_lock(&own_lock);
    cl_int status = own->status;
    pthread_mutex_unlock(&own_lock);
    if (status > CL_COMPLETE && property("ends_behind_a_look", 0)) {
        fake_set("ends_behind_a_look", 0);
        fake_release("clEnqueueReadSsgFileAMD");
        fake_await_live("operations", 0, 10000);
    }
    cl_int result;
    if (what == CL_EVENT_COMMAND_TYPE) result = give(&own->type, sizeof own->type, room, to, needed);
    else if (what == CL_EVENT_COMMAND_QUEUE) result = give(&own->queue, sizeof own->queue, room, to, needed);
    else if (what == CL_EVENT_COMMAND_EXECUTION_STATUS) result = give(&status, sizeof status, room, to, needed);
    else result = below.clGetEventInfo(handle, what, room, to, needed);
    own_release(own);
    return result;
}

static cl_int CL_API_CALL profiling_info(
        cl_event handle, cl_profiling_info what, size_t room, void *to, size_t *needed) {
    struct own *own = own_of(handle);
    if (!own) return below.clGetEventProfilingInfo(handle, what, room, to, needed);
    pthread_mutex_lock(&own_lock);
    /* The names of the times are numbered in the order of the states that they end. */
    cl_ulong number = what == CL_PROFILING_COMMAND_COMPLETE ? CL_COMPLETE : CL_QUEUED - (what - CL_PROFILING_COMMAND_QUEUED);
    int known = own->profiled && own->status == CL_COMPLETE;
    cl_ulong time = number <= CL_QUEUED ? own->times[number] : 0;
    pthread_mutex_unlock(&own_lock);
    cl_int result = CL_PROFILING_INFO_NOT_AVAILABLE;
    if (number > CL_QUEUED) result = CL_INVALID_VALUE;
    else if (known) result = give(&time, sizeof time, room, to, needed);
    own_release(own);
    return result;
}

static cl_int CL_API_CALL set_callback(cl_event handle, cl_int from, callback_fn function, void *with) {
    ORDERED_AS("clSetEventCallback");
    struct own *own = own_of(handle);
    if (!own) return below.clSetEventCallback(handle, from, function, with);
    cl_int result = function && from >= CL_COMPLETE && from <= CL_SUBMITTED ? CL_SUCCESS : CL_INVALID_VALUE;
    if (!result) {
        struct callback *made = calloc(1, sizeof *made);
        if (!made) abort();
        *made = (struct callback){function, with, from, NULL};
        pthread_mutex_lock(&own_lock);
        made->next = own->callbacks;
        own->callbacks = made;
        struct callback *callbacks = due(own);
        cl_int status = own->status;
        pthread_mutex_unlock(&own_lock);
        tell(handle, status, callbacks);
    }
    own_release(own);
    return result;
}

static cl_int CL_API_CALL set_status(cl_event handle, cl_int status) {
    ORDERED_AS("clSetUserEventStatus");
    struct own *own = own_of(handle);
    if (!own) {
        cl_int result = below.clSetUserEventStatus(handle, status);
        wake();
        return result;
    }
    own_release(own);
    return refuse("clSetUserEventStatus", CL_INVALID_EVENT, "the event of a command is not the application's to end");
}

static cl_event CL_API_CALL create_user_event(cl_context context, cl_int *result) {
    struct answer ordered;
    if (called("clCreateUserEvent", &ordered)) {
        if (result) *result = (cl_int)ordered.code;
        return NULL;
    }
    LOCK();
    struct context *of = object_get(CONTEXTS, context);
    if (of) pin(of);
    UNLOCK();
    if (!of) {
        if (result) *result = refuse("clCreateUserEvent", CL_INVALID_CONTEXT, "no such context");
        return NULL;
    }
    cl_event made = below.clCreateUserEvent(context, result);
    if (made) event_born(made, of);
    unpin(of);
    return made;
}

static cl_int CL_API_CALL retain_event(cl_event event) {
    ORDERED_AS("clRetainEvent");
    if (object_retain(EVENTS, event, "clRetainEvent")) return CL_INVALID_EVENT;
    return below.clRetainEvent(event);
}

static cl_int CL_API_CALL release_event(cl_event event) {
    ORDERED_AS("clReleaseEvent");
    if (object_release(EVENTS, event, "clReleaseEvent")) return CL_INVALID_EVENT;
    return below.clReleaseEvent(event);
}

static cl_command_queue queue_of(cl_event event) {
    cl_command_queue queue = NULL;
    struct own *own = own_of(event);
    if (own) {
        queue = own->queue;
        own_release(own);
    } else if (below.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL)) {
        return NULL;
    }
    return queue;
}

static cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event *events) {
    ORDERED_AS("clWaitForEvents");
    for (cl_uint i = 0; events && i < count; i++) {
        cl_command_queue queue = queue_of(events[i]);
        if (queue) flush_queue(queue);
    }
    return below.clWaitForEvents(count, events);
}

static cl_int CL_API_CALL flush(cl_command_queue queue) {
    ORDERED_AS("clFlush");
    flush_queue(queue);
    return below.clFlush(queue);
}

static cl_int CL_API_CALL finish(cl_command_queue queue) {
    ORDERED_AS("clFinish");
    flush_queue(queue);
    gate_here(queue);
    return below.clFinish(queue);
}

void event_dispatch(void) {
    layer.clGetEventInfo = event_info;
    layer.clGetEventProfilingInfo = profiling_info;
    layer.clSetEventCallback = set_callback;
    layer.clSetUserEventStatus = set_status;
    layer.clCreateUserEvent = create_user_event;
    layer.clRetainEvent = retain_event;
    layer.clReleaseEvent = release_event;
    layer.clWaitForEvents = wait_for_events;
    layer.clFlush = flush;
    layer.clFinish = finish;
}
