// SPDX-License-Identifier: Apache-2.0
/*
 * A FUSE file system of one file, "data", that fails as ordered: fault-fs -f MOUNTPOINT. Lines on its input are orders,
 * each answered by a line:
 *
 *   fail OP OFFSET ERRNO TIMES    requests that cover OFFSET answer ERRNO; TIMES may be -1 for ever
 *   short OP OFFSET BYTES TIMES   requests that cover OFFSET move at most BYTES, which reach beyond OFFSET or not
 *   hold OP OFFSET                requests that cover OFFSET wait for "clear"
 *   held COUNT                    is answered when so many requests wait
 *   slow MICROSECONDS             every read takes so long, at random between 0 and this
 *   unstated                      the file states a length of 0, until "clear"
 *   clear                         no faults any more; what waits goes on
 *
 * OP is r, w or s (fsync, which covers every offset). The end of the input ends it, and unmounts: the process that mounts it may
 * be killed in any way.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPACITY (16 << 20)
#define RULES 16

struct rule {
    char kind; /* f, s, h; 0 if unused */
    char op;
    off_t at;
    long value;
    long times;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rule rules[RULES];
static int held;
static unsigned generation; /* of the rules: what waits goes on when it changes */
static unsigned slow_micros;
static int unstated; /* the file states a length of 0 */
static uint64_t seed = 1;
static char content[CAPACITY];
static off_t length = CAPACITY;

static int covers(const struct rule *rule, char op, off_t offset, size_t size) {
    return rule->kind && rule->op == op && rule->times != 0
        && (op == 's' || (offset <= rule->at && rule->at < offset + (off_t)size));
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
    if (slow_micros && op == 'r') {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        micros = (unsigned)(seed >> 33) % slow_micros;
    }
    pthread_mutex_unlock(&lock);
    if (micros) usleep(micros);
    return most;
}

static int fs_getattr(const char *path, struct stat *status, struct fuse_file_info *file) {
    (void)file;
    memset(status, 0, sizeof *status);
    if (!strcmp(path, "/")) {
        status->st_mode = S_IFDIR | 0755;
        status->st_nlink = 2;
        return 0;
    }
    if (strcmp(path, "/data")) return -ENOENT;
    status->st_mode = S_IFREG | 0644;
    status->st_nlink = 1;
    pthread_mutex_lock(&lock);
    status->st_size = unstated ? 0 : length;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int fs_open(const char *path, struct fuse_file_info *file) {
    (void)path;
    file->direct_io = 1; /* every request arrives here, as it was made */
    return 0;
}

static int fs_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    long most = fate('r', offset, size);
    if (most < 0) return (int)most;
    pthread_mutex_lock(&lock);
    off_t left = offset < length ? length - offset : 0;
    if (most > left) most = left;
    memcpy(bytes, content + offset, most);
    pthread_mutex_unlock(&lock);
    return (int)most;
}

static int fs_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    long most = fate('w', offset, size);
    if (most < 0) return (int)most;
    if (offset >= CAPACITY) return -ENOSPC;
    if (most > CAPACITY - offset) most = CAPACITY - offset;
    pthread_mutex_lock(&lock);
    memcpy(content + offset, bytes, most);
    if (offset + most > length) length = offset + most;
    pthread_mutex_unlock(&lock);
    return (int)most;
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *file) {
    (void)path, (void)file;
    if (size > CAPACITY) return -ENOSPC;
    pthread_mutex_lock(&lock);
    if (size < length) memset(content + size, 0, length - size);
    length = size;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int fs_fsync(const char *path, int data_only, struct fuse_file_info *file) {
    (void)path, (void)data_only, (void)file;
    long answer = fate('s', 0, 1);
    return answer < 0 ? (int)answer : 0;
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
    long at, count;
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

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config) {
    pthread_t server;
    (void)connection;
    config->attr_timeout = 0; /* a changed length is seen at once */
    config->direct_io = 1;
    puts("mounted");
    fflush(stdout);
    pthread_create(&server, NULL, serve, NULL);
    return NULL;
}

static const struct fuse_operations operations = {
    .init = fs_init,
    .getattr = fs_getattr,
    .open = fs_open,
    .read = fs_read,
    .write = fs_write,
    .truncate = fs_truncate,
    .fsync = fs_fsync,
};

int main(int count, char **words) {
    return fuse_main(count, words, &operations, NULL);
}
