// SPDX-License-Identifier: Apache-2.0
/*
 * The double of libhipfile, from AMD's documentation and header of hipFile: a front of hipFile* before backend-cufile's
 * fake of cuFile, which moves the bytes. What differs from cuFile is here: no name has a version, at most 0x7ffff000 bytes
 * a call, -1 with errno for errors of the system, errors 5001 to 5038 alone, properties and settings that are not
 * implemented, batches and stream calls that are whole from 0.5 on, and a fall-back that HIPFILE_ALLOW_COMPAT_MODE forbids.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct {
    int err;
    int hip;
} status;

struct descriptor {
    int type;
    union {
        int fd;
        void *handle;
    } of;
    const void *operations;
};
_Static_assert(sizeof(struct descriptor) == 24, "hipFileDescr_t");

enum { NOT_INITIALIZED = 5001, IO_NOT_SUPPORTED = 5008, INVALID = 5022, HIP_ERROR = 5011, INTERNAL = 5030, LAST = 5038 };
static const size_t MOST = 0x7ffff000;

int hip_double_here(void);
status cuFileDriverOpen(void);
status cuFileDriverClose_v2(void);
status cuFileHandleRegister(void **handle, struct descriptor *descriptor);
void cuFileHandleDeregister(void *handle);
status cuFileBufRegister(const void *base, size_t bytes, int flags);
status cuFileBufDeregister(const void *base);
ssize_t cuFileRead(void *handle, void *base, size_t bytes, off_t file_offset, off_t buffer_offset);
ssize_t cuFileWrite(void *handle, const void *base, size_t bytes, off_t file_offset, off_t buffer_offset);
status cuFileBatchIOSetUp(void **batch, unsigned most);
status cuFileBatchIOSubmit(void *batch, unsigned count, void *entries, unsigned flags);
status cuFileBatchIOGetStatus(void *batch, unsigned least, unsigned *count, void *events, void *timeout);
void cuFileBatchIODestroy(void *batch);
status cuFileReadAsync(void *handle, void *base, size_t *bytes, off_t *file_offset, off_t *buffer_offset, ssize_t *done,
                       void *stream);
status cuFileWriteAsync(void *handle, void *base, size_t *bytes, off_t *file_offset, off_t *buffer_offset, ssize_t *done,
                        void *stream);
status cuFileStreamRegister(void *stream, unsigned flags);
status cuFileStreamDeregister(void *stream);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static unsigned minor = 5;
static int compat = -1; /* else what the environment said at the first use */

/* For tests: the version 0.minor, and whether it may fall back. */
EXPORT void hipfile_double_set(unsigned reported, int allowed) {
    minor = reported;
    compat = allowed;
}

/* For tests: users are gone, as after a reset of the GPU. */
EXPORT void hipfile_double_forget(void) {
    users = 0;
}

/* hipFile acts on the device of the memory, and needs no context; what is behind this double does. */
#define HERE(call)                                  \
    do {                                            \
        int at_ = hip_double_here();                \
        return at_ ? (status){HIP_ERROR, at_} : told(call); \
    } while (0)

static status told(status answer) {
    if (answer.err == 5040 || answer.err == 5049) answer.err = 5035; /* hipFileBatchSubmitFailed */
    if (answer.err > LAST) answer.err = INTERNAL;
    return answer;
}

static status plain(int err) {
    return (status){err, 0};
}

/* Opening is optional: the first registration does it too. */
static status opened(int more) {
    status answer = plain(0);
    pthread_mutex_lock(&lock);
    hip_double_here();
    if (!users) answer = told(cuFileDriverOpen());
    if (!answer.err && (more || !users)) users++;
    pthread_mutex_unlock(&lock);
    return answer;
}

EXPORT status hipFileDriverOpen(void) {
    return opened(1);
}

EXPORT status hipFileDriverClose(void) {
    status answer = plain(0);
    pthread_mutex_lock(&lock);
    if (!users) answer = plain(NOT_INITIALIZED);
    else if (!--users) answer = told(cuFileDriverClose_v2());
    pthread_mutex_unlock(&lock);
    return answer;
}

EXPORT int64_t hipFileUseCount(void) {
    return users;
}

EXPORT status hipFileGetVersion(unsigned *major, unsigned *to_minor, unsigned *patch) {
    if (major) *major = 0;
    if (to_minor) *to_minor = minor;
    if (patch) *patch = 0;
    return plain(0);
}

EXPORT status hipFileDriverGetProperties(void *properties) {
    (void)properties;
    return plain(INTERNAL);
}

EXPORT status hipFileHandleRegister(void **handle, struct descriptor *descriptor) {
    if (!handle || !descriptor) return plain(INVALID);
    if (descriptor->type != 1) return plain(IO_NOT_SUPPORTED);
    status answer = opened(0);
    return answer.err ? answer : told(cuFileHandleRegister(handle, descriptor));
}

EXPORT void hipFileHandleDeregister(void *handle) {
    if (handle) cuFileHandleDeregister(handle);
}

EXPORT status hipFileBufRegister(const void *base, size_t bytes, int flags) {
    status answer = opened(0);
    if (answer.err) return answer;
    HERE(cuFileBufRegister(base, bytes, flags));
}

EXPORT status hipFileBufDeregister(const void *base) {
    HERE(cuFileBufDeregister(base));
}

static int may_fall_back(void) {
    static int said = -1;
    if (compat >= 0) return compat;
    if (said < 0) {
        const char *value = getenv("HIPFILE_ALLOW_COMPAT_MODE");
        said = !(value && !strcasecmp(value, "false"));
    }
    return said;
}

static int is_fast(const void *base, size_t bytes, off_t file_offset, off_t buffer_offset) {
    return !((bytes | (size_t)file_offset | ((size_t)(uintptr_t)base + (size_t)buffer_offset)) & 4095);
}

static int refused(const void *base, size_t *bytes, off_t file_offset, off_t buffer_offset, ssize_t *answer) {
    if (file_offset < 0 || buffer_offset < 0 || !users) {
        errno = EINVAL;
        *answer = -1;
        return 1;
    }
    int result = hip_double_here();
    if (result) {
        *answer = -result; /* a hipError_t, as it is */
        return 1;
    }
    if (*bytes > MOST) *bytes = MOST;
    if (is_fast(base, *bytes, file_offset, buffer_offset) || may_fall_back()) return 0;
    *answer = -INTERNAL; /* all its ways have refused */
    return 1;
}

static ssize_t count(ssize_t answer) {
    return answer < -LAST ? -INTERNAL : answer;
}

EXPORT ssize_t hipFileRead(void *handle, void *base, size_t bytes, off_t file_offset, off_t buffer_offset) {
    ssize_t answer;
    if (refused(base, &bytes, file_offset, buffer_offset, &answer)) return answer;
    return count(cuFileRead(handle, base, bytes, file_offset, buffer_offset));
}

EXPORT ssize_t hipFileWrite(void *handle, const void *base, size_t bytes, off_t file_offset, off_t buffer_offset) {
    ssize_t answer;
    if (refused(base, &bytes, file_offset, buffer_offset, &answer)) return answer;
    return count(cuFileWrite(handle, base, bytes, file_offset, buffer_offset));
}

EXPORT status hipFileBatchIOSetUp(void **batch, unsigned most) {
    HERE(cuFileBatchIOSetUp(batch, most));
}

EXPORT status hipFileBatchIOSubmit(void *batch, unsigned entries, void *parameters, unsigned flags) {
    HERE(cuFileBatchIOSubmit(batch, entries, parameters, flags));
}

EXPORT status hipFileBatchIOGetStatus(void *batch, unsigned least, unsigned *most, void *events, void *timeout) {
    if (minor < 5) return plain(INTERNAL);
    HERE(cuFileBatchIOGetStatus(batch, least, most, events, timeout));
}

EXPORT void hipFileBatchIODestroy(void *batch) {
    if (minor >= 5) cuFileBatchIODestroy(batch);
}

EXPORT status hipFileReadAsync(void *handle, void *base, size_t *bytes, off_t *file_offset, off_t *buffer_offset,
                               ssize_t *done, void *stream) {
    if (!base || !bytes || !file_offset || !buffer_offset || !done) return plain(INVALID);
    HERE(cuFileReadAsync(handle, base, bytes, file_offset, buffer_offset, done, stream));
}

EXPORT status hipFileWriteAsync(void *handle, void *base, size_t *bytes, off_t *file_offset, off_t *buffer_offset,
                                ssize_t *done, void *stream) {
    if (!base || !bytes || !file_offset || !buffer_offset || !done) return plain(INVALID);
    HERE(cuFileWriteAsync(handle, base, bytes, file_offset, buffer_offset, done, stream));
}

EXPORT status hipFileStreamRegister(void *stream, unsigned flags) {
    HERE(cuFileStreamRegister(stream, flags));
}

EXPORT status hipFileStreamDeregister(void *stream) {
    HERE(cuFileStreamDeregister(stream));
}
