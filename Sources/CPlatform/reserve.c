// fallocate is a GNU call that Swift cannot import.
#define _GNU_SOURCE

#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>

#if defined(__linux__)

int tidelog_reserve(int descriptor, uint64_t offset, uint64_t length) {
    // FALLOC_FL_KEEP_SIZE from linux/falloc.h, which some C libraries do not include.
    const int keep_size = 1;
    int result;
    do {
        result = fallocate(descriptor, keep_size, (off_t)offset, (off_t)length);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

#elif defined(__APPLE__)

int tidelog_reserve(int descriptor, uint64_t offset, uint64_t length) {
    // The range starts at the end of the space that the file has already reserved.
    (void)offset;
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)length, 0};
    return fcntl(descriptor, F_PREALLOCATE, &store) == 0 ? 0 : errno;
}

#else

int tidelog_reserve(int descriptor, uint64_t offset, uint64_t length) {
    (void)descriptor;
    (void)offset;
    (void)length;
    return ENOTSUP;
}

#endif
