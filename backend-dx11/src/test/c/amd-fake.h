// SPDX-License-Identifier: Apache-2.0
// AMD's driver for an SSG under Direct3D 11, on any device and any disk: written from chapters 9 and 10 of the "SSG API"
// manual (revision 1.01) and from the public headers of its extensions. The manual prints no numbers and no structures, so
// there are two sets of them; code for only one of them fails.
#ifndef AMD_FAKE_H
#define AMD_FAKE_H

#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <d3d11_1.h>

#define EXPORT __declspec(dllexport)
#define BLOCK 4096

typedef struct Region {
    UINT64 file, buffer, size;
} Region;

typedef struct File {
    UINT64 handle;
    HANDLE system;
    UINT64 size; // when it was opened
    BOOL writes;
    int transfers; // in flight
    struct File *next;
} File;

typedef struct Event {
    UINT64 handle;
    BOOL pending;
    struct Event *next;
} Event;

typedef struct Transfer {
    File *file;
    ID3D11Buffer *buffer;
    Event *event; // NULL for one that its caller waits for
    BOOL writes;
    UINT count;
    Region regions[];
} Transfer;

extern CRITICAL_SECTION lock;

// amd-fake.c
void ended(Transfer *);
void forget(void);

// amd-orders.c: what tests say and ask
HRESULT entered(const char *function);             // S_OK, or what a test wants it to answer
void wait_while_held(void);                        // holds transfers as long as a test wants it
void counted(UINT regions, int in_flight);
void complain(const char *format, ...);
extern volatile LONG layout;                       // 1 or 2

// amd-transfer.c
void watch(ID3D11Device *device);                  // its context says when a buffer in flight is used
void in_flight(ID3D11Buffer *buffer, int change);
HRESULT move(Transfer *);

#endif
