// SPDX-License-Identifier: Apache-2.0
/*
 * An opengl32.dll in front of the system's own, whose wglGetProcAddress has the five functions of AMD's SSG extension (the
 * manual, chapter 6). Transfers block, and ignore their sync, as chapter 7 allows. Everything else is the system's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* Not its declarations of what is defined here. */
#define NOGDI
#include <windows.h>

#define EXPORT __declspec(dllexport)

enum { EXTENSIONS = 0x1F03, NUM_EXTENSIONS = 0x821D, BLOCK_TOKEN = 0x7F01, SIZE_TOKEN = 0x7F02, BLOCK = 512, NAME = 1024 };

static const char EXTENSION[] = "GL_AMD_ssg_fake";

static void *real(const char *name) {
    static HMODULE library;
    if (!library) library = LoadLibraryA("opengl32.dll");
    void *(WINAPI *get)(const char *) = (void *)GetProcAddress(library, "wglGetProcAddress");
    void *found = (void *)GetProcAddress(library, name);
    return found ? found : get(name);
}

/* Calls the system's function of this name. */
#define REAL(result, name, types) ((result(WINAPI *) types)real(#name))

EXPORT void *WINAPI wglCreateContext(void *dc) {
    return REAL(void *, wglCreateContext, (void *))(dc);
}

EXPORT int WINAPI wglDeleteContext(void *context) {
    return REAL(int, wglDeleteContext, (void *))(context);
}

EXPORT void *WINAPI wglGetCurrentContext(void) {
    return REAL(void *, wglGetCurrentContext, (void))();
}

EXPORT void *WINAPI wglGetCurrentDC(void) {
    return REAL(void *, wglGetCurrentDC, (void))();
}

EXPORT int WINAPI wglMakeCurrent(void *dc, void *context) {
    return REAL(int, wglMakeCurrent, (void *, void *))(dc, context);
}

EXPORT void WINAPI glGetIntegerv(unsigned name, int *value) {
    REAL(void, glGetIntegerv, (unsigned, int *))(name, value);
    if (name == NUM_EXTENSIONS) ++*value;
}

EXPORT const char *WINAPI glGetStringi(unsigned name, unsigned index) {
    int count = 0;
    if (name == EXTENSIONS) REAL(void, glGetIntegerv, (unsigned, int *))(NUM_EXTENSIONS, &count);
    if (name == EXTENSIONS && index == (unsigned)count) return EXTENSION;
    return REAL(const char *, glGetStringi, (unsigned, unsigned))(name, index);
}

/* 6.1: both rights, whatever the mode is; the name is UTF-8. */
static uint64_t WINAPI create_file(const char *name, unsigned mode) {
    wchar_t wide[NAME];
    (void)mode;
    if (!MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, NAME)) return 0;
    HANDLE file = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, 0, NULL);
    return file == INVALID_HANDLE_VALUE ? 0 : (uint64_t)(uintptr_t)file;
}

static void WINAPI release_file(uint64_t file) {
    CloseHandle((HANDLE)(uintptr_t)file);
}

static void WINAPI file_parameter(uint64_t file, unsigned name, uint64_t *value) {
    LARGE_INTEGER size = {0};
    GetFileSizeEx((HANDLE)(uintptr_t)file, &size);
    *value = name == BLOCK_TOKEN ? BLOCK : name == SIZE_TOKEN ? (uint64_t)size.QuadPart : 0;
}

static OVERLAPPED at(uint64_t offset) {
    OVERLAPPED place = {0};
    place.Offset = (DWORD)offset;
    place.OffsetHigh = (DWORD)(offset >> 32);
    return place;
}

static void WINAPI read_file(unsigned buffer, uint64_t file, int64_t to, uint64_t from, int64_t size, void **sync) {
    unsigned temporary;
    void *bytes = calloc(1, (size_t)size);
    OVERLAPPED place = at(from);
    DWORD count;
    (void)sync;
    if (!bytes) return;
    ReadFile((HANDLE)(uintptr_t)file, bytes, (DWORD)size, &count, &place);
    REAL(void, glCreateBuffers, (int, unsigned *))(1, &temporary);
    REAL(void, glNamedBufferStorage, (unsigned, int64_t, const void *, unsigned))(temporary, size, bytes, 0);
    REAL(void, glCopyNamedBufferSubData, (unsigned, unsigned, int64_t, int64_t, int64_t))(temporary, buffer, 0, to, size);
    REAL(void, glDeleteBuffers, (int, const unsigned *))(1, &temporary);
    REAL(void, glFinish, (void))();
    free(bytes);
}

static void WINAPI write_file(unsigned buffer, uint64_t file, int64_t from, uint64_t to, int64_t size, void **sync) {
    void *bytes = calloc(1, (size_t)size);
    OVERLAPPED place = at(to);
    DWORD count;
    (void)sync;
    if (!bytes) return;
    REAL(void, glGetNamedBufferSubData, (unsigned, int64_t, int64_t, void *))(buffer, from, size, bytes);
    WriteFile((HANDLE)(uintptr_t)file, bytes, (DWORD)size, &count, &place);
    free(bytes);
}

EXPORT void *WINAPI wglGetProcAddress(const char *name) {
    static const struct {
        const char *name;
        void *address;
    } functions[] = {{"glCreateFileAMD", (void *)create_file},
                     {"glReleaseFileAMD", (void *)release_file},
                     {"glGetFileParameteri64vAMD", (void *)file_parameter},
                     {"glReadFileAMD", (void *)read_file},
                     {"glWriteFileAMD", (void *)write_file}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(name, functions[i].name)) return functions[i].address;
    return real(name);
}
