// SPDX-License-Identifier: Apache-2.0
/* What the application holds: handles that are valid, and how often it holds each. */
#include <stdlib.h>

#include "ssg.h"

enum { BUCKETS = 4096 };

pthread_mutex_t ssg_lock = PTHREAD_MUTEX_INITIALIZER;

static struct object *buckets[BUCKETS];
static unsigned generation; /* what lived before a reset is not counted after it */
static const char *const NAMES[KINDS] = {"contexts", "queues", "buffers", "images", "events", "files"};

static struct object **place(const void *handle) {
    return &buckets[((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15u >> 52];
}

void *object_new(enum kind kind, void *handle, size_t size) {
    struct object *made = calloc(1, size);
    if (!made) abort();
    made->kind = kind;
    made->handle = handle;
    made->references = 1;
    made->generation = generation;
    made->next = *place(handle);
    *place(handle) = made;
    live(NAMES[kind], 1);
    return made;
}

void *object_get(enum kind kind, const void *handle) {
    for (struct object *object = *place(handle); object; object = object->next)
        if (object->handle == handle && object->kind == kind) return object;
    return NULL;
}

void pin(void *object) {
    ((struct object *)object)->pins++;
}

static void end_unless_needed(struct object *object, int needed) {
    UNLOCK();
    if (needed) return;
    if (object->end) object->end(object);
    free(object);
}

void unpin(void *of) {
    struct object *object = of;
    LOCK();
    object->pins--;
    end_unless_needed(object, object->references || object->pins);
}

void use(void *of) {
    struct object *object = of;
    object->uses++;
    object->pins++;
}

void unuse(void *of) {
    LOCK();
    ((struct object *)of)->uses--;
    UNLOCK();
    unpin(of);
}

int counted(const void *object) {
    return ((const struct object *)object)->generation == generation;
}

int object_retain(enum kind kind, void *handle, const char *function) {
    LOCK();
    struct object *object = object_get(kind, handle);
    if (object) object->references++;
    UNLOCK();
    if (!object) complain("%s: the application holds no such object", function);
    return object ? 0 : -1;
}

int object_release(enum kind kind, void *handle, const char *function) {
    LOCK();
    struct object *object = object_get(kind, handle);
    if (!object) {
        UNLOCK();
        complain("%s: the application holds no such object", function);
        return -1;
    }
    if (--object->references) {
        UNLOCK();
        return 0;
    }
    /* The handle may come again as soon as the library below has released it. */
    struct object **at = place(handle);
    while (*at != object) at = &(*at)->next;
    *at = object->next;
    if (counted(object)) live(NAMES[kind], -1);
    int in_use = object->uses > 0;
    end_unless_needed(object, object->pins > 0);
    if (in_use) complain("%s: one of the %s is let go while a command uses it", function, NAMES[kind]);
    return 0;
}

/* How often the application holds an object of any kind; 0: not at all. */
EXPORT long fake_references(const void *handle) {
    long references = 0;
    LOCK();
    for (enum kind kind = 0; kind < KINDS && !references; kind++) {
        struct object *object = object_get(kind, handle);
        if (object) references = object->references;
    }
    UNLOCK();
    return references;
}

void registry_reset(void) {
    LOCK();
    generation++;
    UNLOCK();
}
