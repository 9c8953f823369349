// SPDX-License-Identifier: Apache-2.0
/*
 * A device on the PCIe bus, played by a thread: it does what the test tells it, one thing after another, and knows nothing
 * but bus addresses. "device" is the name of its operations for fake_delay, fake_hold and fake_release.
 */
#include <stdlib.h>
#include <string.h>

#include "ssg.h"

struct order {
    uint64_t address;
    size_t size; /* 0: a signal */
    uint32_t value;
    struct order *next;
    char bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ordered = PTHREAD_COND_INITIALIZER;
static struct order *first, *last;
static int works;
static uint64_t memories[64]; /* of its own */
static int memory_count;

static void write_data(const struct order *order) {
    LOCK();
    char *to = bus_bytes(order->address, order->size);
    if (to) memcpy(to, order->bytes, order->size);
    UNLOCK();
    if (!to)
        complain("the device writes %zu bytes to bus address 0x%llx, where nothing is", order->size,
                 (unsigned long long)order->address);
}

static void *play(void *nothing) {
    (void)nothing;
    for (unsigned long number = 0;; number++) {
        pthread_mutex_lock(&lock);
        while (!first) pthread_cond_wait(&ordered, &lock);
        struct order *order = first;
        first = order->next;
        if (!first) last = NULL;
        pthread_mutex_unlock(&lock);
        carry_out("device");
        jitter(number);
        if (order->size) write_data(order);
        else signal_write("device", order->address, order->value);
        free(order);
        live("device_operations", -1);
    }
    return NULL;
}

static void post(struct order *order) {
    live("device_operations", 1);
    pthread_mutex_lock(&lock);
    if (last) last->next = order;
    else first = order;
    last = order;
    if (!works) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, play, NULL)) abort();
        pthread_detach(thread);
        works = 1;
    }
    pthread_cond_signal(&ordered);
    pthread_mutex_unlock(&lock);
}

static struct order *order_new(unsigned long address, size_t size) {
    struct order *made = calloc(1, sizeof *made + size);
    if (!made) abort();
    made->address = address;
    made->size = size;
    return made;
}

/* The device writes so many bytes, which are copied now, to an address on the bus; later, and in this order. */
EXPORT void fake_device_write(unsigned long address, const void *bytes, unsigned long size) {
    struct order *order = order_new(address, size);
    memcpy(order->bytes, bytes, size);
    post(order);
}

/* The device writes a marker; later, and in this order. */
EXPORT void fake_device_signal(unsigned long address, unsigned value) {
    struct order *order = order_new(address, 0);
    order->value = value;
    post(order);
}

/* Memory of the device that others may write to: its bus address. It ends with the next reset. */
EXPORT unsigned long fake_device_memory(unsigned long size) {
    LOCK();
    if (memory_count == sizeof memories / sizeof *memories) abort();
    uint64_t address = memories[memory_count++] = bus_memory(size);
    UNLOCK();
    return address;
}

/* Looks at memory on the bus: 0, or -1 if there is none. */
EXPORT int fake_device_look(unsigned long address, void *to, unsigned long size) {
    LOCK();
    char *bytes = bus_bytes(address, size);
    if (bytes) memcpy(to, bytes, size);
    UNLOCK();
    return bytes ? 0 : -1;
}

void device_reset(void) {
    enum { MILLIS_TO_STOP = 10000 };
    if (fake_await_live("device_operations", 0, MILLIS_TO_STOP)) complain("the device does not come to an end");
    LOCK();
    while (memory_count) bus_memory_end(memories[--memory_count]);
    UNLOCK();
}
