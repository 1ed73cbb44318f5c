/* Preloaded into a process: notes what it does to files below a folder, so that a loss of power can be played afterwards, and
 * ends it without warning at a call that is chosen.
 * power_arm(folder, store, at): from now on; store: another folder of the same file system, or NULL where nothing is to be
 * noted; at: the call at which the process is killed, in the middle of it if it writes; 0: none.
 * power_count(): calls so far.
 *
 * Every file below the folder gets a second name in the store, its inode number, so that what is in it can be seen even when
 * its own name is gone. fsync does not wait for a disk: it copies the file to NUMBER.COUNT in the store, which is what a disk
 * has for sure from then on. `log` in the store says in which order names came and went, and what was synced. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define LONGEST 4096
#define SECTOR 512

static char folder[LONGEST], store[LONGEST];
static int armed, noting, log_file = -1, killed_at, calls, copies;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* what happens to names is noted in the order in which it happens */

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t real_write(int file, const void *data, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return real(file, data, size);
}

static int real_open(const char *path, int flags, mode_t mode) {
    static int (*real)(const char *, int, ...);
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

void power_arm(const char *below, const char *notes, int at) {
    char path[LONGEST + 8];
    armed = 0;
    snprintf(folder, sizeof folder, "%s/", below);
    noting = notes != NULL;
    killed_at = at;
    calls = copies = 0;
    if (noting) {
        snprintf(store, sizeof store, "%s", notes);
        snprintf(path, sizeof path, "%s/log", store);
        log_file = real_open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    }
    armed = 1;
}

int power_count(void) { return calls; }

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* One more call; whether it is the one at which the process ends. */
static int is_last(void) { return __sync_add_and_fetch(&calls, 1) == killed_at; }

static void note(const char *format, ...) {
    char line[3 * LONGEST];
    va_list rest;
    if (!noting) return;
    va_start(rest, format);
    int length = vsnprintf(line, sizeof line, format, rest);
    va_end(rest);
    if (real_write(log_file, line, length) != length) end();
}

static int is_below(const char *path) { return armed && strncmp(path, folder, strlen(folder)) == 0; }

/* The name of an open file; whether it has one below the folder, or is the folder. */
static int name_of(int file, char *path) {
    char link[64];
    if (!armed) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, LONGEST - 2);
    if (length < 0) return 0;
    path[length] = '/';
    path[length + 1] = 0;
    if (!is_below(path)) return 0;
    path[length] = 0;
    return strstr(path, " (deleted)") == NULL;
}

static const char *whole(int at, const char *path, char *space) {
    char link[64];
    if (path[0] == '/' || !armed) return path;
    if (at == AT_FDCWD) {
        if (!getcwd(space, LONGEST)) return path;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t length = readlink(link, space, LONGEST - 1);
        if (length < 0) return path;
        space[length] = 0;
    }
    strncat(space, "/", LONGEST - strlen(space) - 1);
    strncat(space, path, LONGEST - strlen(space) - 1);
    return space;
}

static unsigned long number_of(const char *path) {
    struct stat status;
    return lstat(path, &status) ? 0 : (unsigned long)status.st_ino;
}

/* ---- what is in files ---- */

/* Write up to the last sector that ends in the first half: a signal ends no write within a page, and a disk none in a sector. */
static ssize_t half(int file, const void *data, size_t size, off_t at, int placed) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    off_t begin = placed ? at : lseek(file, 0, SEEK_CUR), stop = (begin + (off_t)size / 2) / SECTOR * SECTOR;
    if (stop > begin && placed) real(file, data, stop - begin, at);
    else if (stop > begin) real_write(file, data, stop - begin);
    end();
    return -1;
}

ssize_t write(int file, const void *data, size_t size) {
    char path[LONGEST];
    return name_of(file, path) && is_last() ? half(file, data, size, 0, 0) : real_write(file, data, size);
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    REAL(pwrite);
    char path[LONGEST];
    return name_of(file, path) && is_last() ? half(file, data, size, at, 1) : real(file, data, size, at);
}
ssize_t pwrite64(int file, const void *data, size_t size, off_t at) {
    REAL(pwrite64);
    char path[LONGEST];
    return name_of(file, path) && is_last() ? half(file, data, size, at, 1) : real(file, data, size, at);
}
int ftruncate(int file, off_t size) {
    REAL(ftruncate);
    char path[LONGEST];
    if (name_of(file, path) && is_last()) end();
    return real(file, size);
}
int ftruncate64(int file, off_t size) {
    REAL(ftruncate64);
    char path[LONGEST];
    if (name_of(file, path) && is_last()) end();
    return real(file, size);
}

/* What is in a file now is on the disk. */
static void keep(int file, unsigned long number) {
    static char block[1 << 16];
    char name[LONGEST + 64], source[64];
    ssize_t n = 0;
    snprintf(name, sizeof name, "%s/%lu.%d", store, number, ++copies);
    snprintf(source, sizeof source, "/proc/self/fd/%d", file);
    int from = real_open(source, O_RDONLY, 0), to = real_open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    while (from >= 0 && to >= 0 && (n = read(from, block, sizeof block)) > 0)
        if (real_write(to, block, n) != n) end();
    if (from < 0 || to < 0 || n < 0) end(); /* counted as a death that nobody wanted */
    close(from);
    close(to);
    note("sync\t%lu\t%d\n", number, copies);
}

int fsync(int file) {
    REAL(fsync);
    char path[LONGEST];
    struct stat status;
    if (!name_of(file, path)) return real(file);
    if (is_last()) end();
    if (!noting) return 0;
    if (fstat(file, &status)) return -1;
    pthread_mutex_lock(&turn);
    if (S_ISDIR(status.st_mode)) note("syncdir\t%s\n", path);
    else keep(file, (unsigned long)status.st_ino);
    pthread_mutex_unlock(&turn);
    return 0;
}
int fdatasync(int file) { return fsync(file); }

/* ---- names ---- */

static int real_link(const char *from, const char *to) {
    static int (*real)(int, const char *, int, const char *, int);
    if (!real) real = (int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");
    return real(AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int opened(int at, const char *given, int flags, mode_t mode) {
    static int (*real)(int, const char *, int, ...);
    if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    char space[LONGEST], second[LONGEST + 32];
    const char *path = whole(at, given, space);
    if (!(flags & O_CREAT) || !is_below(path) || number_of(path)) return real(at, given, flags, mode);
    if (is_last()) end();
    pthread_mutex_lock(&turn);
    int was_there = number_of(path) != 0, file = real(at, given, flags, mode), error = errno;
    if (file >= 0 && !was_there && noting) {
        unsigned long number = number_of(path);
        snprintf(second, sizeof second, "%s/%lu", store, number);
        if (real_link(path, second)) end();
        note("create\t%s\t%lu\n", path, number);
    }
    pthread_mutex_unlock(&turn);
    errno = error;
    return file;
}

#define MODE \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }
int open(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags, mode); }

int renameat(int at, const char *given, int onto_at, const char *given_onto) {
    REAL(renameat);
    char space[LONGEST], onto_space[LONGEST];
    const char *from = whole(at, given, space), *to = whole(onto_at, given_onto, onto_space);
    if (!is_below(from) && !is_below(to)) return real(at, given, onto_at, given_onto);
    if (is_last()) end();
    pthread_mutex_lock(&turn);
    int failed = real(at, given, onto_at, given_onto), error = errno;
    if (!failed) note("rename\t%s\t%s\n", from, to);
    pthread_mutex_unlock(&turn);
    errno = error;
    return failed;
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int at, const char *given, int onto_at, const char *given_onto, int flags) {
    REAL(linkat);
    char space[LONGEST], onto_space[LONGEST];
    const char *from = whole(at, given, space), *to = whole(onto_at, given_onto, onto_space);
    if (!is_below(to)) return real(at, given, onto_at, given_onto, flags);
    if (is_last()) end();
    pthread_mutex_lock(&turn);
    int failed = real(at, given, onto_at, given_onto, flags), error = errno;
    if (!failed) note("link\t%s\t%s\n", from, to);
    pthread_mutex_unlock(&turn);
    errno = error;
    return failed;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int mkdirat(int at, const char *given, mode_t mode) {
    REAL(mkdirat);
    char space[LONGEST];
    const char *path = whole(at, given, space);
    if (!is_below(path)) return real(at, given, mode);
    if (is_last()) end();
    pthread_mutex_lock(&turn);
    int failed = real(at, given, mode), error = errno;
    if (!failed) note("mkdir\t%s\n", path);
    pthread_mutex_unlock(&turn);
    errno = error;
    return failed;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int at, const char *given, int flags) {
    REAL(unlinkat);
    char space[LONGEST];
    const char *path = whole(at, given, space);
    if (!is_below(path)) return real(at, given, flags);
    if (is_last()) end();
    pthread_mutex_lock(&turn);
    int failed = real(at, given, flags), error = errno;
    if (!failed) note("remove\t%s\n", path);
    pthread_mutex_unlock(&turn);
    errno = error;
    return failed;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
