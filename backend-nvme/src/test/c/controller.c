// SPDX-License-Identifier: Apache-2.0
// An NVMe controller in a process: its registers and all memory for DMA are one file, which the host maps too. A bus address is an
// offset in the file. The registers, doorbells among them, are polled. After the NVM Express base specification 1.4.
//   controller FILE MIB [noshadow] [sgl] [spin]
// FILE: BAR0 first, memory for DMA behind it. MIB: the size of its disk, in memory, of blocks of 512 bytes. noshadow: without
// Doorbell Buffer Config. sgl: with scatter-gather lists of one data block. spin: polls without sleeping, for measurements. Ends with the process that has started it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CAP = 0x00, VS = 0x08, CC = 0x14, CSTS = 0x1c, AQA = 0x24, ASQ = 0x28, ACQ = 0x30, DOORBELLS = 0x1000 };
enum { BAR_BYTES = 0x4000, PAGE = 4096, BLOCK = 512, QUEUES = 65, MOST_ENTRIES = 1024, MAX_TRANSFER_SHIFT = 9 };
enum { READY = 1, FATAL = 2, SHUTDOWN_COMPLETE = 2 << 2 };
enum { // status code types and codes, figures 126 to 130
    INVALID_OPCODE = 0x001, INVALID_FIELD = 0x002, DATA_TRANSFER_ERROR = 0x004, INVALID_NAMESPACE = 0x00b,
    INVALID_SGL_LENGTH = 0x00f, INVALID_SGL_TYPE = 0x011, INVALID_PRP_OFFSET = 0x013, OUT_OF_RANGE = 0x080, INVALID_COMPLETION_QUEUE = 0x100, INVALID_QUEUE = 0x101,
    INVALID_QUEUE_SIZE = 0x102, INVALID_DELETION = 0x10c
};

struct submission_queue {
    int is_open, completion_queue;
    uint64_t base;
    uint32_t entries, head, tail;
};
struct completion_queue {
    int is_open;
    uint64_t base;
    uint32_t entries, tail, phase;
};
struct command { // figure 104
    uint8_t opcode, flags;
    uint16_t id;
    uint32_t nsid;
    uint64_t reserved, metadata, prp1, prp2;
    uint32_t dword10, dword11, dword12, dword13, dword14, dword15;
};
_Static_assert(sizeof(struct command) == 64, "a submission queue entry");

static uint8_t *file, *disk;
static uint64_t file_bytes, disk_bytes;
static int has_shadow, has_sgl;
static uint64_t shadow, events; // 0: doorbells are registers
static struct submission_queue submissions[QUEUES];
static struct completion_queue completions[QUEUES];

static uint32_t load(uint64_t at) {
    return __atomic_load_n((uint32_t *)(file + at), __ATOMIC_ACQUIRE);
}

static void store(uint64_t at, uint32_t value) {
    __atomic_store_n((uint32_t *)(file + at), value, __ATOMIC_RELEASE);
}

static uint64_t load64(uint64_t at) {
    return load(at) | (uint64_t)load(at + 4) << 32;
}

static int is_memory(uint64_t address, uint64_t bytes) {
    return address >= BAR_BYTES && address <= file_bytes && bytes <= file_bytes - address;
}

// Doorbells 2 q and 2 q + 1 are those of queue q.
static uint32_t doorbell(unsigned index) {
    return load(shadow && index > 1 ? shadow + 4 * index : DOORBELLS + 4 * index);
}

static void clear_doorbell(int index) {
    store(DOORBELLS + 4 * index, 0);
    if (shadow && index > 1) {
        store(events + 4 * index, 0xffff); // the one before the first: the register is not needed, since the shadow is polled
    }
}

static void announce(int index, uint32_t value) {
    if (shadow && index > 1) {
        store(events + 4 * index, (value - 1) & 0xffff);
    }
}

static void disable(void) {
    memset(submissions, 0, sizeof submissions);
    memset(completions, 0, sizeof completions);
    shadow = events = 0;
    memset(file + DOORBELLS, 0, BAR_BYTES - DOORBELLS);
    store(CSTS, 0);
}

static void enable(void) {
    uint32_t attributes = load(AQA), sizes[] = {(attributes & 0xfff) + 1, (attributes >> 16 & 0xfff) + 1};
    uint64_t bases[] = {load64(ASQ), load64(ACQ)};
    if (sizes[0] < 2 || sizes[1] < 2 || !is_memory(bases[0], 64 * sizes[0]) || !is_memory(bases[1], 16 * sizes[1])) {
        store(CSTS, FATAL);
        return;
    }
    submissions[0] = (struct submission_queue){1, 0, bases[0], sizes[0], 0, 0};
    completions[0] = (struct completion_queue){1, bases[1], sizes[1], 0, 1};
    store(CSTS, READY);
}

// Copies between memory at an SGL data block and a buffer of the controller; returns the status. Figures 114 to 117.
static int move_block(const struct command *command, uint8_t *buffer, uint64_t bytes, int to_host) {
    uint64_t address = command->prp1;
    if (command->prp2 >> 56 != 0) {
        return INVALID_SGL_TYPE;
    }
    if ((uint32_t)command->prp2 != bytes) {
        return INVALID_SGL_LENGTH;
    }
    if (!is_memory(address, bytes)) {
        return DATA_TRANSFER_ERROR;
    }
    memcpy(to_host ? file + address : buffer, to_host ? buffer : file + address, bytes);
    return 0;
}

// Copies between memory at PRPs and a buffer of the controller; returns the status. Figure 108 and 4.3.
static int move(const struct command *command, uint8_t *buffer, uint64_t bytes, int to_host) {
    uint64_t address = command->prp1, list = 0, left = bytes;
    if (command->flags >> 6 != 0) { // PSDT
        return has_sgl && command->flags >> 6 == 1 ? move_block(command, buffer, bytes, to_host) : INVALID_FIELD;
    }
    if (address & 3) {
        return INVALID_PRP_OFFSET;
    }
    for (int page = 0; left > 0; page++) {
        uint64_t part = PAGE - (address & (PAGE - 1));
        part = part < left ? part : left;
        if (!is_memory(address, part)) {
            return DATA_TRANSFER_ERROR;
        }
        memcpy(to_host ? file + address : buffer, to_host ? buffer : file + address, part);
        buffer += part;
        left -= part;
        if (left == 0) {
            break;
        }
        if (page == 0 && left <= PAGE) {
            address = command->prp2;
        } else {
            list = page == 0 ? command->prp2 : list + 8;
            if ((list & (PAGE - 1)) == PAGE - 8 && left > PAGE) { // the last of a page is the address of the next list
                list = is_memory(list, 8) ? load64(list) : 0;
            }
            if (!is_memory(list, 8)) {
                return DATA_TRANSFER_ERROR;
            }
            address = load64(list);
        }
        if (address & (PAGE - 1)) {
            return INVALID_PRP_OFFSET;
        }
    }
    return 0;
}

static int identify(const struct command *command) {
    uint8_t data[PAGE] = {0};
    switch (command->dword10 & 0xff) {
        case 0: { // namespace
            uint64_t blocks = command->nsid == 1 ? disk_bytes / BLOCK : 0;
            memcpy(data, &blocks, 8);
            memcpy(data + 8, &blocks, 8);
            memcpy(data + 16, &blocks, 8);
            data[130] = 9; // 2^9 bytes
            break;
        }
        case 1: // controller
            memset(data + 4, ' ', 68);
            memcpy(data + 4, "1", 1);
            memcpy(data + 24, "emulated", 8);
            memcpy(data + 64, "1", 1);
            data[77] = MAX_TRANSFER_SHIFT;
            data[257] = has_shadow; // bit 8 of OACS
            data[512] = 0x66;
            data[513] = 0x44;
            data[516] = 1;
            data[536] = has_sgl; // SGLS: at any address
            break;
        default:
            return INVALID_FIELD;
    }
    return move(command, data, PAGE, 1);
}

static int create_completion_queue(const struct command *command) {
    uint32_t id = command->dword10 & 0xffff, entries = (command->dword10 >> 16) + 1;
    if (id == 0 || id >= QUEUES || completions[id].is_open) {
        return INVALID_QUEUE;
    }
    if (entries < 2 || entries > MOST_ENTRIES) {
        return INVALID_QUEUE_SIZE;
    }
    if (!(command->dword11 & 1) || command->prp1 & (PAGE - 1) || !is_memory(command->prp1, 16 * entries)) {
        return INVALID_FIELD;
    }
    clear_doorbell(2 * id + 1);
    completions[id] = (struct completion_queue){1, command->prp1, entries, 0, 1};
    return 0;
}

static int create_submission_queue(const struct command *command) {
    uint32_t id = command->dword10 & 0xffff, entries = (command->dword10 >> 16) + 1, to = command->dword11 >> 16;
    if (id == 0 || id >= QUEUES || submissions[id].is_open) {
        return INVALID_QUEUE;
    }
    if (to == 0 || to >= QUEUES || !completions[to].is_open) {
        return INVALID_COMPLETION_QUEUE;
    }
    if (entries < 2 || entries > MOST_ENTRIES) {
        return INVALID_QUEUE_SIZE;
    }
    if (!(command->dword11 & 1) || command->prp1 & (PAGE - 1) || !is_memory(command->prp1, 64 * entries)) {
        return INVALID_FIELD;
    }
    clear_doorbell(2 * id);
    submissions[id] = (struct submission_queue){1, to, command->prp1, entries, 0, 0};
    return 0;
}

static int delete_queue(const struct command *command, int is_submission) {
    uint32_t id = command->dword10 & 0xffff;
    if (id == 0 || id >= QUEUES || !(is_submission ? submissions[id].is_open : completions[id].is_open)) {
        return INVALID_QUEUE;
    }
    if (is_submission) {
        submissions[id].is_open = 0;
        return 0;
    }
    for (int i = 1; i < QUEUES; i++) {
        if (submissions[i].is_open && submissions[i].completion_queue == (int)id) {
            return INVALID_DELETION;
        }
    }
    completions[id].is_open = 0;
    return 0;
}

static int administrate(const struct command *command, uint32_t *result) {
    switch (command->opcode) {
        case 0x00: return delete_queue(command, 1);
        case 0x01: return create_submission_queue(command);
        case 0x04: return delete_queue(command, 0);
        case 0x05: return create_completion_queue(command);
        case 0x06: return identify(command);
        case 0x08: // Abort: what is in the queue ends soon anyway
            *result = 1;
            return 0;
        case 0x09: // Set Features: Number of Queues
            if ((command->dword10 & 0xff) != 7) {
                return INVALID_FIELD;
            }
            *result = (QUEUES - 2) | (QUEUES - 2) << 16;
            return 0;
        case 0x7c: // Doorbell Buffer Config
            if (!has_shadow) {
                return INVALID_OPCODE;
            }
            if ((command->prp1 | command->prp2) & (PAGE - 1) || !is_memory(command->prp1, PAGE) || !is_memory(command->prp2, PAGE)) {
                return INVALID_FIELD;
            }
            shadow = command->prp1;
            events = command->prp2;
            return 0;
        default: return INVALID_OPCODE;
    }
}

static int transfer(const struct command *command) {
    if (command->nsid != 1) {
        return INVALID_NAMESPACE;
    }
    uint64_t first = command->dword10 | (uint64_t)command->dword11 << 32, blocks = (command->dword12 & 0xffff) + 1;
    switch (command->opcode) {
        case 0x00: return 0; // Flush: the disk has no cache
        case 0x01:
        case 0x02:
            if (first > disk_bytes / BLOCK || blocks > disk_bytes / BLOCK - first) {
                return OUT_OF_RANGE;
            }
            if (blocks * BLOCK > (uint64_t)PAGE << MAX_TRANSFER_SHIFT) {
                return INVALID_FIELD;
            }
            return move(command, disk + first * BLOCK, blocks * BLOCK, command->opcode == 2);
        default: return INVALID_OPCODE;
    }
}

static void post(int id, const struct command *command, int status, uint32_t result) {
    struct submission_queue *from = &submissions[id];
    struct completion_queue *to = &completions[from->completion_queue];
    uint64_t at = to->base + 16 * to->tail;
    store(at, result);
    store(at + 4, 0);
    store(at + 8, from->head | id << 16);
    uint32_t last = command->id | to->phase << 16 | status << 17;
    if (++to->tail == to->entries) {
        to->tail = 0;
        to->phase ^= 1;
    }
    store(at + 12, last); // the phase bit, behind all else
}

// Executes what is in a submission queue, as long as there is space for completions; returns how many.
static int serve(int id) {
    int count = 0;
    while (submissions[id].is_open) {
        struct submission_queue *queue = &submissions[id];
        struct completion_queue *to = &completions[queue->completion_queue];
        if (queue->head == queue->tail) {
            uint32_t tail = doorbell(2 * id);
            if (tail == queue->tail || tail >= queue->entries) {
                break;
            }
            queue->tail = tail;
            announce(2 * id, tail);
        }
        uint32_t head = doorbell(2 * queue->completion_queue + 1);
        if ((to->tail + 1) % to->entries == head) {
            break;
        }
        announce(2 * queue->completion_queue + 1, head);
        struct command command;
        memcpy(&command, file + queue->base + 64 * queue->head, 64);
        queue->head = (queue->head + 1) % queue->entries;
        uint32_t result = 0;
        int status = id == 0 ? administrate(&command, &result) : transfer(&command);
        post(id, &command, status, result);
        count++;
    }
    return count;
}

int main(int count, char **arguments) {
    struct stat status;
    int descriptor = count < 3 ? -1 : open(arguments[1], O_RDWR);
    if (descriptor < 0 || fstat(descriptor, &status) < 0) {
        perror("controller FILE MIB [noshadow] [sgl] [spin]");
        return 1;
    }
    file_bytes = status.st_size;
    disk_bytes = strtoull(arguments[2], NULL, 0) << 20;
    file = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    disk = mmap(NULL, disk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file == MAP_FAILED || disk == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    has_shadow = 1;
    int spin = 0;
    for (int i = 3; i < count; i++) {
        has_shadow &= strcmp(arguments[i], "noshadow") != 0;
        has_sgl |= strcmp(arguments[i], "sgl") == 0;
        spin |= strcmp(arguments[i], "spin") == 0;
    }
    store(CAP, (MOST_ENTRIES - 1) | 1 << 16 | 20u << 24); // MQES, CQR, TO
    store(CAP + 4, 1 << 5);                               // the NVM command set; doorbells at a distance of 4 bytes
    store(VS, 0x10400);
    store(CC, 0);
    disable();
    puts("ready");
    fflush(stdout);
    pid_t parent = getppid();
    for (uint64_t idle = 0;; idle++) {
        uint32_t configuration = load(CC);
        int is_enabled = submissions[0].is_open, wanted = configuration & 1;
        if (wanted && !is_enabled && !(load(CSTS) & FATAL)) {
            enable();
        } else if (!wanted && load(CSTS) != 0) {
            disable();
        } else if (is_enabled && configuration & 3 << 14) {
            store(CSTS, READY | SHUTDOWN_COMPLETE);
        }
        for (int id = 0; id < QUEUES; id++) {
            if (serve(id) > 0) {
                idle = 0;
            }
        }
        if (idle > 1000 && !spin) {
            nanosleep(&(struct timespec){0, 20000}, NULL);
        } else if (idle > 100 && !spin) {
            sched_yield();
        }
        if (idle % 4096 == 0 && getppid() != parent) {
            return 0;
        }
    }
}
