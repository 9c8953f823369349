// SPDX-License-Identifier: Apache-2.0
// A file system that calls its file a hole although it has data, as ZFS did for files just written: hole FOLDER.
// gcc -D_GNU_SOURCE -o hole hole.c $(pkg-config --cflags --libs fuse3), with libfuse3-dev; ends with fusermount3 -u FOLDER.
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };

static int attributes(const char *path, struct stat *s, struct fuse_file_info *info) {
    memset(s, 0, sizeof *s);
    s->st_nlink = 1;
    if (strcmp(path, "/") == 0) {
        s->st_mode = S_IFDIR | 0755;
        return 0;
    }
    s->st_mode = S_IFREG | 0644;
    s->st_size = SIZE;
    s->st_blocks = SIZE / 512; // all of it is allocated
    return strcmp(path, "/f") == 0 ? 0 : -ENOENT;
}

static int list(const char *path, void *into, fuse_fill_dir_t add, off_t offset, struct fuse_file_info *info,
        enum fuse_readdir_flags flags) {
    add(into, "f", NULL, 0, 0);
    return 0;
}

static int contents(const char *path, char *into, size_t length, off_t offset, struct fuse_file_info *info) {
    if (offset >= SIZE) {
        return 0;
    }
    length = offset + (off_t) length > SIZE ? (size_t) (SIZE - offset) : length;
    memset(into, 7, length);
    return (int) length;
}

static off_t seek(const char *path, off_t offset, int whence, struct fuse_file_info *info) {
    return whence == SEEK_DATA ? -ENXIO : offset;
}

static const struct fuse_operations operations = {.getattr = attributes, .readdir = list, .read = contents, .lseek = seek};

int main(int count, char **words) {
    char *options[] = {words[0], "-f", words[1], NULL};
    return count == 2 ? fuse_main(3, options, &operations, NULL) : 1;
}
