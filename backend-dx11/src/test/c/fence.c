// SPDX-License-Identifier: Apache-2.0
// ID3D11Fence over event queries: one thread looks at those that are behind a Signal, and lets fences come to their
// values in the order in which they were signalled.
#include "d3d11-fake.h"
#include <stdint.h>
#include <stdlib.h>

typedef struct Wait {
    UINT64 value;
    HANDLE event;
    struct Wait *next;
} Wait;

typedef struct Fence {
    ID3D11Fence face;
    LONG references;
    ID3D11Device *device;
    UINT64 value, signalled;
    Wait *waits;
    struct Fence *next;
} Fence;

typedef struct Job {
    Fence *fence;
    UINT64 value;
    ID3D11Query *query;
    ID3D11DeviceContext *context;
    struct Job *next;
} Job;

static CRITICAL_SECTION lock; // of everything here
static CONDITION_VARIABLE more;
static Fence *fences;
static Job *first, **last = &first;
static LONG started;

static HRESULT(STDMETHODCALLTYPE *real_get_data)(ID3D11DeviceContext *, ID3D11Asynchronous *, void *, UINT, UINT);

static void come_to(Fence *fence, UINT64 value) {
    fence->value = value;
    for (Wait **at = &fence->waits; *at;) {
        Wait *wait = *at;
        if (wait->value <= value) {
            SetEvent(wait->event);
            *at = wait->next;
            free(wait);
        } else {
            at = &wait->next;
        }
    }
}

static ULONG STDMETHODCALLTYPE fence_add_ref(ID3D11Fence *face) {
    return InterlockedIncrement(&((Fence *)face)->references);
}

static ULONG STDMETHODCALLTYPE fence_release(ID3D11Fence *face) {
    Fence *fence = (Fence *)face;
    LONG left = InterlockedDecrement(&fence->references);
    if (left) return left;
    EnterCriticalSection(&lock);
    for (Fence **at = &fences; *at; at = &(*at)->next) {
        if (*at == fence) {
            *at = fence->next;
            break;
        }
    }
    come_to(fence, UINT64_MAX); // a wait for a deleted fence ends
    LeaveCriticalSection(&lock);
    ID3D11Device_Release(fence->device); // a child keeps its device
    free(fence);
    return 0;
}

static HRESULT STDMETHODCALLTYPE fence_query(ID3D11Fence *face, REFIID id, void **out) {
    if (IsEqualGUID(id, &IID_ID3D11Fence) || IsEqualGUID(id, &IID_ID3D11DeviceChild) || IsEqualGUID(id, &IID_IUnknown)) {
        fence_add_ref(face);
        *out = face;
        return S_OK;
    }
    *out = NULL;
    return E_NOINTERFACE;
}

static void STDMETHODCALLTYPE fence_device(ID3D11Fence *face, ID3D11Device **device) {
    *device = ((Fence *)face)->device;
    ID3D11Device_AddRef(*device);
}

static UINT64 STDMETHODCALLTYPE fence_value(ID3D11Fence *face) {
    Fence *fence = (Fence *)face;
    EnterCriticalSection(&lock);
    UINT64 value = fence->value;
    if (value < fence->signalled) InterlockedIncrement(&polls);
    LeaveCriticalSection(&lock);
    return value;
}

static HRESULT STDMETHODCALLTYPE fence_event(ID3D11Fence *face, UINT64 value, HANDLE event) {
    Fence *fence = (Fence *)face;
    InterlockedIncrement(&events_asked);
    if (events_refused > 0) {
        InterlockedDecrement(&events_refused);
        return E_OUTOFMEMORY;
    }
    EnterCriticalSection(&lock);
    if (value <= fence->value) {
        SetEvent(event);
    } else {
        Wait *wait = calloc(1, sizeof *wait);
        *wait = (Wait){value, event, fence->waits};
        fence->waits = wait;
    }
    LeaveCriticalSection(&lock);
    return S_OK;
}

static ID3D11FenceVtbl table = {
    .QueryInterface = fence_query,
    .AddRef = fence_add_ref,
    .Release = fence_release,
    .GetDevice = fence_device,
    .GetCompletedValue = fence_value,
    .SetEventOnCompletion = fence_event,
};

static int ended(Job *job) {
    BOOL passed = FALSE;
    if (held) return 0;
    Dressed *dressed = dressed_context(job->context);
    if (dressed && FAILED(dressed->removed)) return 1;
    return real_get_data(job->context, (ID3D11Asynchronous *)job->query, &passed, sizeof passed, 0) != S_FALSE;
}

static DWORD WINAPI work(void *unused) {
    (void)unused;
    for (;;) {
        EnterCriticalSection(&lock);
        while (!first) SleepConditionVariableCS(&more, &lock, INFINITE);
        Job *job = first;
        LeaveCriticalSection(&lock);
        if (!ended(job)) {
            Sleep(1);
            continue;
        }
        EnterCriticalSection(&lock);
        first = job->next;
        if (!first) last = &first;
        if (job->fence->value < job->value) come_to(job->fence, job->value);
        LeaveCriticalSection(&lock);
        ID3D11Query_Release(job->query);
        fence_release(&job->fence->face);
        free(job);
    }
    return 0;
}

static void start(ID3D11DeviceContext *context) {
    if (InterlockedExchange(&started, 1)) return;
    InitializeCriticalSection(&lock);
    InitializeConditionVariable(&more);
    real_get_data = context->lpVtbl->GetData;
    count_table((void **)&table, sizeof table / sizeof(void *));
    CloseHandle(CreateThread(NULL, 0, work, NULL, 0, NULL));
}

HRESULT STDMETHODCALLTYPE make_fence(ID3D11Device5 *device, UINT64 value, D3D11_FENCE_FLAG flags, REFIID id, void **out) {
    (void)flags;
    Dressed *dressed = dressed_device(device);
    *out = NULL;
    if (FAILED(dressed->removed)) return DXGI_ERROR_DEVICE_REMOVED;
    if (!IsEqualGUID(id, &IID_ID3D11Fence)) return E_NOINTERFACE;
    start(dressed->context);
    Fence *fence = calloc(1, sizeof *fence);
    *fence = (Fence){{&table}, 1, dressed->device, value, value, NULL, fences};
    ID3D11Device_AddRef(fence->device);
    EnterCriticalSection(&lock);
    fence->next = fences;
    fences = fence;
    LeaveCriticalSection(&lock);
    *out = fence;
    return S_OK;
}

HRESULT STDMETHODCALLTYPE signal_fence(ID3D11DeviceContext4 *context, ID3D11Fence *face, UINT64 value) {
    static const D3D11_QUERY_DESC event = {D3D11_QUERY_EVENT, 0};
    Dressed *dressed = dressed_context(context);
    Job *job = calloc(1, sizeof *job);
    if (FAILED(dressed->removed)) return free(job), DXGI_ERROR_DEVICE_REMOVED;
    if (signals_refused > 0) return InterlockedDecrement(&signals_refused), free(job), E_OUTOFMEMORY;
    LONG before = calls;
    ID3D11Device_CreateQuery(dressed->device, &event, &job->query);
    ID3D11DeviceContext_End(dressed->context, (ID3D11Asynchronous *)job->query);
    InterlockedExchangeAdd(&calls, before - calls); // these two are not the backend's
    job->fence = (Fence *)face;
    job->value = value;
    job->context = dressed->context;
    fence_add_ref(face);
    EnterCriticalSection(&lock);
    job->fence->signalled = value;
    *last = job;
    last = &job->next;
    LeaveCriticalSection(&lock);
    WakeConditionVariable(&more);
    return S_OK;
}

// "If the device is removed, the value is UINT64_MAX", and every wait ends.
void fences_of_lost(Dressed *dressed) {
    if (!started) return;
    EnterCriticalSection(&lock);
    for (Fence *fence = fences; fence; fence = fence->next) {
        if (fence->device == dressed->device) come_to(fence, UINT64_MAX);
    }
    LeaveCriticalSection(&lock);
}
