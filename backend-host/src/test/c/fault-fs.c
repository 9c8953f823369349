// SPDX-License-Identifier: Apache-2.0
/*
 * A FUSE file system that fails as ordered: fault-fs -f MOUNTPOINT. It has one file, "data", and those that are created. Lines
 * on its input are orders, each answered by a line:
 *
 *   fail OP OFFSET ERRNO TIMES    requests that cover OFFSET answer ERRNO; TIMES may be -1 for ever, OFFSET -1 for any
 *   short OP OFFSET BYTES TIMES   requests that cover OFFSET move at most BYTES, which reach beyond OFFSET or not
 *   hold OP OFFSET                requests that cover OFFSET wait for "clear"
 *   held COUNT                    is answered when so many requests wait
 *   slow MICROSECONDS             every read and write takes so long, at random between 0 and this
 *   unstated                      files state a length of 0, until "clear"
 *   clear                         no faults any more; what waits goes on
 *
 * OP is r, w, s (fsync), o (open), g (getattr), t (truncate), c (close), n (rename), d (fsync of the folder), m (chmod), u (chown),
 * or x (setxattr), of which all but the first two cover every offset. With the variable SYNC_DIRECT it agrees to no asynchronous
 * direct I/O, with CACHED files are in the page cache, with OWNED "data" is another user's and has an attribute. The end of the input ends it, and unmounts: the process that mounts it may be killed in any way. Compiled with libfuse 3, or with 2.
 */
#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 31
#endif
#include <errno.h>
#if FUSE_USE_VERSION < 30
#include <fuse/fuse.h>
#else
#include <fuse3/fuse.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPACITY (16 << 20)
#define RULES 16
#define FILES 16
#define NAME 300
#define OWNER 1234 /* with the variable OWNED */
#define ATTRIBUTE "user.origin"

#if FUSE_USE_VERSION < 30
#define OF_3(...)
#else
#define OF_3(...) __VA_ARGS__
#endif

struct rule {
    char kind; /* f, s, h; 0 if unused */
    char op;
    off_t at;
    long value;
    long times;
};

struct file {
    char name[NAME]; /* empty if unused */
    char *content;
    off_t length;
    mode_t mode;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rule rules[RULES];
static struct file files[FILES];
static int held;
static unsigned generation; /* of the rules: what waits goes on when it changes */
static unsigned slow_micros;
static int unstated; /* files state a length of 0 */
static uint64_t seed = 1;

static int covers(const struct rule *rule, char op, off_t offset, size_t size) {
    return rule->kind && rule->op == op && rule->times != 0
        && ((op != 'r' && op != 'w') || rule->at < 0 || (offset <= rule->at && rule->at < offset + (off_t)size));
}

/* Returns how many bytes the request may move, or -errno; waits where ordered. */
static long fate(char op, off_t offset, size_t size) {
    long most = (long)size;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < RULES; i++) {
        struct rule *rule = &rules[i];
        if (!covers(rule, op, offset, size)) continue;
        if (rule->kind == 'h') {
            unsigned mine = generation;
            held++;
            pthread_cond_broadcast(&changed);
            while (mine == generation) pthread_cond_wait(&changed, &lock);
            held--;
            break;
        }
        if (rule->times > 0) rule->times--;
        most = rule->kind == 'f' ? -rule->value : rule->value < most ? rule->value : most;
        break;
    }
    unsigned micros = 0;
    if (slow_micros && (op == 'r' || op == 'w')) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        micros = (unsigned)(seed >> 33) % slow_micros;
    }
    pthread_mutex_unlock(&lock);
    if (micros) usleep(micros);
    return most;
}

/* Returns 0, or -errno, of a request that moves no bytes. */
static int fate_of(char op) {
    long answer = fate(op, 0, 1);
    return answer < 0 ? (int)answer : 0;
}

/* The lock is held. */
static struct file *find(const char *path) {
    for (int i = 0; i < FILES; i++) {
        if (*files[i].name && !strcmp(files[i].name, path + 1)) return &files[i];
    }
    return NULL;
}

/* The lock is held. */
static struct file *add_file(const char *path, mode_t mode) {
    for (int i = 0; i < FILES && strlen(path + 1) < NAME; i++) {
        struct file *file = &files[i];
        if (*file->name || !(file->content = calloc(1, CAPACITY))) continue;
        strcpy(file->name, path + 1);
        file->length = 0;
        file->mode = mode;
        return file;
    }
    return NULL;
}

/* The lock is held. */
static void remove_file(struct file *file) {
    free(file->content);
    *file->name = 0;
}

static int is_owned(const char *path) {
    return getenv("OWNED") && !strcmp(path, "/data");
}

static int fs_getattr(const char *path, struct stat *status OF_3(, struct fuse_file_info *info)) {
    OF_3((void)info;)
    int answer = fate_of('g');
    if (answer) return answer;
    memset(status, 0, sizeof *status);
    if (!strcmp(path, "/")) {
        status->st_mode = S_IFDIR | 0755;
        status->st_nlink = 2;
        return 0;
    }
    pthread_mutex_lock(&lock);
    struct file *file = find(path);
    if (file) {
        status->st_mode = S_IFREG | file->mode;
        status->st_nlink = 1;
        status->st_size = unstated ? 0 : file->length;
        status->st_blocks = (status->st_size + 511) / 512;
        status->st_uid = status->st_gid = is_owned(path) ? OWNER : 0;
    }
    pthread_mutex_unlock(&lock);
    return file ? 0 : -ENOENT;
}

static int fs_readdir(const char *path, void *into, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info
                      OF_3(, enum fuse_readdir_flags flags)) {
    (void)path, (void)offset, (void)info;
    OF_3((void)flags;)
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FILES; i++) {
        if (*files[i].name) fill(into, files[i].name, NULL, 0 OF_3(, 0));
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static int fs_open(const char *path, struct fuse_file_info *info) {
    (void)path;
    info->direct_io = !getenv("CACHED"); /* every request arrives here, as it was made */
    return fate_of('o');
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *info) {
    info->direct_io = !getenv("CACHED");
    int answer = fate_of('o');
    if (answer) return answer;
    pthread_mutex_lock(&lock);
    struct file *file = add_file(path, mode & 07777);
    pthread_mutex_unlock(&lock);
    return file ? 0 : -ENOSPC;
}

static int fs_unlink(const char *path) {
    pthread_mutex_lock(&lock);
    struct file *file = find(path);
    if (file) remove_file(file);
    pthread_mutex_unlock(&lock);
    return file ? 0 : -ENOENT;
}

static int fs_rename(const char *from, const char *to OF_3(, unsigned flags)) {
    OF_3(if (flags) return -EINVAL;)
    int answer = strstr(to, "/.fuse_hidden") ? 0 : fate_of('n'); /* what libfuse makes of an unlink of an open file */
    if (answer) return answer;
    pthread_mutex_lock(&lock);
    struct file *file = find(from);
    struct file *replaced = find(to);
    if (file && file != replaced && strlen(to + 1) < NAME) {
        if (replaced) remove_file(replaced);
        strcpy(file->name, to + 1);
    }
    pthread_mutex_unlock(&lock);
    return file ? 0 : -ENOENT;
}

static int fs_chmod(const char *path, mode_t mode OF_3(, struct fuse_file_info *info)) {
    OF_3((void)info;)
    int answer = fate_of('m');
    if (answer) return answer;
    pthread_mutex_lock(&lock);
    struct file *file = find(path);
    if (file) file->mode = mode & 07777;
    pthread_mutex_unlock(&lock);
    return file ? 0 : -ENOENT;
}

static int fs_chown(const char *path, uid_t user, gid_t group OF_3(, struct fuse_file_info *info)) {
    (void)path, (void)user, (void)group;
    OF_3((void)info;)
    return fate_of('u'); /* and nothing changes */
}

static int fs_listxattr(const char *path, char *names, size_t size) {
    if (!is_owned(path)) return 0;
    if (size >= sizeof ATTRIBUTE) memcpy(names, ATTRIBUTE, sizeof ATTRIBUTE);
    return size && size < sizeof ATTRIBUTE ? -ERANGE : (int)sizeof ATTRIBUTE;
}

static int fs_getxattr(const char *path, const char *name, char *value, size_t size) {
    if (!is_owned(path) || strcmp(name, ATTRIBUTE)) return -ENODATA;
    if (size) *value = '1';
    return 1;
}

static int fs_setxattr(const char *path, const char *name, const char *value, size_t size, int flags) {
    (void)path, (void)name, (void)value, (void)size, (void)flags;
    return fate_of('x');
}

static int fs_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *info) {
    (void)info;
    long most = fate('r', offset, size);
    if (most < 0) return (int)most;
    pthread_mutex_lock(&lock);
    struct file *file = find(path);
    off_t left = file && offset < file->length ? file->length - offset : 0;
    if (most > left) most = left;
    if (most) memcpy(bytes, file->content + offset, most);
    pthread_mutex_unlock(&lock);
    return file ? (int)most : -ENOENT;
}

static int fs_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *info) {
    (void)info;
    long most = fate('w', offset, size);
    if (most < 0) return (int)most;
    if (offset >= CAPACITY) return -ENOSPC;
    if (most > CAPACITY - offset) most = CAPACITY - offset;
    pthread_mutex_lock(&lock);
    struct file *file = find(path);
    if (file) {
        memcpy(file->content + offset, bytes, most);
        if (offset + most > file->length) file->length = offset + most;
    }
    pthread_mutex_unlock(&lock);
    return file ? (int)most : -ENOENT;
}

static int fs_truncate(const char *path, off_t size OF_3(, struct fuse_file_info *info)) {
    OF_3((void)info;)
    int answer = fate_of('t');
    if (answer) return answer;
    if (size > CAPACITY) return -ENOSPC;
    pthread_mutex_lock(&lock);
    struct file *file = find(path);
    if (file) {
        if (size < file->length) memset(file->content + size, 0, file->length - size);
        file->length = size;
    }
    pthread_mutex_unlock(&lock);
    return file ? 0 : -ENOENT;
}

static int fs_fsync(const char *path, int data_only, struct fuse_file_info *info) {
    (void)path, (void)data_only, (void)info;
    return fate_of('s');
}

static int fs_fsyncdir(const char *path, int data_only, struct fuse_file_info *info) {
    (void)path, (void)data_only, (void)info;
    return fate_of('d');
}

static int fs_flush(const char *path, struct fuse_file_info *info) {
    (void)path, (void)info;
    return fate_of('c');
}

static void clear(void) {
    pthread_mutex_lock(&lock);
    memset(rules, 0, sizeof rules);
    slow_micros = 0;
    unstated = 0;
    generation++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void add(struct rule rule) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < RULES; i++) {
        if (!rules[i].kind) {
            rules[i] = rule;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static int obey(const char *line) {
    struct rule rule = {.times = -1};
    long count;
    if (!strcmp(line, "clear\n")) {
        clear();
    } else if (!strcmp(line, "unstated\n")) {
        pthread_mutex_lock(&lock);
        unstated = 1;
        pthread_mutex_unlock(&lock);
    } else if (sscanf(line, "slow %u", &slow_micros) == 1) {
    } else if (sscanf(line, "held %ld", &count) == 1) {
        pthread_mutex_lock(&lock);
        while (held < count) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    } else {
        char word[8];
        long at;
        int parts = sscanf(line, "%7s %c %ld %ld %ld", word, &rule.op, &at, &rule.value, &rule.times);
        if (parts != (word[0] == 'h' ? 3 : 5)) return 0;
        rule.kind = word[0];
        rule.at = at;
        add(rule);
    }
    return 1;
}

static void *serve(void *unused) {
    char line[128];
    (void)unused;
    while (fgets(line, sizeof line, stdin)) {
        puts(obey(line) ? "ok" : "what?");
        fflush(stdout);
    }
    clear();
    kill(getpid(), SIGTERM); /* libfuse ends its loop and unmounts */
    return NULL;
}

#if FUSE_USE_VERSION < 30
static void *fs_init(struct fuse_conn_info *connection) {
    if (getenv("SYNC_DIRECT")) connection->async_read = 0;
#else
static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config) {
    if (getenv("SYNC_DIRECT")) connection->want &= ~FUSE_CAP_ASYNC_DIO;
    config->attr_timeout = 0; /* a changed length is seen at once */
    config->entry_timeout = 0;
    config->direct_io = !getenv("CACHED");
#endif
    pthread_t server;
    pthread_mutex_lock(&lock);
    struct file *data = add_file("/data", 0644);
    if (data) data->length = CAPACITY;
    pthread_mutex_unlock(&lock);
    puts("mounted");
    fflush(stdout);
    pthread_create(&server, NULL, serve, NULL);
    return NULL;
}

static const struct fuse_operations operations = {
    .init = fs_init,
    .getattr = fs_getattr,
    .readdir = fs_readdir,
    .open = fs_open,
    .create = fs_create,
    .unlink = fs_unlink,
    .rename = fs_rename,
    .chmod = fs_chmod,
    .chown = fs_chown,
    .listxattr = fs_listxattr,
    .getxattr = fs_getxattr,
    .setxattr = fs_setxattr,
    .read = fs_read,
    .write = fs_write,
    .truncate = fs_truncate,
    .fsync = fs_fsync,
    .fsyncdir = fs_fsyncdir,
    .flush = fs_flush,
};

int main(int count, char **words) {
    return fuse_main(count, words, &operations, NULL);
}
