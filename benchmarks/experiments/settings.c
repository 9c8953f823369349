// What cuFile's driver makes of its setters, before it is opened and while it is open: what each answers, and what
// cuFileDriverGetProperties says then.
//   cc -O1 -I/usr/local/cuda/include -o settings settings.c -L/usr/local/cuda/lib64 -lcufile -lcuda && ./settings before; ./settings after
#include <cufile.h>
#include <cuda.h>
#include <stdio.h>
#include <string.h>

static void show(const char *when) {
    CUfileDrvProps_t p;
    memset(&p, 0, sizeof p);
    CUfileError_t e = cuFileDriverGetProperties(&p);
    printf("%s: %d; control 0x%x, poll %zu KiB, direct %zu KiB, cache %u KiB, pinned %u KiB\n", when, e.err,
           p.nvfs.dcontrolflags, p.nvfs.poll_thresh_size, p.nvfs.max_direct_io_size, p.max_device_cache_size,
           p.max_device_pinned_mem_size);
}

static void set(const char *when) {
    int poll = cuFileDriverSetPollMode(1, 8).err;
    int direct = cuFileDriverSetMaxDirectIOSize(8 << 10).err;
    int cache = cuFileDriverSetMaxCacheSize(64 << 10).err;
    int pinned = cuFileDriverSetMaxPinnedMemSize(1 << 20).err;
    printf("%s: SetPollMode %d, SetMaxDirectIOSize %d, SetMaxCacheSize %d, SetMaxPinnedMemSize %d\n", when, poll, direct,
           cache, pinned);
}

int main(int count, char **arguments) {
    int before = count > 1 && !strcmp(arguments[1], "before");
    CUdevice device;
    CUcontext context;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    if (before) {
        set("before opening");
        show("before opening");
    }
    printf("cuFileDriverOpen %d\n", cuFileDriverOpen().err);
    show("opened");
    if (!before) {
        set("open");
        show("set while open");
    }
    printf("cuFileDriverClose %d\n", cuFileDriverClose().err);
    return 0;
}
