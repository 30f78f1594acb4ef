#include "cpostgres.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef cpostgres_connection connection;
typedef cpostgres_result result;

// The first member of libpq's PGnotify is enough to count notifications.
typedef struct {
    char *channel;
} notification;

enum { CONNECTION_OK = 0, EMPTY_QUERY = 0, COMMAND_OK = 1, TUPLES_OK = 2, BINARY = 1 };
enum { FIELD_SQLSTATE = 'C', FIELD_MESSAGE = 'M' };

#define FUNCTIONS(X) \
    X(connection *, connectdbParams, (const char *const *, const char *const *, int)) \
    X(int, status, (const connection *)) \
    X(char *, errorMessage, (const connection *)) \
    X(int, serverVersion, (const connection *)) \
    X(void, finish, (connection *)) \
    X(int, setnonblocking, (connection *, int)) \
    X(int, socket, (const connection *)) \
    X(int, sendQuery, (connection *, const char *)) \
    X(int, sendPrepare, (connection *, const char *, const char *, int, const uint32_t *)) \
    X(int, sendQueryPrepared, \
      (connection *, const char *, int, const char *const *, const int *, const int *, int)) \
    X(int, flush, (connection *)) \
    X(int, consumeInput, (connection *)) \
    X(int, isBusy, (connection *)) \
    X(result *, getResult, (connection *)) \
    X(notification *, notifies, (connection *)) \
    X(void, freemem, (void *)) \
    X(int, resultStatus, (const result *)) \
    X(char *, resultErrorField, (const result *, int)) \
    X(char *, resultErrorMessage, (const result *)) \
    X(int, ntuples, (const result *)) \
    X(int, nfields, (const result *)) \
    X(int, getisnull, (const result *, int, int)) \
    X(char *, getvalue, (const result *, int, int)) \
    X(int, getlength, (const result *, int, int)) \
    X(char *, cmdTuples, (result *)) \
    X(void, clear, (result *)) \
    X(void *, setNoticeProcessor, (connection *, void (*)(void *, const char *), void *))

#define DECLARE(type, name, arguments) static type(*pq_##name) arguments;
FUNCTIONS(DECLARE)
#undef DECLARE

static const char *load_error;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load(void) {
    static const char *const names[] = {
#if defined(__APPLE__)
        "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
#else
        "libpq.so.5",
#endif
    };
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        load_error = "libpq is missing: install libpq5 (Debian: apt-get install libpq5).";
        return;
    }
#define FIND(type, name, arguments) \
    if (!(*(void **)&pq_##name = dlsym(library, "PQ" #name))) { \
        load_error = "libpq is too old: it lacks PQ" #name "."; \
        return; \
    }
    FUNCTIONS(FIND)
#undef FIND
}

const char *cpostgres_load(void) {
    pthread_once(&load_once, load);
    return load_error;
}

// Notices of the server, such as “relation already exists”, are not for the standard error of the gateway.
static void ignore(void *context, const char *text) {
    (void)context;
    (void)text;
}

connection *cpostgres_connect(const char *parameters, const char *application, int timeout_seconds) {
    char timeout[16];
    snprintf(timeout, sizeof timeout, "%d", timeout_seconds);
    // The last value of a keyword is valid: what precedes dbname is a default, and what follows it is required.
    const char *const keywords[] = {
        "application_name", "connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count",
        "tcp_user_timeout", "dbname", "client_encoding", NULL,
    };
    const char *const values[] = {application, timeout, "10", "5", "3", "20000", parameters, "UTF8", NULL};
    connection *made = pq_connectdbParams(keywords, values, 1);
    if (made && pq_status(made) == CONNECTION_OK) {
        pq_setNoticeProcessor(made, ignore, NULL);
        pq_setnonblocking(made, 1);
    }
    return made;
}

int cpostgres_is_connected(connection *connection) { return pq_status(connection) == CONNECTION_OK; }
const char *cpostgres_error(connection *connection) { return pq_errorMessage(connection); }
int cpostgres_server_version(connection *connection) { return pq_serverVersion(connection); }
void cpostgres_close(connection *connection) { pq_finish(connection); }

int cpostgres_send(connection *connection, const char *statements) { return pq_sendQuery(connection, statements); }

int cpostgres_send_prepare(
    connection *connection, const char *name, const char *statement, int count, const uint32_t *types) {
    return pq_sendPrepare(connection, name, statement, count, types);
}

int cpostgres_send_execute(
    connection *connection, const char *name, int count, const char *const *values, const int *lengths) {
    int *formats = malloc(sizeof *formats * (size_t)(count > 0 ? count : 1));
    if (!formats) return 0;
    for (int i = 0; i < count; i++) formats[i] = BINARY;
    int sent = pq_sendQueryPrepared(connection, name, count, values, lengths, formats, BINARY);
    free(formats);
    return sent;
}

static int64_t milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Waits until the socket can be read, or written if `writes`. Returns 0 after the deadline, -1 if the connection is lost.
static int await_socket(connection *connection, int writes, int64_t deadline) {
    while (1) {
        int64_t left = deadline - milliseconds();
        if (left < 0) left = 0;
        struct pollfd descriptor = {
            .fd = pq_socket(connection), .events = (short)(POLLIN | (writes ? POLLOUT : 0)), .revents = 0};
        if (descriptor.fd < 0) return -1;
        int ready = poll(&descriptor, 1, left > 1000000 ? 1000000 : (int)left);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return ready;
        if (descriptor.revents & POLLNVAL) return -1;
        // At the end of the stream the server may have sent an error first.
        if (!(descriptor.revents & (POLLIN | POLLHUP | POLLERR))) return 1;
        return pq_consumeInput(connection) ? 1 : -1;
    }
}

result *cpostgres_receive(connection *connection, int timeout_ms, int *timed_out) {
    int64_t deadline = milliseconds() + timeout_ms;
    result *last = NULL;
    int is_error = 0;
    *timed_out = 0;
    while (1) {
        int pending = pq_flush(connection);
        if (pending < 0) break;
        if (pending > 0 || pq_isBusy(connection)) {
            int ready = await_socket(connection, pending > 0, deadline);
            if (ready > 0) continue;
            // libpq makes a result of the reason why a connection was lost.
            if (ready < 0 && !pq_isBusy(connection)) goto next;
            *timed_out = ready == 0;
            break;
        }
    next:;
        result *next = pq_getResult(connection);
        if (!next) return last;
        int status = pq_resultStatus(next);
        int succeeded = status == COMMAND_OK || status == TUPLES_OK || status == EMPTY_QUERY;
        if (is_error) {
            pq_clear(next);
        } else {
            if (last) pq_clear(last);
            last = next;
            is_error = !succeeded;
        }
        // After a lost connection or in an unexpected state, more results need not come.
        if (!succeeded && pq_status(connection) != CONNECTION_OK) return last;
    }
    if (last) pq_clear(last);
    return NULL;
}

int cpostgres_wait(connection *connection, int timeout_ms) {
    int ready = await_socket(connection, 0, milliseconds() + timeout_ms);
    if (ready < 0) return -1;
    int count = 0;
    for (notification *next; (next = pq_notifies(connection)); count++) pq_freemem(next);
    return pq_status(connection) == CONNECTION_OK ? count : -1;
}

int cpostgres_succeeded(result *result) {
    int status = pq_resultStatus(result);
    return status == COMMAND_OK || status == TUPLES_OK || status == EMPTY_QUERY;
}

const char *cpostgres_sqlstate(result *result) { return pq_resultErrorField(result, FIELD_SQLSTATE); }

const char *cpostgres_message(result *result) {
    const char *primary = pq_resultErrorField(result, FIELD_MESSAGE);
    return primary ? primary : pq_resultErrorMessage(result);
}

int cpostgres_rows(result *result) { return pq_ntuples(result); }
int cpostgres_columns(result *result) { return pq_nfields(result); }
int64_t cpostgres_affected(result *result) { return strtoll(pq_cmdTuples(result), NULL, 10); }

const uint8_t *cpostgres_value(result *result, int row, int column, int *length) {
    if (pq_getisnull(result, row, column)) return NULL;
    *length = pq_getlength(result, row, column);
    return (const uint8_t *)pq_getvalue(result, row, column);
}

void cpostgres_clear(result *result) { pq_clear(result); }
