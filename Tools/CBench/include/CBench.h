#pragma once

#include <stddef.h>
#include <stdint.h>

// The functions of the benchmark program that Swift cannot express: counted allocations, baselines in plain C, and
// RocksDB and ObjectBox without a link dependency.

// MARK: Allocations

/// Returns whether allocations of this program can be counted: on Linux with glibc, without a sanitizer.
int bench_counts_allocations(void);

/// Starts to count each malloc, calloc, realloc and memalign of all threads, including those of Swift, libzstd and
/// libc.
void bench_start_counting(void);

/// Stops to count. Returns the number of allocations.
uint64_t bench_stop_counting(void);

// MARK: The machine

/// Returns the name of the file system that contains `path` ("ext4", "tmpfs", …), or "unknown".
const char *bench_file_system(const char *path);

/// Returns whether the file system of `path` is in memory.
int bench_is_in_memory(const char *path);

/// Returns the peak resident memory of this process so far, in bytes, or 0 if it is unknown.
uint64_t bench_peak_resident_bytes(void);

/// Serves the files of a folder over HTTP on loopback, on a free port, which is passed to `ready`. Returns only on
/// failure, with errno.
int bench_serve_pages(const char *folder, void (*ready)(int port));

// MARK: Baselines

/// Writes `count` consecutive pieces at `offset`, each with one pwrite, and if `sync` is set, each followed by an
/// fdatasync. Returns 0 or errno.
int bench_write_pieces(
    int descriptor, const uint8_t *bytes, const uint32_t *lengths, size_t count, uint64_t offset, int sync);

/// RocksDB through its C interface, loaded from the system's library at the first call.
typedef struct bench_rocksdb bench_rocksdb;

/// Returns the reason why RocksDB cannot be used, or NULL if it can.
const char *bench_rocksdb_missing(void);

/// Creates a database with a write-ahead log and tables compressed by zstd, and otherwise with the defaults of RocksDB.
/// Returns NULL on failure, with a message in `error`.
bench_rocksdb *bench_rocksdb_open(const char *path, char *error, size_t room);

/// Puts `count` values in one write batch, with big-endian keys from `first` on. Returns 0, or -1 with a message in
/// `error`.
int bench_rocksdb_write(
    bench_rocksdb *database, uint64_t first, const uint8_t *bytes, const uint32_t *lengths, size_t count, int sync,
    char *error, size_t room);

/// Flushes and compacts the database, so that the size of the tables can be measured.
int bench_rocksdb_compact(bench_rocksdb *database, char *error, size_t room);

/// Reads everything in order. Returns the number of entries; `bytes` receives the total length of the values.
uint64_t bench_rocksdb_scan(bench_rocksdb *database, uint64_t *bytes);

void bench_rocksdb_close(bench_rocksdb *database);

/// ObjectBox through its C interface, loaded at the first call: from TIDELOG_OBJECTBOX, from the system's folders, or
/// from the folder of a user installation by pip.
typedef struct bench_objectbox bench_objectbox;

/// A row of the workload "orders". The texts are valid only during the call that passes the row.
typedef struct {
    uint64_t id;
    uint64_t customer;
    const char *status;
    size_t status_length;
    const char *note;
    size_t note_length;
    double amount;
    int64_t time;
    int32_t quantity;
    uint8_t is_priority;
} bench_order;

/// Returns the reason why ObjectBox cannot be used, or NULL if it can.
const char *bench_objectbox_missing(void);

/// Returns the version of the library.
const char *bench_objectbox_version(void);

/// Creates a store with customers and their orders. Returns NULL on failure. Here and below, `error` receives the
/// message.
bench_objectbox *bench_objectbox_open(const char *directory, char *error, size_t room);

void bench_objectbox_close(bench_objectbox *box);

/// Stores the customers from 1 to `count` in one transaction. Returns 0 or -1.
int bench_objectbox_put_customers(bench_objectbox *box, uint64_t count, char *error, size_t room);

/// Begins a transaction that stores orders. Returns 0 or -1.
int bench_objectbox_begin(bench_objectbox *box, char *error, size_t room);

/// Stores an order in the open transaction. Returns 0 or -1.
int bench_objectbox_put(bench_objectbox *box, const bench_order *order, char *error, size_t room);

/// Commits the transaction. Returns 0 or -1.
int bench_objectbox_commit(bench_objectbox *box, char *error, size_t room);

/// Visits the orders of a customer by the backlinks of the relation, in one transaction. Returns 0 or -1.
int bench_objectbox_orders(
    bench_objectbox *box, uint64_t customer, void *context, void (*visit)(void *context, const bench_order *order),
    char *error, size_t room);

/// Visits the order, if it exists, in one transaction. Returns 0 or -1.
int bench_objectbox_order(
    bench_objectbox *box, uint64_t id, void *context, void (*visit)(void *context, const bench_order *order),
    char *error, size_t room);
