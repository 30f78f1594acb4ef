#pragma once

#include <stddef.h>
#include <stdint.h>

// What the benchmark program needs and Swift cannot say: counted allocations, baselines in plain C, RocksDB and ObjectBox
// without a link dependency.

// MARK: Allocations

/// Whether this program's allocations can be counted: on Linux with glibc, and not below a sanitizer.
int bench_counts_allocations(void);

/// From here on each malloc, calloc, realloc, memalign of any thread is counted, whoever calls it: Swift, libzstd, libc.
void bench_start_counting(void);

/// How many there were since.
uint64_t bench_stop_counting(void);

// MARK: The machine

/// The name of the file system that holds `path` ("ext4", "tmpfs", …), or "unknown".
const char *bench_file_system(const char *path);

/// Whether what is written there stays in memory.
int bench_is_in_memory(const char *path);

/// The most memory that this process has had resident so far, in bytes; 0 where the system does not tell.
uint64_t bench_peak_resident_bytes(void);

/// Serves the files of a folder over HTTP on loopback, on a free port that it tells. Comes back, with errno, only where it
/// cannot.
int bench_serve_pages(const char *folder, void (*ready)(int port));

// MARK: Baselines

/// Writes `count` pieces, one behind the other, at `offset`, each with one pwrite, and with `sync` one fdatasync behind
/// each. 0, or errno.
int bench_write_pieces(
    int descriptor, const uint8_t *bytes, const uint32_t *lengths, size_t count, uint64_t offset, int sync);

/// RocksDB by its C interface, loaded from the system's library at the first call.
typedef struct bench_rocksdb bench_rocksdb;

/// Why RocksDB cannot be used; NULL where it can.
const char *bench_rocksdb_missing(void);

/// A new database: write-ahead log and tables compressed by zstd, everything else as RocksDB has it by default. NULL
/// where that fails; the sentence is in `error`.
bench_rocksdb *bench_rocksdb_open(const char *path, char *error, size_t room);

/// Puts `count` values in one write batch, under big-endian keys from `first` on. 0, or -1 with the sentence in `error`.
int bench_rocksdb_write(
    bench_rocksdb *database, uint64_t first, const uint8_t *bytes, const uint32_t *lengths, size_t count, int sync,
    char *error, size_t room);

/// Flushes and compacts everything, so that the tables' size can be seen.
int bench_rocksdb_compact(bench_rocksdb *database, char *error, size_t room);

/// Reads everything in order; the number of entries, and the sum of their values' lengths.
uint64_t bench_rocksdb_scan(bench_rocksdb *database, uint64_t *bytes);

void bench_rocksdb_close(bench_rocksdb *database);

/// ObjectBox by its C interface, loaded at the first call: from TIDELOG_OBJECTBOX, the system's places, or where pip
/// installs for a user.
typedef struct bench_objectbox bench_objectbox;

/// A row of the workload "orders". Texts are no longer there than the call that gives them.
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

/// Why ObjectBox cannot be used; NULL where it can.
const char *bench_objectbox_missing(void);

/// The version of its library.
const char *bench_objectbox_version(void);

/// A new store with customers and their orders. NULL where that fails; the sentence is in `error`, here and below.
bench_objectbox *bench_objectbox_open(const char *directory, char *error, size_t room);

void bench_objectbox_close(bench_objectbox *box);

/// Customers 1 to `count`, in one transaction. 0, or -1.
int bench_objectbox_put_customers(bench_objectbox *box, uint64_t count, char *error, size_t room);

/// Begins a transaction for orders that are to be put. 0, or -1.
int bench_objectbox_begin(bench_objectbox *box, char *error, size_t room);

/// Puts an order in the transaction that was begun. 0, or -1.
int bench_objectbox_put(bench_objectbox *box, const bench_order *order, char *error, size_t room);

/// Ends the transaction; what was put in it stays. 0, or -1.
int bench_objectbox_commit(bench_objectbox *box, char *error, size_t room);

/// Visits the orders of a customer, by the relation's backlinks, in one transaction. 0, or -1.
int bench_objectbox_orders(
    bench_objectbox *box, uint64_t customer, void *context, void (*visit)(void *context, const bench_order *order),
    char *error, size_t room);

/// Visits the order if it is there, in one transaction. 0, or -1.
int bench_objectbox_order(
    bench_objectbox *box, uint64_t id, void *context, void (*visit)(void *context, const bench_order *order),
    char *error, size_t room);
