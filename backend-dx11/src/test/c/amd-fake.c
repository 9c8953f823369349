// SPDX-License-Identifier: Apache-2.0
#include "amd-fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CRITICAL_SECTION lock; // of everything here
static File *files;
static Event *events;
static UINT64 next_handle;
static volatile LONG objects; // references of extensions and interfaces
static int flying;
static CONDITION_VARIABLE landed;

// One extension and one interface, of the device that asked last; each table has one destructor behind its counts.
typedef struct Object {
    void **table;
    LONG references;
    ID3D11Device *device;
} Object;

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved) {
    (void)self, (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) InitializeCriticalSection(&lock);
    return TRUE;
}

// Handles: 64 bits wide in layout 1, with something in the upper half; 32 bits in layout 2.

static UINT64 new_handle(void) {
    UINT64 number = 0x1000 + 8 * ++next_handle;
    return layout == 1 ? number | 0x7700000000 : number;
}

static UINT64 as_passed(UINT64 handle) {
    return layout == 1 ? handle : (UINT)handle;
}

static void put_handle(void *out, UINT64 handle) {
    memcpy(out, &handle, layout == 1 ? 8 : 4);
}

static File *file_of(UINT64 handle) {
    File *file = files;
    while (file && file->handle != as_passed(handle)) file = file->next;
    return file;
}

static Event *event_of(UINT64 handle) {
    Event *event = events;
    while (event && event->handle != as_passed(handle)) event = event->next;
    return event;
}

// IAmdDxExtSSG

static HRESULT get_extension_version(Object *self, void *version) {
    (void)self;
    HRESULT wanted = entered("GetExtensionVersion");
    if (FAILED(wanted)) return wanted;
    if (!version) return E_INVALIDARG;
    if (layout == 1) {
        memcpy(version, (UINT[]){1, 7, 20170801}, 12);
    } else {
        memcpy(version, &(struct { UINT64 build; UINT minor, major; }){20170801, 7, 1}, 16);
    }
    return S_OK;
}

static HRESULT create_file(Object *self, const WCHAR *name, UINT access, void *out) {
    (void)self;
    HRESULT wanted = entered("CreateFile");
    if (FAILED(wanted)) return wanted;
    UINT reads = layout == 1 ? 1 : 0x100, writes = layout == 1 ? 2 : 0x200;
    if (access != reads && access != writes) return E_FAIL;
    // "The file must have read/write privileges": whatever it is opened for.
    HANDLE system = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                NULL, OPEN_EXISTING, 0, NULL);
    if (system == INVALID_HANDLE_VALUE) return E_FAIL;
    LARGE_INTEGER size;
    GetFileSizeEx(system, &size);
    File *file = calloc(1, sizeof *file);
    file->system = system;
    file->size = size.QuadPart;
    file->writes = access == writes;
    EnterCriticalSection(&lock);
    file->handle = new_handle();
    file->next = files;
    files = file;
    LeaveCriticalSection(&lock);
    put_handle(out, file->handle);
    return S_OK;
}

static HRESULT release_file(Object *self, UINT64 handle) {
    (void)self;
    HRESULT wanted = entered("ReleaseFile");
    EnterCriticalSection(&lock);
    File *file = file_of(handle);
    if (file) {
        if (file->transfers) complain("a file is released with %d transfers in flight", file->transfers);
        File **at = &files;
        while (*at != file) at = &(*at)->next;
        *at = file->next;
        if (file->system != INVALID_HANDLE_VALUE) CloseHandle(file->system);
        free(file);
    }
    LeaveCriticalSection(&lock);
    return FAILED(wanted) ? wanted : file ? S_OK : E_HANDLE;
}

static HRESULT get_file_info(Object *self, UINT64 handle, void *info) {
    (void)self;
    HRESULT wanted = entered("GetFileInfo");
    if (FAILED(wanted)) return wanted;
    EnterCriticalSection(&lock);
    File *file = file_of(handle);
    if (file && layout == 1) {
        memcpy(info, &(struct { UINT64 file; UINT block, rest; }){file->size, BLOCK, 0}, 16);
    } else if (file) {
        memcpy(info, &(struct { UINT block, rest; UINT64 file; }){BLOCK, 0, file->size}, 16);
    }
    LeaveCriticalSection(&lock);
    return file ? S_OK : E_HANDLE;
}

static HRESULT create_event(Object *self, void *out) {
    (void)self;
    HRESULT wanted = entered("CreateEvent");
    if (FAILED(wanted)) return wanted;
    Event *event = calloc(1, sizeof *event);
    EnterCriticalSection(&lock);
    event->handle = new_handle();
    event->next = events;
    events = event;
    LeaveCriticalSection(&lock);
    put_handle(out, event->handle);
    return S_OK;
}

static HRESULT destroy_event(Object *self, UINT64 handle) {
    (void)self;
    HRESULT wanted = entered("DestroyEvent");
    EnterCriticalSection(&lock);
    Event *event = event_of(handle);
    if (event) {
        if (event->pending) complain("an event is destroyed before its transfer was waited for");
        Event **at = &events;
        while (*at != event) at = &(*at)->next;
        *at = event->next;
        if (!event->pending) free(event);
    }
    LeaveCriticalSection(&lock);
    return FAILED(wanted) ? wanted : event ? S_OK : E_INVALIDARG;
}

static HRESULT wait_event(Object *self, UINT64 handle) {
    (void)self;
    EnterCriticalSection(&lock);
    Event *event = event_of(handle);
    while (event && event->pending) { // the wait on an unused one takes no time
        SleepConditionVariableCS(&landed, &lock, INFINITE);
        event = event_of(handle);
    }
    LeaveCriticalSection(&lock);
    return event ? entered("WaitEvent") : E_INVALIDARG;
}

// Transfers

void ended(Transfer *transfer) {
    EnterCriticalSection(&lock);
    transfer->file->transfers--;
    flying--;
    in_flight(transfer->buffer, -1);
    if (transfer->event) {
        transfer->event->pending = FALSE;
    }
    LeaveCriticalSection(&lock);
    WakeAllConditionVariable(&landed);
    ID3D11Buffer_Release(transfer->buffer);
    free(transfer);
}

static VOID CALLBACK fly(PTP_CALLBACK_INSTANCE instance, void *transfer) {
    CallbackMayRunLong(instance);
    wait_while_held();
    move(transfer); // its result is never reported
    ended(transfer);
}

// "The sum of dstOffset and length exceeds the size of the target buffer", "is not a multiple of" the block, "failed to
// access the file with the specified srcOffset and length values": all three are E_FAIL.
static HRESULT check(Transfer *transfer) {
    D3D11_BUFFER_DESC desc;
    ID3D11Buffer_GetDesc(transfer->buffer, &desc);
    UINT64 blocks = (transfer->file->size + BLOCK - 1) / BLOCK * BLOCK;
    for (UINT i = 0; i < transfer->count; i++) {
        Region *region = &transfer->regions[i];
        if (region->buffer + region->size > desc.ByteWidth) return E_FAIL;
        if ((region->buffer | region->size | region->file) % BLOCK || !region->size) return E_FAIL;
        if (region->file + region->size > blocks) return E_FAIL;
    }
    return transfer->writes == transfer->file->writes ? S_OK : E_FAIL;
}

static void read_region(Region *out, const char *in) {
    if (layout == 1) {
        *out = (Region){((UINT64 *)in)[0], ((UINT64 *)in)[1], ((UINT64 *)in)[2]};
    } else {
        *out = (Region){*(UINT64 *)(in + 8), ((UINT *)in)[1], ((UINT *)in)[0]};
    }
}

static HRESULT begin(BOOL writes, ID3D11Buffer *buffer, UINT64 hfile, UINT count, const char *regions, UINT64 hevent) {
    HRESULT wanted = entered(writes ? "WriteBufferToFile" : "ReadBufferFromFile");
    if (FAILED(wanted)) return wanted;
    if (!buffer || !regions || !count) return E_INVALIDARG;
    Transfer *transfer = calloc(1, sizeof *transfer + count * sizeof(Region));
    transfer->writes = writes;
    transfer->buffer = buffer;
    transfer->count = count;
    for (UINT i = 0; i < count; i++) read_region(&transfer->regions[i], regions + i * (layout == 1 ? 24 : 16));
    EnterCriticalSection(&lock);
    transfer->file = file_of(hfile);
    transfer->event = as_passed(hevent) ? event_of(hevent) : NULL;
    HRESULT result = !transfer->file                              ? E_HANDLE
                     : as_passed(hevent) && !transfer->event      ? E_INVALIDARG
                     : transfer->event && transfer->event->pending ? E_INVALIDARG
                                                                  : check(transfer);
    if (SUCCEEDED(result)) {
        transfer->file->transfers++;
        in_flight(buffer, 1);
        counted(count, ++flying);
        if (transfer->event) transfer->event->pending = TRUE;
    }
    LeaveCriticalSection(&lock);
    if (FAILED(result)) return free(transfer), result;
    ID3D11Buffer_AddRef(buffer);
    if (transfer->event) {
        TrySubmitThreadpoolCallback(fly, transfer, NULL);
        return S_OK;
    }
    wait_while_held();
    result = move(transfer);
    ended(transfer);
    return result;
}

static HRESULT read_buffer(Object *self, ID3D11Buffer *buffer, UINT64 file, UINT count, const char *regions, UINT64 event) {
    (void)self;
    return begin(FALSE, buffer, file, count, regions, event);
}

static HRESULT write_buffer(Object *self, ID3D11Buffer *buffer, UINT64 file, UINT count, const char *regions, UINT64 event) {
    (void)self;
    return begin(TRUE, buffer, file, count, regions, event);
}

// Counts, and the one destructor that Microsoft's compiler lays down.

static UINT add_ref(Object *self) {
    InterlockedIncrement(&objects);
    return InterlockedIncrement(&self->references);
}

static UINT release(Object *self) {
    InterlockedDecrement(&objects);
    LONG left = InterlockedDecrement(&self->references);
    if (left < 0) complain("an object is released too often");
    if (!left && self->device) {
        ID3D11Device_Release(self->device);
        free(self);
    }
    return left;
}

static void destruct(Object *self, UINT flags) {
    (void)self, (void)flags;
    complain("the destructor is called");
}

static HRESULT unused(void) {
    complain("a method is called that no backend needs");
    return E_NOTIMPL;
}

static void *ssg_table[] = {add_ref,      release,       destruct,   get_extension_version, create_file, release_file,
                            get_file_info, create_event, destroy_event, wait_event,         read_buffer, write_buffer};

static Object *object(void **table, ID3D11Device *device) {
    Object *made = calloc(1, sizeof *made);
    made->table = table;
    made->device = device;
    ID3D11Device_AddRef(device);
    add_ref(made);
    return made;
}

static Object *get_ext_interface(Object *self, UINT id) {
    if (FAILED(entered("GetExtInterface"))) return NULL;
    return id == (layout == 1 ? 0x51u : 0x7001u) ? object(ssg_table, self->device) : NULL;
}

static void *ext_table[] = {add_ref, release, destruct, unused, get_ext_interface, unused, unused, unused, unused};

EXPORT HRESULT AmdDxExtCreate11(ID3D11Device *device, Object **out) {
    *out = NULL;
    HRESULT wanted = entered("AmdDxExtCreate11");
    if (FAILED(wanted)) return wanted;
    if (wanted == S_FALSE) return S_OK; // and nothing given
    watch(device);
    *out = object(ext_table, device);
    return S_OK;
}

static int forgotten;

static int held(void) {
    int live = objects;
    EnterCriticalSection(&lock);
    for (File *file = files; file; file = file->next) live++;
    for (Event *event = events; event; event = event->next) live++;
    LeaveCriticalSection(&lock);
    return live;
}

EXPORT int ssg_live(void) {
    return held() - forgotten;
}

// What is there now is not counted any more, and keeps no file of the disk's open.
void forget(void) {
    forgotten = held();
    for (File *file = files; file; file = file->next) {
        CloseHandle(file->system);
        file->system = INVALID_HANDLE_VALUE;
    }
}
