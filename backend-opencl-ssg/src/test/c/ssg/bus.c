// SPDX-License-Identifier: Apache-2.0
/*
 * Memory on the PCIe bus: buffers that other devices write to, buffers that are another device's memory, and the memory of
 * a device of the test's. All of it lies in files in memory, so that two sides can map the same bytes and each may go first.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ssg.h"

enum { HEAP_MIB = 96 };

struct range {
    uint64_t from;
    size_t size;
    int file;
    char *bytes;
    long aliases; /* buffers that are this memory from the other side */
    struct range *next;
};

static struct range *ranges; /* with the lock, as all here */
static uint64_t next_address = (uint64_t)0x4 << 32;
static size_t heap_used;

size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t whole_pages(size_t size) {
    return (size + page_size() - 1) / page_size() * page_size();
}

static struct range *range_at(uint64_t address, size_t size) {
    for (struct range *range = ranges; range; range = range->next)
        if (address >= range->from && address - range->from <= range->size &&
            size <= range->size - (size_t)(address - range->from))
            return range;
    return NULL;
}

/* Addresses never come again, and nothing lies between two ranges. */
static struct range *range_new(size_t size) {
    struct range *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->size = size;
    made->file = memfd_create("penstock-bus", MFD_CLOEXEC);
    if (made->file < 0 || ftruncate(made->file, (off_t)size)) abort();
    made->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, made->file, 0);
    if (made->bytes == MAP_FAILED) abort();
    made->from = next_address;
    next_address += size + 16 * page_size();
    made->next = ranges;
    ranges = made;
    return made;
}

static void range_end(struct range *range) {
    struct range **at = &ranges;
    while (*at != range) at = &(*at)->next;
    *at = range->next;
    munmap(range->bytes, range->size);
    close(range->file);
    free(range);
}

uint64_t bus_memory(size_t size) {
    return range_new(whole_pages(size))->from;
}

void bus_memory_end(uint64_t address) {
    range_end(range_at(address, 1));
}

char *bus_bytes(uint64_t address, size_t size) {
    struct range *range = range_at(address, size);
    return range ? range->bytes + (address - range->from) : NULL;
}

/* The marker lies behind the surface, in a page of its own, and perhaps not at its start. */
static void marker_of(struct bus *bus, size_t size) {
    bus->marker = bus->surface + size + (uint64_t)property("marker_offset", 0);
}

static char *map_again(struct range *range, uint64_t address, size_t size) {
    off_t at = (off_t)(address - range->from);
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, range->file, at);
    if (bytes == MAP_FAILED) abort();
    return bytes;
}

struct bus *bus_addressable(size_t size) {
    struct bus *made = calloc(1, sizeof *made);
    if (!made) abort();
    struct range *range = range_new(size + page_size());
    made->surface = range->from;
    made->owned = 1;
    marker_of(made, size);
    made->bytes = map_again(range, range->from, size);
    made->size = size;
    return made;
}

struct bus *bus_external(uint64_t surface, uint64_t marker, size_t size) {
    struct bus *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->surface = surface;
    made->marker = marker;
    made->size = size;
    struct range *range = range_at(surface, size);
    if (range) {
        range->aliases++;
        made->bytes = map_again(range, surface, size);
        return made;
    }
    /* What is written there would end up anywhere. */
    complain("clCreateBuffer: no device answers for %zu bytes at bus address 0x%llx", size,
             (unsigned long long)surface);
    made->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made->bytes == MAP_FAILED) abort();
    return made;
}

/* The application holds the buffer no more. Its own mapping ends with the buffer below, which may be used still. */
void bus_end(struct bus *bus, int is_counted) {
    struct range *range = range_at(bus->surface, bus->size);
    if (bus->owned) {
        if (range->aliases) complain("a buffer is let go while others write to it by its bus address");
        range_end(range);
        if (bus->on_heap && is_counted) heap_used -= bus->size;
    } else if (range) {
        range->aliases--;
    }
    free(bus);
}

/* False if there is no place. */
int bus_take_of_heap(struct bus *bus) {
    size_t heap = (size_t)property("gma_heap", (long)HEAP_MIB << 20);
    if (bus->on_heap) return 1;
    if (heap_used > heap || bus->size > heap - heap_used) return 0;
    bus->on_heap = 1;
    heap_used += bus->size;
    return 1;
}

void bus_reset(void) {
    LOCK();
    heap_used = 0;
    UNLOCK();
}
