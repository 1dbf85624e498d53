/* Records what a program writes below a folder, in order, so that a power failure can be replayed at any point.
 *
 * clang -shared -fPIC -o disk-recorder.so disk-recorder.c -ldl
 * DISK_ROOT=FOLDER DISK_LOG=FILE LD_PRELOAD=./disk-recorder.so netwatch-outbox add ...
 *
 * DISK_FAIL=N: the Nth synchronization fails with EIO. DISK_SYNCHRONOUS=NORMAL: what SQLite is told in place of FULL.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* One record: its kind, the path, a second path or an offset, and the data. */
static void record(char kind, const char *path, uint64_t offset, const void *data, size_t length) {
	struct { uint32_t path, data; uint64_t offset; char kind[8]; } head = {strlen(path), length, offset, {kind}};
	struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)data, length}};
	int saved = errno, file = NEXT(open)(getenv("DISK_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
	if (file < 0 || writev(file, parts, 3) != (ssize_t)(sizeof head + head.path + length))
		abort();
	close(file);
	errno = saved;
}

static int is_below(const char *path) {
	const char *root = getenv("DISK_ROOT");
	size_t length = root ? strlen(root) : 0;
	return length && !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

/* The path of a descriptor; NULL if it is elsewhere, or removed. */
static const char *path_of(int file, char *path) {
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	ssize_t length = readlink(link, path, PATH_MAX - 1);
	path[length < 0 ? 0 : length] = 0;
	return length > 0 && is_below(path) && !strstr(path, " (deleted)") ? path : NULL;
}

static int opened(const char *path, int flags, int isNew, int file) {
	char real[PATH_MAX];
	if (file >= 0 && isNew && path_of(file, real))
		record('C', real, 0, "", 0);
	else if (file >= 0 && flags & O_TRUNC && path_of(file, real))
		record('T', real, 0, "", 0);
	return file;
}

#define OPEN(name) \
int name(const char *path, int flags, ...) { \
	va_list list; \
	va_start(list, flags); \
	mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0; \
	va_end(list); \
	int isNew = flags & O_CREAT && access(path, F_OK) != 0; \
	return opened(path, flags, isNew, NEXT(name)(path, flags, mode)); \
}
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *data, size_t length) {
	char path[PATH_MAX];
	ssize_t count = NEXT(write)(file, data, length);
	if (count > 0 && file == 1)
		record('A', "", 0, data, count);
	else if (count > 0 && path_of(file, path))
		record('W', path, lseek(file, 0, SEEK_CUR) - count, data, count);
	return count;
}

#define PWRITE(name) \
ssize_t name(int file, const void *data, size_t length, off_t offset) { \
	char path[PATH_MAX]; \
	ssize_t count = NEXT(name)(file, data, length, offset); \
	if (count > 0 && path_of(file, path)) \
		record('W', path, offset, data, count); \
	return count; \
}
PWRITE(pwrite)
PWRITE(pwrite64)

#define TRUNCATE(name) \
int name(int file, off_t length) { \
	char path[PATH_MAX]; \
	int result = NEXT(name)(file, length); \
	if (result == 0 && path_of(file, path)) \
		record('T', path, length, "", 0); \
	return result; \
}
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

/* Whether this synchronization is the one that fails. */
static int fails(void) {
	static int count;
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	const char *number = getenv("DISK_FAIL");
	pthread_mutex_lock(&mutex);
	int result = number && ++count == atoi(number);
	pthread_mutex_unlock(&mutex);
	return result;
}

#define SYNC(name) \
int name(int file) { \
	char path[PATH_MAX]; \
	if (path_of(file, path) && fails()) { \
		errno = EIO; \
		return -1; \
	} \
	int result = NEXT(name)(file); \
	if (result == 0 && path_of(file, path)) \
		record('S', path, 0, "", 0); \
	return result; \
}
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
	int result = NEXT(rename)(from, to);
	if (result == 0 && is_below(to))
		record('R', from, 0, to, strlen(to));
	return result;
}

int link(const char *from, const char *to) {
	int result = NEXT(link)(from, to);
	if (result == 0 && is_below(to))
		record('L', from, 0, to, strlen(to));
	return result;
}

int unlink(const char *path) {
	int result = NEXT(unlink)(path);
	if (result == 0 && is_below(path))
		record('U', path, 0, "", 0);
	return result;
}

int mkdir(const char *path, mode_t mode) {
	int result = NEXT(mkdir)(path, mode);
	if (result == 0 && is_below(path))
		record('M', path, 0, "", 0);
	return result;
}

/* Copies within the kernel are not seen here: the program reads and writes instead. */
long syscall(long number, ...) {
	long arguments[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_copy_file_range) {
		errno = ENOSYS;
		return -1;
	}
	return NEXT(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

int ioctl(int file, unsigned long request, ...) {
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	if (request == FICLONE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return NEXT(ioctl)(file, request, argument);
}

int sqlite3_exec(void *database, const char *text, void *callback, void *argument, char **error) {
	const char *mode = getenv("DISK_SYNCHRONOUS");
	char changed[64];
	snprintf(changed, sizeof changed, "PRAGMA synchronous = %s", mode ? mode : "FULL");
	int (*next)(void *, const char *, void *, void *, char **) = dlsym(RTLD_NEXT, "sqlite3_exec");
	return next(database, strcmp(text, "PRAGMA synchronous = FULL") ? text : changed, callback, argument, error);
}
