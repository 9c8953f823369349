// SPDX-License-Identifier: Apache-2.0
// A d3d11.dll between the backend and the real one: it hands out the real device and context with other tables of
// functions in front, counts every call, adds the fences of Windows 10 where they are wanted, and loses the device when
// it is told to. Written from Microsoft's reference (ID3D11Fence, ID3D11DeviceContext4, "Handle device removed scenarios").
#ifndef D3D11_FAKE_H
#define D3D11_FAKE_H

#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <d3d11_4.h>

#define CONTROL __declspec(dllexport)

// What one device has come to. The tables are of all, these facts of each.
typedef struct Dressed {
    ID3D11Device *device;
    ID3D11DeviceContext *context;
    UINT flags;      // that it was made with, which Wine forgets
    HRESULT removed; // S_OK while it is there
} Dressed;

Dressed *dressed_device(void *device);
Dressed *dressed_context(void *context);

// What a test has set.
extern volatile LONG fences_wanted;   // devices made from now on answer to ID3D11Device5
extern volatile LONG held;            // copies do not end
extern volatile LONG silent_removal;  // GetData of a removed device answers S_FALSE for ever
extern volatile LONG events_refused;  // as many of the next SetEventOnCompletion fail
extern volatile LONG events_asked;    // calls of it
extern volatile LONG maps_move;       // staging buffers are mapped elsewhere each time
extern volatile LONG signals_refused; // as many of the next Signal fail

// calls.c
void count_table(void **table, int entries); // replaces each entry by code that counts and goes on to it
extern volatile LONG calls;                  // through counted tables
extern volatile LONG polls;                  // of these, those that found a copy under way, and the device there

// fence.c
HRESULT STDMETHODCALLTYPE make_fence(ID3D11Device5 *, UINT64, D3D11_FENCE_FLAG, REFIID, void **);
HRESULT STDMETHODCALLTYPE signal_fence(ID3D11DeviceContext4 *, ID3D11Fence *, UINT64);
void fences_of_lost(Dressed *);

#endif
