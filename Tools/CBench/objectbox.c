// ObjectBox through its C interface, loaded when the benchmark runs. Systems have no package of its library, but the
// wheel `objectbox` on PyPI contains it up to version 4.

#include "CBench.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Constants of objectbox.h.
enum { TYPE_BOOL = 1, TYPE_INT = 5, TYPE_LONG = 6, TYPE_DOUBLE = 8, TYPE_STRING = 9, TYPE_DATE = 10, TYPE_RELATION = 11 };
enum { FLAG_ID = 1, FLAG_INDEXED = 8, FLAG_ID_SELF_ASSIGNABLE = 128, FLAG_INDEX_PARTIAL_SKIP_ZERO = 512 };
enum { NOT_FOUND = 404 };
enum { CUSTOMER = 1, ORDER = 2, CUSTOMER_OF_ORDER = 2 };

typedef struct {
    const void *data;
    size_t size;
} object_bytes;

typedef struct {
    object_bytes *bytes;
    size_t count;
} object_list;

#define FUNCTIONS(X)                                                                                                   \
    X(const char *, last_error_message, (void))                                                                        \
    X(void *, model, (void))                                                                                           \
    X(int, model_entity, (void *, const char *, uint32_t, uint64_t))                                                   \
    X(int, model_property, (void *, const char *, int, uint32_t, uint64_t))                                            \
    X(int, model_property_flags, (void *, uint32_t))                                                                   \
    X(int, model_property_relation, (void *, const char *, uint32_t, uint64_t))                                        \
    X(int, model_entity_last_property_id, (void *, uint32_t, uint64_t))                                                \
    X(void, model_last_entity_id, (void *, uint32_t, uint64_t))                                                        \
    X(void, model_last_index_id, (void *, uint32_t, uint64_t))                                                         \
    X(void *, opt, (void))                                                                                             \
    X(int, opt_directory, (void *, const char *))                                                                      \
    X(int, opt_model, (void *, void *))                                                                                \
    X(void, opt_max_db_size_in_kb, (void *, uint64_t))                                                                 \
    X(void *, store_open, (void *))                                                                                    \
    X(int, store_close, (void *))                                                                                      \
    X(void *, txn_write, (void *))                                                                                     \
    X(void *, txn_read, (void *))                                                                                      \
    X(int, txn_success, (void *))                                                                                      \
    X(int, txn_close, (void *))                                                                                        \
    X(void *, cursor, (void *, uint32_t))                                                                              \
    X(int, cursor_close, (void *))                                                                                     \
    X(int, cursor_put, (void *, uint64_t, const void *, size_t))                                                       \
    X(int, cursor_get, (void *, uint64_t, const void **, size_t *))                                                    \
    X(object_list *, cursor_backlinks, (void *, uint32_t, uint32_t, uint64_t))                                         \
    X(void, bytes_array_free, (object_list *))                                                                         \
    X(const char *, version_core_string, (void))

#define DECLARE(result, name, arguments) static result(*obx_##name) arguments;
FUNCTIONS(DECLARE)

/// Opens the library that `pip install objectbox` has installed.
static void *open_installed(void) {
    const char *home = getenv("HOME");
    if (!home) return NULL;
    char pattern[1024];
    snprintf(pattern, sizeof pattern, "%s/.local/lib/python3*/site-packages/objectbox/lib/*/libobjectbox.*", home);
    glob_t found;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        // The wheel contains the libraries for all processors; only one of them can be opened.
        for (size_t index = 0; index < found.gl_pathc && !library; index += 1)
            library = dlopen(found.gl_pathv[index], RTLD_NOW | RTLD_LOCAL);
        globfree(&found);
    }
    return library;
}

static const char *load(void) {
    const char *path = getenv("TIDELOG_OBJECTBOX");
    void *library = NULL;
    if (path && *path) {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) return "the library that TIDELOG_OBJECTBOX names cannot be loaded";
    }
    if (!library) library = dlopen("libobjectbox.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libobjectbox.dylib", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = open_installed();
    if (!library) return "libobjectbox is not installed (pip install objectbox==4.0.0, or TIDELOG_OBJECTBOX with its path)";
#define FIND(result, name, arguments)                                                                                  \
    *(void **)&obx_##name = dlsym(library, "obx_" #name);                                                              \
    if (!obx_##name) return "this libobjectbox has no obx_" #name;
    FUNCTIONS(FIND)
    return NULL;
}

const char *bench_objectbox_missing(void) {
    static int loaded;
    static const char *reason;
    if (!loaded) {
        reason = load();
        loaded = 1;
    }
    return reason;
}

const char *bench_objectbox_version(void) { return bench_objectbox_missing() ? "" : obx_version_core_string(); }

// MARK: The model

/// A cursor in its own transaction.
typedef struct {
    void *transaction;
    void *cursor;
} work;

struct bench_objectbox {
    void *store;
    /// The transaction that stores orders.
    work writing;
    /// The buffer for one row.
    uint8_t *row;
    size_t capacity;
};

static int failed(char *error, size_t room) {
    snprintf(error, room, "%s", obx_last_error_message());
    return -1;
}

/// Describes the model as ObjectBox's generator does for two classes, one of which has a to-one relation to the other.
static int describe(void *model) {
    static const struct {
        const char *name;
        int type;
    } properties[] = {{"id", TYPE_LONG},     {"customer", TYPE_RELATION}, {"status", TYPE_STRING}, {"note", TYPE_STRING},
                      {"amount", TYPE_DOUBLE}, {"time", TYPE_DATE},        {"quantity", TYPE_INT},  {"priority", TYPE_BOOL}};
    int status = obx_model_entity(model, "Customer", CUSTOMER, 1001);
    status |= obx_model_property(model, "id", TYPE_LONG, 1, 1011);
    status |= obx_model_property_flags(model, FLAG_ID | FLAG_ID_SELF_ASSIGNABLE);
    status |= obx_model_property(model, "name", TYPE_STRING, 2, 1012);
    status |= obx_model_entity_last_property_id(model, 2, 1012);
    status |= obx_model_entity(model, "Order", ORDER, 1002);
    for (uint32_t id = 1; id <= sizeof properties / sizeof *properties; id += 1) {
        status |= obx_model_property(model, properties[id - 1].name, properties[id - 1].type, id, 1020 + id);
        if (id == 1) status |= obx_model_property_flags(model, FLAG_ID | FLAG_ID_SELF_ASSIGNABLE);
        if (id == CUSTOMER_OF_ORDER) {
            status |= obx_model_property_flags(model, FLAG_INDEXED | FLAG_INDEX_PARTIAL_SKIP_ZERO);
            status |= obx_model_property_relation(model, "Customer", 1, 2001);
        }
    }
    status |= obx_model_entity_last_property_id(model, 8, 1028);
    obx_model_last_entity_id(model, ORDER, 1002);
    obx_model_last_index_id(model, 1, 2001);
    return status;
}

bench_objectbox *bench_objectbox_open(const char *directory, char *error, size_t room) {
    const char *missing = bench_objectbox_missing();
    if (missing) {
        snprintf(error, room, "%s", missing);
        return NULL;
    }
    void *model = obx_model();
    void *options = obx_opt();
    // The options take ownership of the model, and the store takes ownership of the options.
    if (!model || !options || describe(model) || obx_opt_directory(options, directory) ||
        obx_opt_model(options, model)) {
        failed(error, room);
        return NULL;
    }
    obx_opt_max_db_size_in_kb(options, 4 << 20);
    void *store = obx_store_open(options);
    if (!store) {
        failed(error, room);
        return NULL;
    }
    bench_objectbox *opened = calloc(1, sizeof *opened);
    if (!opened) abort();
    opened->store = store;
    return opened;
}

void bench_objectbox_close(bench_objectbox *box) {
    obx_store_close(box->store);
    free(box->row);
    free(box);
}

// MARK: Rows as FlatBuffers

static void put16(uint8_t *at, uint16_t value) { memcpy(at, &value, sizeof value); }
static void put32(uint8_t *at, uint32_t value) { memcpy(at, &value, sizeof value); }

static size_t padded(size_t length) { return (length + 3) & ~(size_t)3; }

/// Returns a buffer for a row of the given length.
static uint8_t *reserve(bench_objectbox *box, size_t length) {
    if (length > box->capacity) {
        box->row = realloc(box->row, 2 * length);
        if (!box->row) abort();
        box->capacity = 2 * length;
    }
    memset(box->row, 0, length);
    return box->row;
}

/// Writes a length, the bytes and a zero. The offset is written at `place`.
static size_t put_text(uint8_t *row, size_t place, size_t at, const char *text, size_t length) {
    put32(row + place, (uint32_t)(at - place));
    put32(row + at, (uint32_t)length);
    memcpy(row + at + 4, text, length);
    return at + padded(4 + length + 1);
}

/// Encodes a table with eight properties in separate slots: root, vtable, table, texts. Each field is aligned to its
/// size, as FlatBuffers requires.
static size_t encode_order(bench_objectbox *box, const bench_order *order) {
    enum { VTABLE = 4, TABLE = 24, TEXTS = 76 };
    enum { STATUS = 4, ID = 8, OF_CUSTOMER = 16, AMOUNT = 24, TIME = 32, NOTE = 40, QUANTITY = 44, PRIORITY = 48, SIZE = 49 };
    size_t length = TEXTS + padded(5 + order->status_length) + padded(5 + order->note_length);
    uint8_t *row = reserve(box, length);
    put32(row, TABLE);
    static const uint16_t vtable[] = {20, SIZE, ID, OF_CUSTOMER, STATUS, NOTE, AMOUNT, TIME, QUANTITY, PRIORITY};
    for (size_t index = 0; index < 10; index += 1) put16(row + VTABLE + 2 * index, vtable[index]);
    put32(row + TABLE, TABLE - VTABLE);
    memcpy(row + TABLE + ID, &order->id, 8);
    memcpy(row + TABLE + OF_CUSTOMER, &order->customer, 8);
    memcpy(row + TABLE + AMOUNT, &order->amount, 8);
    memcpy(row + TABLE + TIME, &order->time, 8);
    memcpy(row + TABLE + QUANTITY, &order->quantity, 4);
    row[TABLE + PRIORITY] = order->is_priority;
    size_t at = put_text(row, TABLE + STATUS, TEXTS, order->status, order->status_length);
    put_text(row, TABLE + NOTE, at, order->note, order->note_length);
    return length;
}

static size_t encode_customer(bench_objectbox *box, uint64_t id, const char *name, size_t name_length) {
    enum { VTABLE = 4, TABLE = 12, NAME = 4, ID = 12, TEXT = 32 };
    size_t length = TEXT + padded(5 + name_length);
    uint8_t *row = reserve(box, length);
    put32(row, TABLE);
    static const uint16_t vtable[] = {8, 20, ID, NAME};
    for (size_t index = 0; index < 4; index += 1) put16(row + VTABLE + 2 * index, vtable[index]);
    put32(row + TABLE, TABLE - VTABLE);
    memcpy(row + TABLE + ID, &id, 8);
    put_text(row, TABLE + NAME, TEXT, name, name_length);
    return length;
}

/// Returns the field of a slot, or NULL if the row has none.
static const uint8_t *field(const uint8_t *table, uint16_t slot) {
    int32_t distance;
    memcpy(&distance, table, 4);
    const uint8_t *vtable = table - distance;
    uint16_t size, place;
    memcpy(&size, vtable, 2);
    if (4 + 2 * slot >= size) return NULL;
    memcpy(&place, vtable + 4 + 2 * slot, 2);
    return place ? table + place : NULL;
}

static const char *text(const uint8_t *place, size_t *length) {
    *length = 0;
    if (!place) return "";
    uint32_t distance, count;
    memcpy(&distance, place, 4);
    memcpy(&count, place + distance, 4);
    *length = count;
    return (const char *)(place + distance + 4);
}

static void number(const uint8_t *place, void *target, size_t size) {
    if (place) memcpy(target, place, size);
}

static bench_order decode_order(const void *data) {
    uint32_t root;
    memcpy(&root, data, 4);
    const uint8_t *table = (const uint8_t *)data + root;
    bench_order order = {0};
    number(field(table, 0), &order.id, 8);
    number(field(table, 1), &order.customer, 8);
    order.status = text(field(table, 2), &order.status_length);
    order.note = text(field(table, 3), &order.note_length);
    number(field(table, 4), &order.amount, 8);
    number(field(table, 5), &order.time, 8);
    number(field(table, 6), &order.quantity, 4);
    number(field(table, 7), &order.is_priority, 1);
    return order;
}

// MARK: Writing and reading

static int begin(bench_objectbox *box, int writes, uint32_t entity, work *work, char *error, size_t room) {
    work->transaction = writes ? obx_txn_write(box->store) : obx_txn_read(box->store);
    if (!work->transaction) return failed(error, room);
    work->cursor = obx_cursor(work->transaction, entity);
    if (work->cursor) return 0;
    failed(error, room);
    obx_txn_close(work->transaction);
    return -1;
}

/// Commits if the status is a success. Returns the status.
static int end(work *work, int writes, int status, char *error, size_t room) {
    if (status) failed(error, room);
    obx_cursor_close(work->cursor);
    if (writes && status == 0) return obx_txn_success(work->transaction) ? failed(error, room) : 0;
    obx_txn_close(work->transaction);
    return status;
}

int bench_objectbox_put_customers(bench_objectbox *box, uint64_t count, char *error, size_t room) {
    work work;
    if (begin(box, 1, CUSTOMER, &work, error, room)) return -1;
    int status = 0;
    for (uint64_t id = 1; id <= count && !status; id += 1) {
        char name[32];
        int length = snprintf(name, sizeof name, "Customer %llu", (unsigned long long)id);
        size_t size = encode_customer(box, id, name, (size_t)length);
        status = obx_cursor_put(work.cursor, id, box->row, size) ? -1 : 0;
    }
    return end(&work, 1, status, error, room);
}

int bench_objectbox_begin(bench_objectbox *box, char *error, size_t room) {
    return begin(box, 1, ORDER, &box->writing, error, room);
}

int bench_objectbox_put(bench_objectbox *box, const bench_order *order, char *error, size_t room) {
    size_t size = encode_order(box, order);
    return obx_cursor_put(box->writing.cursor, order->id, box->row, size) ? failed(error, room) : 0;
}

int bench_objectbox_commit(bench_objectbox *box, char *error, size_t room) {
    return end(&box->writing, 1, 0, error, room);
}

int bench_objectbox_orders(
    bench_objectbox *box, uint64_t customer, void *context, void (*visit)(void *context, const bench_order *order),
    char *error, size_t room) {
    work work;
    if (begin(box, 0, ORDER, &work, error, room)) return -1;
    object_list *list = obx_cursor_backlinks(work.cursor, ORDER, CUSTOMER_OF_ORDER, customer);
    for (size_t index = 0; list && index < list->count; index += 1) {
        bench_order order = decode_order(list->bytes[index].data);
        visit(context, &order);
    }
    if (list) obx_bytes_array_free(list);
    return end(&work, 0, list ? 0 : -1, error, room);
}

int bench_objectbox_order(
    bench_objectbox *box, uint64_t id, void *context, void (*visit)(void *context, const bench_order *order),
    char *error, size_t room) {
    work work;
    if (begin(box, 0, ORDER, &work, error, room)) return -1;
    const void *data = NULL;
    size_t size = 0;
    int status = obx_cursor_get(work.cursor, id, &data, &size);
    if (status == 0) {
        bench_order order = decode_order(data);
        visit(context, &order);
    }
    return end(&work, 0, status == 0 || status == NOT_FOUND ? 0 : -1, error, room);
}
