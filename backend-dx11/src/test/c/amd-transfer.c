// SPDX-License-Identifier: Apache-2.0
#include "amd-fake.h"
#include <stdlib.h>
#include <string.h>

#define MOST_BUFFERS 256

static struct {
    ID3D11Buffer *buffer;
    int transfers;
} segments[MOST_BUFFERS]; // guarded by lock

static ID3D11DeviceContext1Vtbl real, front;

void in_flight(ID3D11Buffer *buffer, int change) {
    int empty = -1;
    for (int i = 0; i < MOST_BUFFERS; i++) {
        if (segments[i].transfers && segments[i].buffer == buffer) {
            segments[i].transfers += change;
            return;
        }
        if (!segments[i].transfers) empty = i;
    }
    segments[empty].buffer = buffer;
    segments[empty].transfers = change;
}

// "During asynchronous transfers, avoid using the D3D buffer in the D3D pipeline or lock/unlock."
static void used(void *resource, const char *by) {
    EnterCriticalSection(&lock);
    for (int i = 0; i < MOST_BUFFERS; i++) {
        if (segments[i].transfers && segments[i].buffer == resource) complain("a buffer in flight is used by %s", by);
    }
    LeaveCriticalSection(&lock);
}

static HRESULT STDMETHODCALLTYPE front_map(
        ID3D11DeviceContext1 *context, ID3D11Resource *resource, UINT sub, D3D11_MAP kind, UINT flags, D3D11_MAPPED_SUBRESOURCE *mapped) {
    used(resource, "Map");
    return real.Map(context, resource, sub, kind, flags, mapped);
}

static void STDMETHODCALLTYPE front_copy(
        ID3D11DeviceContext1 *context, ID3D11Resource *target, UINT targetSub, UINT x, UINT y, UINT z,
        ID3D11Resource *source, UINT sourceSub, const D3D11_BOX *box) {
    used(target, "CopySubresourceRegion");
    used(source, "CopySubresourceRegion");
    real.CopySubresourceRegion(context, target, targetSub, x, y, z, source, sourceSub, box);
}

static void STDMETHODCALLTYPE front_update(
        ID3D11DeviceContext1 *context, ID3D11Resource *resource, UINT sub, const D3D11_BOX *box, const void *data, UINT row, UINT depth) {
    used(resource, "UpdateSubresource");
    real.UpdateSubresource(context, resource, sub, box, data, row, depth);
}

void watch(ID3D11Device *device) {
    ID3D11DeviceContext *context;
    ID3D11Device_GetImmediateContext(device, &context);
    EnterCriticalSection(&lock);
    if (!real.QueryInterface) {
        memcpy(&real, context->lpVtbl, sizeof real);
        memcpy(&front, &real, sizeof real);
        front.Map = front_map;
        front.CopySubresourceRegion = front_copy;
        front.UpdateSubresource = front_update;
    }
    context->lpVtbl = (ID3D11DeviceContextVtbl *)&front;
    LeaveCriticalSection(&lock);
    ID3D11DeviceContext_Release(context);
}

static BOOL file_bytes(Transfer *transfer, Region *region, char *memory) {
    OVERLAPPED at = {.Offset = (DWORD)region->file, .OffsetHigh = (DWORD)(region->file >> 32)};
    DWORD moved = 0;
    if (transfer->writes) return WriteFile(transfer->file->system, memory, (DWORD)region->size, &moved, &at);
    memset(memory, 0xee, region->size); // behind the end of a file is anything
    return ReadFile(transfer->file->system, memory, (DWORD)region->size, &moved, &at) || GetLastError() == ERROR_HANDLE_EOF;
}

static ID3D11Buffer *staging(ID3D11Device *device, UINT bytes) {
    D3D11_BUFFER_DESC desc = {bytes, D3D11_USAGE_STAGING, 0, D3D11_CPU_ACCESS_READ, 0, 0};
    ID3D11Buffer *made = NULL;
    ID3D11Device_CreateBuffer(device, &desc, NULL, &made);
    return made;
}

static HRESULT read_one(Transfer *transfer, Region *region, ID3D11DeviceContext1 *context) {
    D3D11_BOX there = {(UINT)region->buffer, 0, 0, (UINT)(region->buffer + region->size), 1, 1};
    char *memory = malloc(region->size);
    HRESULT result = file_bytes(transfer, region, memory) ? S_OK : E_FAIL;
    real.UpdateSubresource(context, (ID3D11Resource *)transfer->buffer, 0, &there, memory, 0, 0);
    free(memory);
    return result;
}

static HRESULT write_one(Transfer *transfer, Region *region, ID3D11Device *device, ID3D11DeviceContext1 *context) {
    D3D11_BOX there = {(UINT)region->buffer, 0, 0, (UINT)(region->buffer + region->size), 1, 1};
    D3D11_MAPPED_SUBRESOURCE mapped;
    ID3D11Resource *between = (ID3D11Resource *)staging(device, (UINT)region->size);
    if (!between) return E_OUTOFMEMORY;
    real.CopySubresourceRegion(context, between, 0, 0, 0, 0, (ID3D11Resource *)transfer->buffer, 0, &there);
    HRESULT result = real.Map(context, between, 0, D3D11_MAP_READ, 0, &mapped);
    if (SUCCEEDED(result)) {
        result = file_bytes(transfer, region, mapped.pData) ? S_OK : E_FAIL;
        real.Unmap(context, between, 0);
    }
    ID3D11Resource_Release(between);
    return result;
}

HRESULT move(Transfer *transfer) {
    ID3D11Device *device;
    ID3D11DeviceContext *context;
    ID3D11Buffer_GetDevice(transfer->buffer, &device);
    ID3D11Device_GetImmediateContext(device, &context);
    HRESULT result = S_OK;
    for (UINT i = 0; i < transfer->count && SUCCEEDED(result); i++) {
        Region *region = &transfer->regions[i];
        ID3D11DeviceContext1 *context1 = (ID3D11DeviceContext1 *)context;
        result = transfer->writes ? write_one(transfer, region, device, context1) : read_one(transfer, region, context1);
    }
    ID3D11DeviceContext_Flush(context);
    ID3D11DeviceContext_Release(context);
    ID3D11Device_Release(device);
    return result;
}
