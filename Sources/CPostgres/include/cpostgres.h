// libpq, loaded at the first use. The build does not need it: the declarations here belong to the ABI that libpq.so.5
// has kept since 2005. A gateway that stores in SQLite never loads it.
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <stddef.h>
#include <stdint.h>

typedef struct cpostgres_connection cpostgres_connection;
typedef struct cpostgres_result cpostgres_result;

// Loads libpq once, from any thread. Returns NULL if it is loaded, otherwise the reason why not, as a text for users.
const char *_Nullable cpostgres_load(void);

// The following functions may be called only after cpostgres_load has returned NULL. A connection may be used by one
// thread at a time.

// Connects, and blocks for at most the given number of seconds for each address. Returns NULL only without memory. The
// parameters in the text, a URI or keywords with values, take precedence over those that the gateway sets.
cpostgres_connection *_Nullable cpostgres_connect(
    const char *_Nonnull parameters, const char *_Nonnull application, int timeout_seconds);
int cpostgres_is_connected(cpostgres_connection *_Nonnull connection);
// The text is valid until the connection is used again.
const char *_Nonnull cpostgres_error(cpostgres_connection *_Nonnull connection);
int cpostgres_server_version(cpostgres_connection *_Nonnull connection);
void cpostgres_close(cpostgres_connection *_Nonnull connection);

// The following three functions queue a request and do not block. They return 0 if the connection is lost.
int cpostgres_send(cpostgres_connection *_Nonnull connection, const char *_Nonnull statements);
int cpostgres_send_prepare(
    cpostgres_connection *_Nonnull connection, const char *_Nonnull name, const char *_Nonnull statement, int count,
    const uint32_t *_Nullable types);
// All parameters and results are in the binary format. A parameter whose value is NULL is null.
int cpostgres_send_execute(
    cpostgres_connection *_Nonnull connection, const char *_Nonnull name, int count,
    const char *_Nullable const *_Nullable values, const int *_Nullable lengths);

// Waits for the results of a request. Returns the last one, or the first one that is an error; NULL if the connection is
// lost or the time is over, which `timed_out` states.
cpostgres_result *_Nullable cpostgres_receive(
    cpostgres_connection *_Nonnull connection, int timeout_ms, int *_Nonnull timed_out);

// Waits for notifications. Returns their number, 0 after the timeout, or -1 if the connection is lost.
int cpostgres_wait(cpostgres_connection *_Nonnull connection, int timeout_ms);

// Whether the result is not an error.
int cpostgres_succeeded(cpostgres_result *_Nonnull result);
// The five characters of SQLSTATE, or NULL if the error is not the server's.
const char *_Nullable cpostgres_sqlstate(cpostgres_result *_Nonnull result);
const char *_Nonnull cpostgres_message(cpostgres_result *_Nonnull result);
int cpostgres_rows(cpostgres_result *_Nonnull result);
int cpostgres_columns(cpostgres_result *_Nonnull result);
// The number of rows that the statement has inserted, updated, deleted or selected.
int64_t cpostgres_affected(cpostgres_result *_Nonnull result);
// Returns NULL for null.
const uint8_t *_Nullable cpostgres_value(
    cpostgres_result *_Nonnull result, int row, int column, int *_Nonnull length);
void cpostgres_clear(cpostgres_result *_Nonnull result);

#endif
