/* Preloaded into a process: counts the calls that change files below a folder, and lets the n-th of them fail.
 * fault_arm(folder, n, error, sticky): from now on; n = 0 only counts; sticky: all calls after the n-th fail too.
 * fault_count(): calls so far. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[4096];
static int armed, calls, failing, error_number, all_after;

void fault_arm(const char *below, int n, int error, int sticky) {
    armed = below != NULL;
    snprintf(folder, sizeof folder, "%s", below ? below : "");
    calls = 0;
    failing = n;
    error_number = error;
    all_after = sticky;
}

int fault_count(void) { return calls; }

static int fails_at(const char *path) {
    if (!armed || strncmp(path, folder, strlen(folder)) != 0) return 0;
    int call = __sync_add_and_fetch(&calls, 1);
    if (failing == 0 || call < failing || (call > failing && !all_after)) return 0;
    errno = error_number;
    return 1;
}

static int fails(int file) {
    char link[64], path[4096];
    if (!armed) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails_at(path);
}

/* A path may be relative to an open folder. */
static int fails_in(int at, const char *path) {
    char link[64], whole[8192];
    if (!armed || path[0] == '/' || at == AT_FDCWD) return fails_at(path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t length = readlink(link, whole, sizeof whole - 4096);
    if (length < 0) return 0;
    snprintf(whole + length, sizeof whole - length, "/%.4000s", path);
    return fails_at(whole);
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *data, size_t size) { REAL(write); return fails(file) ? -1 : real(file, data, size); }
ssize_t pwrite(int file, const void *data, size_t size, off_t at) { REAL(pwrite); return fails(file) ? -1 : real(file, data, size, at); }
ssize_t pwrite64(int file, const void *data, size_t size, off_t at) { REAL(pwrite64); return fails(file) ? -1 : real(file, data, size, at); }
int ftruncate64(int file, off_t size) { REAL(ftruncate64); return fails(file) ? -1 : real(file, size); }
int fsync(int file) { REAL(fsync); return fails(file) ? -1 : real(file); }
int fdatasync(int file) { REAL(fdatasync); return fails(file) ? -1 : real(file); }
int ftruncate(int file, off_t size) { REAL(ftruncate); return fails(file) ? -1 : real(file, size); }
int rename(const char *from, const char *to) { REAL(rename); return fails_at(to) ? -1 : real(from, to); }
int unlink(const char *path) { REAL(unlink); return fails_at(path) ? -1 : real(path); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); return fails_at(path) ? -1 : real(path, mode); }
int rmdir(const char *path) { REAL(rmdir); return fails_at(path) ? -1 : real(path); }
int unlinkat(int at, const char *path, int flags) { REAL(unlinkat); return fails_in(at, path) ? -1 : real(at, path, flags); }
ssize_t read(int file, void *data, size_t size) { REAL(read); return fails(file) ? -1 : real(file, data, size); }
ssize_t pread(int file, void *data, size_t size, off_t at) { REAL(pread); return fails(file) ? -1 : real(file, data, size, at); }
ssize_t pread64(int file, void *data, size_t size, off_t at) { REAL(pread64); return fails(file) ? -1 : real(file, data, size, at); }

static int opened(int at, const char *path, int flags, mode_t mode) {
    static int (*real)(int, const char *, int, ...);
    if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    return (flags & O_CREAT) && fails_in(at, path) ? -1 : real(at, path, flags, mode);
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
