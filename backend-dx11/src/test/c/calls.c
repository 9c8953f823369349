// SPDX-License-Identifier: Apache-2.0
#include "d3d11-fake.h"
#include <string.h>

volatile LONG calls, polls;

static unsigned char *code;
static int used;

static void *counting(void *function) {
    // push rcx would move the arguments on the stack: rax is free at a call in Windows's convention.
    static const unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,  // mov rax, &calls
                                         0xf0, 0xff, 0x00,                    // lock inc dword [rax]
                                         0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,  // mov rax, function
                                         0xff, 0xe0};                         // jmp rax
    unsigned char *at = code + 32 * used++;
    volatile LONG *counter = &calls;
    memcpy(at, jump, sizeof jump);
    memcpy(at + 2, &counter, sizeof counter);
    memcpy(at + 15, &function, sizeof function);
    return at;
}

void count_table(void **table, int entries) {
    if (!code) code = VirtualAlloc(NULL, 32 * 1024, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
    for (int i = 3; i < entries; i++) table[i] = counting(table[i]); // references are not what is counted
    FlushInstructionCache(GetCurrentProcess(), code, 32 * used);
}

CONTROL int fake_calls(void) {
    return calls;
}

CONTROL int fake_polls(void) {
    return polls;
}
