// SPDX-License-Identifier: Apache-2.0
#define INITGUID
#include "d3d11-fake.h"
#include <string.h>

volatile LONG fences_wanted, held, silent_removal, maps_move, events_refused, events_asked, signals_refused;
static volatile LONG maps_waited;
static void *volatile copied_to, *volatile copied_from; // by the last copy


#define MOST_DEVICES 4096
static Dressed all[MOST_DEVICES]; // of one address the last counts
static volatile LONG count;

// The real tables, as they were found, and those in front of them: Wine's are of Device2 and Context1.
static ID3D11Device2Vtbl real;
static ID3D11Device5Vtbl device_table;
static ID3D11DeviceContext1Vtbl real_context;
static ID3D11DeviceContext4Vtbl context_table;

Dressed *dressed_device(void *device) {
    for (LONG i = count - 1; i >= 0; i--) if (all[i].device == device) return &all[i];
    return NULL;
}

Dressed *dressed_context(void *context) {
    for (LONG i = count - 1; i >= 0; i--) if (all[i].context == context) return &all[i];
    return NULL;
}

static HRESULT lost(void *device) {
    return FAILED(dressed_device(device)->removed) ? DXGI_ERROR_DEVICE_REMOVED : S_OK;
}

static HRESULT absent(void) {
    return E_NOTIMPL;
}

// The device.

static HRESULT STDMETHODCALLTYPE device_query(ID3D11Device5 *device, REFIID id, void **out) {
    if (fences_wanted && IsEqualGUID(id, &IID_ID3D11Device5)) {
        ID3D11Device5_AddRef(device);
        *out = device;
        return S_OK;
    }
    return real.QueryInterface((ID3D11Device2 *)device, id, out);
}

static HRESULT STDMETHODCALLTYPE create_buffer(
        ID3D11Device5 *device, const D3D11_BUFFER_DESC *desc, const D3D11_SUBRESOURCE_DATA *data, ID3D11Buffer **out) {
    if (FAILED(lost(device))) return DXGI_ERROR_DEVICE_REMOVED;
    return real.CreateBuffer((ID3D11Device2 *)device, desc, data, out);
}

static HRESULT STDMETHODCALLTYPE create_query(ID3D11Device5 *device, const D3D11_QUERY_DESC *desc, ID3D11Query **out) {
    if (FAILED(lost(device))) return DXGI_ERROR_DEVICE_REMOVED;
    return real.CreateQuery((ID3D11Device2 *)device, desc, out);
}

static UINT STDMETHODCALLTYPE creation_flags(ID3D11Device5 *device) {
    return dressed_device(device)->flags;
}

static HRESULT STDMETHODCALLTYPE removed_reason(ID3D11Device5 *device) {
    if (SUCCEEDED(lost(device))) InterlockedIncrement(&polls); // asked where a copy takes long
    return dressed_device(device)->removed;
}

// The context.

static HRESULT STDMETHODCALLTYPE context_query(ID3D11DeviceContext4 *context, REFIID id, void **out) {
    if (fences_wanted && IsEqualGUID(id, &IID_ID3D11DeviceContext4)) {
        ID3D11DeviceContext4_AddRef(context);
        *out = context;
        return S_OK;
    }
    return real_context.QueryInterface((ID3D11DeviceContext1 *)context, id, out);
}

static BOOL is_lost(void *context) {
    return FAILED(dressed_context(context)->removed);
}

static void STDMETHODCALLTYPE context_copy(
        ID3D11DeviceContext4 *context, ID3D11Resource *to, UINT to_sub, UINT x, UINT y, UINT z, ID3D11Resource *from, UINT from_sub,
        const D3D11_BOX *box) {
    copied_to = to;
    copied_from = from;
    real_context.CopySubresourceRegion((ID3D11DeviceContext1 *)context, to, to_sub, x, y, z, from, from_sub, box);
}

static HRESULT STDMETHODCALLTYPE context_map(
        ID3D11DeviceContext4 *context, ID3D11Resource *resource, UINT sub, D3D11_MAP kind, UINT flags, D3D11_MAPPED_SUBRESOURCE *mapped) {
    if (held && (resource == copied_to || resource == copied_from)) {
        InterlockedIncrement(&maps_waited);
        while (held && !is_lost(context)) Sleep(1);
    }
    if (is_lost(context)) return DXGI_ERROR_DEVICE_REMOVED;
    HRESULT result = real_context.Map((ID3D11DeviceContext1 *)context, resource, sub, kind, flags, mapped);
    if (SUCCEEDED(result) && maps_move && kind == D3D11_MAP_READ_WRITE) {
        // Elsewhere, as a driver may: all but the last 16 bytes lie 16 further on until they are unmapped.
        D3D11_BUFFER_DESC desc;
        ID3D11Buffer_GetDesc((ID3D11Buffer *)resource, &desc);
        if (InterlockedIncrement(&maps_move) % 2) {
            memmove((char *)mapped->pData + 16, mapped->pData, desc.ByteWidth - 16);
            UINT shifted = 1;
            ID3D11Buffer_SetPrivateData((ID3D11Buffer *)resource, &IID_ID3D11Fence, sizeof shifted, &shifted);
            mapped->pData = (char *)mapped->pData + 16;
        }
    }
    return result;
}

static void STDMETHODCALLTYPE context_unmap(ID3D11DeviceContext4 *context, ID3D11Resource *resource, UINT sub) {
    if (is_lost(context)) return;
    UINT shifted = 0, bytes = sizeof shifted;
    if (maps_move) ID3D11Resource_GetPrivateData(resource, &IID_ID3D11Fence, &bytes, &shifted);
    if (shifted) {
        // The real mapping is where it was: mapped twice, it says so again.
        D3D11_BUFFER_DESC desc;
        D3D11_MAPPED_SUBRESOURCE mapped;
        ID3D11Buffer_GetDesc((ID3D11Buffer *)resource, &desc);
        real_context.Unmap((ID3D11DeviceContext1 *)context, resource, sub);
        real_context.Map((ID3D11DeviceContext1 *)context, resource, sub, D3D11_MAP_READ_WRITE, 0, &mapped);
        memmove(mapped.pData, (char *)mapped.pData + 16, desc.ByteWidth - 16);
        shifted = 0;
        ID3D11Resource_SetPrivateData(resource, &IID_ID3D11Fence, sizeof shifted, &shifted);
    }
    real_context.Unmap((ID3D11DeviceContext1 *)context, resource, sub);
}

static HRESULT STDMETHODCALLTYPE context_data(
        ID3D11DeviceContext4 *context, ID3D11Asynchronous *query, void *data, UINT bytes, UINT flags) {
    HRESULT result = S_FALSE;
    if (is_lost(context)) {
        result = silent_removal ? S_FALSE : DXGI_ERROR_DEVICE_REMOVED;
    } else if (!held) {
        result = real_context.GetData((ID3D11DeviceContext1 *)context, query, data, bytes, flags);
    }
    if (result == S_FALSE) InterlockedIncrement(&polls);
    return result;
}

static void dress(ID3D11Device *device, UINT flags) {
    ID3D11DeviceContext *context;
    ID3D11Device_GetImmediateContext(device, &context);
    void **table = (void **)&device_table;
    void **front = (void **)&context_table;
    if (!real.QueryInterface) {
        memcpy(&real, device->lpVtbl, sizeof real);
        memcpy(&real_context, context->lpVtbl, sizeof real_context);
        for (size_t i = 0; i < sizeof device_table / sizeof *table; i++) table[i] = absent;
        for (size_t i = 0; i < sizeof context_table / sizeof *front; i++) front[i] = absent;
        memcpy(&device_table, &real, sizeof real);
        memcpy(&context_table, &real_context, sizeof real_context);
        device_table.QueryInterface = device_query;
        device_table.CreateBuffer = create_buffer;
        device_table.CreateQuery = create_query;
        device_table.GetCreationFlags = creation_flags;
        device_table.GetDeviceRemovedReason = removed_reason;
        device_table.CreateFence = make_fence;
        context_table.QueryInterface = context_query;
        context_table.CopySubresourceRegion = context_copy;
        context_table.Map = context_map;
        context_table.Unmap = context_unmap;
        context_table.GetData = context_data;
        context_table.Signal = signal_fence;
        count_table(table, sizeof device_table / sizeof *table);
        count_table(front, sizeof context_table / sizeof *front);
    }
    device->lpVtbl = (ID3D11DeviceVtbl *)&device_table;
    context->lpVtbl = (ID3D11DeviceContextVtbl *)&context_table;
    LONG index = InterlockedIncrement(&count) - 1;
    all[index] = (Dressed){device, context, flags, S_OK};
    ID3D11DeviceContext_Release(context);
}

__declspec(dllexport) HRESULT WINAPI D3D11CreateDevice(
        IDXGIAdapter *adapter, D3D_DRIVER_TYPE type, HMODULE software, UINT flags, const D3D_FEATURE_LEVEL *levels,
        UINT level_count, UINT sdk, ID3D11Device **device, D3D_FEATURE_LEVEL *level, ID3D11DeviceContext **context) {
    PFN_D3D11_CREATE_DEVICE create =
            (PFN_D3D11_CREATE_DEVICE)(void *)GetProcAddress(LoadLibraryA("d3d11.dll"), "D3D11CreateDevice");
    if (count == MOST_DEVICES) return E_OUTOFMEMORY;
    HRESULT result = create(adapter, type, software, flags, levels, level_count, sdk, device, level, context);
    if (SUCCEEDED(result) && device) dress(*device, flags);
    return result;
}

// What tests say and ask.

CONTROL void fake_reset(void) {
    fences_wanted = held = silent_removal = maps_move = events_refused = events_asked = signals_refused = maps_waited = 0;
}

CONTROL void fake_fences(int wanted) {
    fences_wanted = wanted;
}

CONTROL void fake_hold(int hold) {
    held = hold;
}

CONTROL void fake_refuse_events(int next) {
    events_refused = next;
}

CONTROL void fake_refuse_signals(int next) {
    signals_refused = next;
}

CONTROL int fake_waiting_maps(void) {
    return maps_waited;
}

CONTROL int fake_events(void) {
    return events_asked;
}

CONTROL void fake_move_maps(int move) {
    maps_move = move;
}

// Every device that there is goes the way that its reason says.
CONTROL void fake_remove(int reason, int silently) {
    silent_removal = silently;
    for (LONG i = 0; i < count; i++) {
        all[i].removed = reason;
        fences_of_lost(&all[i]);
    }
}
