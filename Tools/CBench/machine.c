#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CBench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/resource.h>
#endif

#if defined(__linux__)

static long file_system_type(const char *path) {
    struct statfs found;
    return statfs(path, &found) == 0 ? (long)found.f_type : 0;
}

const char *bench_file_system(const char *path) {
    switch (file_system_type(path)) {
    case 0xEF53: return "ext4";
    case 0x58465342: return "xfs";
    case 0x9123683E: return "btrfs";
    case 0xF2F52010: return "f2fs";
    case 0x01021994: return "tmpfs";
    case 0x858458F6: return "ramfs";
    case 0x794C7630: return "overlayfs";
    default: return "unknown";
    }
}

int bench_is_in_memory(const char *path) {
    long type = file_system_type(path);
    return type == 0x01021994 || type == 0x858458F6;
}

uint64_t bench_peak_resident_bytes(void) {
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) return 0;
    char line[256];
    unsigned long long kilobytes = 0;
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1) break;
    fclose(status);
    return kilobytes * 1024;
}

#else

const char *bench_file_system(const char *path) {
    static char name[32];
    struct statfs found;
    if (statfs(path, &found) != 0) return "unknown";
    snprintf(name, sizeof name, "%s", found.f_fstypename);
    return name;
}

int bench_is_in_memory(const char *path) {
    return strcmp(bench_file_system(path), "tmpfs") == 0;
}

uint64_t bench_peak_resident_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss : 0;
}

#endif

static int sync_content(int descriptor) {
#if defined(__APPLE__)
    return fcntl(descriptor, F_FULLFSYNC);
#else
    return fdatasync(descriptor);
#endif
}

int bench_write_pieces(
    int descriptor, const uint8_t *bytes, const uint32_t *lengths, size_t count, uint64_t offset, int sync) {
    for (size_t index = 0; index < count; index += 1) {
        size_t left = lengths[index];
        while (left > 0) {
            ssize_t done = pwrite(descriptor, bytes, left, (off_t)offset);
            if (done < 0) {
                if (errno == EINTR) continue;
                return errno;
            }
            bytes += done;
            offset += (uint64_t)done;
            left -= (size_t)done;
        }
        if (sync && sync_content(descriptor) == -1) return errno;
    }
    return 0;
}
