// RocksDB's C interface is stable, so it is loaded when the benchmark runs; the build requires no installation.

#include "CBench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZSTD_COMPRESSION = 7 };  // rocksdb_zstd_compression of rocksdb/c.h

#define FUNCTIONS(X)                                                                                                   \
    X(void *, options_create, (void))                                                                                  \
    X(void, options_destroy, (void *))                                                                                 \
    X(void, options_set_create_if_missing, (void *, unsigned char))                                                    \
    X(void, options_set_error_if_exists, (void *, unsigned char))                                                      \
    X(void, options_set_compression, (void *, int))                                                                    \
    X(void, options_set_wal_compression, (void *, int))                                                                \
    X(void *, open, (const void *, const char *, char **))                                                             \
    X(void, close, (void *))                                                                                           \
    X(void *, writeoptions_create, (void))                                                                             \
    X(void, writeoptions_destroy, (void *))                                                                            \
    X(void, writeoptions_set_sync, (void *, unsigned char))                                                            \
    X(void *, writebatch_create, (void))                                                                               \
    X(void, writebatch_destroy, (void *))                                                                              \
    X(void, writebatch_clear, (void *))                                                                                \
    X(void, writebatch_put, (void *, const char *, size_t, const char *, size_t))                                      \
    X(void, write, (void *, const void *, void *, char **))                                                            \
    X(void *, flushoptions_create, (void))                                                                             \
    X(void, flushoptions_destroy, (void *))                                                                            \
    X(void, flush, (void *, const void *, char **))                                                                    \
    X(void, compact_range, (void *, const char *, size_t, const char *, size_t))                                       \
    X(void *, readoptions_create, (void))                                                                              \
    X(void, readoptions_destroy, (void *))                                                                             \
    X(void *, create_iterator, (void *, const void *))                                                                 \
    X(void, iter_seek_to_first, (void *))                                                                              \
    X(unsigned char, iter_valid, (const void *))                                                                       \
    X(void, iter_next, (void *))                                                                                       \
    X(const char *, iter_value, (const void *, size_t *))                                                              \
    X(void, iter_destroy, (void *))                                                                                    \
    X(void, free, (void *))

#define DECLARE(result, name, arguments) static result(*rocks_##name) arguments;
FUNCTIONS(DECLARE)

static const char *load(void) {
    static const char *const names[] = {"librocksdb.so", "librocksdb.so.7.8", "librocksdb.dylib"};
    void *library = NULL;
    for (size_t index = 0; index < sizeof names / sizeof *names && !library; index += 1)
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    if (!library) return "librocksdb is not installed (Debian: librocksdb-dev)";
#define FIND(result, name, arguments)                                                                                  \
    *(void **)&rocks_##name = dlsym(library, "rocksdb_" #name);                                                        \
    if (!rocks_##name) return "this librocksdb has no rocksdb_" #name;
    FUNCTIONS(FIND)
    return NULL;
}

const char *bench_rocksdb_missing(void) {
    static int loaded;
    static const char *reason;
    if (!loaded) {
        reason = load();
        loaded = 1;
    }
    return reason;
}

struct bench_rocksdb {
    void *database;
    void *batch;
    void *write_options;
};

/// Moves RocksDB's message to `error`. Returns whether there was one.
static int failed(char *message, char *error, size_t room) {
    if (!message) return 0;
    snprintf(error, room, "%s", message);
    rocks_free(message);
    return 1;
}

bench_rocksdb *bench_rocksdb_open(const char *path, char *error, size_t room) {
    const char *missing = bench_rocksdb_missing();
    if (missing) {
        snprintf(error, room, "%s", missing);
        return NULL;
    }
    void *options = rocks_options_create();
    rocks_options_set_create_if_missing(options, 1);
    rocks_options_set_error_if_exists(options, 1);
    rocks_options_set_compression(options, ZSTD_COMPRESSION);
    rocks_options_set_wal_compression(options, ZSTD_COMPRESSION);
    char *message = NULL;
    void *database = rocks_open(options, path, &message);
    rocks_options_destroy(options);
    if (failed(message, error, room)) return NULL;
    bench_rocksdb *opened = malloc(sizeof *opened);
    if (!opened) abort();
    opened->database = database;
    opened->batch = rocks_writebatch_create();
    opened->write_options = rocks_writeoptions_create();
    return opened;
}

int bench_rocksdb_write(
    bench_rocksdb *database, uint64_t first, const uint8_t *bytes, const uint32_t *lengths, size_t count, int sync,
    char *error, size_t room) {
    rocks_writebatch_clear(database->batch);
    for (size_t index = 0; index < count; index += 1) {
        char key[8];
        uint64_t number = first + index;
        for (int place = 0; place < 8; place += 1) key[place] = (char)(number >> (56 - 8 * place));
        rocks_writebatch_put(database->batch, key, sizeof key, (const char *)bytes, lengths[index]);
        bytes += lengths[index];
    }
    rocks_writeoptions_set_sync(database->write_options, sync != 0);
    char *message = NULL;
    rocks_write(database->database, database->write_options, database->batch, &message);
    return failed(message, error, room) ? -1 : 0;
}

int bench_rocksdb_compact(bench_rocksdb *database, char *error, size_t room) {
    void *options = rocks_flushoptions_create();
    char *message = NULL;
    rocks_flush(database->database, options, &message);
    rocks_flushoptions_destroy(options);
    if (failed(message, error, room)) return -1;
    rocks_compact_range(database->database, NULL, 0, NULL, 0);
    return 0;
}

uint64_t bench_rocksdb_scan(bench_rocksdb *database, uint64_t *bytes) {
    void *options = rocks_readoptions_create();
    void *iterator = rocks_create_iterator(database->database, options);
    uint64_t count = 0;
    uint64_t sum = 0;
    for (rocks_iter_seek_to_first(iterator); rocks_iter_valid(iterator); rocks_iter_next(iterator)) {
        size_t length = 0;
        rocks_iter_value(iterator, &length);
        sum += length;
        count += 1;
    }
    rocks_iter_destroy(iterator);
    rocks_readoptions_destroy(options);
    *bytes = sum;
    return count;
}

void bench_rocksdb_close(bench_rocksdb *database) {
    rocks_writebatch_destroy(database->batch);
    rocks_writeoptions_destroy(database->write_options);
    rocks_close(database->database);
    free(database);
}
