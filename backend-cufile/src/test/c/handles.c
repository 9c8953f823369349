// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include <stdint.h>
#include <stdlib.h>

/* Low addresses, where no memory lies: who takes a handle for a pointer crashes. Each library has a range of its own. */
#ifndef HANDLES_FROM
#define HANDLES_FROM 0x1000
#endif
#define FIRST ((uintptr_t)HANDLES_FROM)
#define STEP ((uintptr_t)0x10)

struct entry {
    int kind;
    void *object;
};

static struct entry *entries;
static uintptr_t count, capacity;

static struct entry *entry(const void *handle, int kind) {
    uintptr_t at = (uintptr_t)handle;
    if (at < FIRST || at % STEP || (at - FIRST) / STEP >= count) return NULL;
    struct entry *found = &entries[(at - FIRST) / STEP];
    return found->kind == kind ? found : NULL;
}

void *handle_new(int kind, void *object) {
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 256;
        entries = realloc(entries, capacity * sizeof *entries);
        if (!entries) abort();
    }
    entries[count] = (struct entry){kind, object};
    return (void *)(FIRST + STEP * count++);
}

void *handle_get(const void *handle, int kind) {
    struct entry *found = entry(handle, kind);
    return found ? found->object : NULL;
}

int handle_ended(const void *handle, int kind) {
    struct entry *found = entry(handle, kind);
    return found && !found->object;
}

void handle_end(const void *handle) {
    uintptr_t at = ((uintptr_t)handle - FIRST) / STEP;
    if (at >= count) abort();
    entries[at].object = NULL;
}

void handle_each(int kind, void (*visit)(void *object, void *with), void *with) {
    for (uintptr_t i = 0; i < count; i++)
        if (entries[i].kind == kind && entries[i].object) visit(entries[i].object, with);
}

void handles_end(int kind) {
    for (uintptr_t i = 0; i < count; i++)
        if (entries[i].kind == kind) entries[i].object = NULL;
}
