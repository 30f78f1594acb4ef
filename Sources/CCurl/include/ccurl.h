// libcurl, loaded at the first use. The build does not need it: the declarations here belong to the ABI that
// libcurl.so.4 has kept since 2006. A process that never sends a request never loads it.
#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>
#include <stdint.h>

typedef struct ccurl_easy ccurl_easy;
typedef struct ccurl_multi ccurl_multi;
typedef struct ccurl_share ccurl_share;
typedef struct ccurl_slist ccurl_slist;

typedef enum ccurl_long_option {
    CCURL_LOW_SPEED_LIMIT = 19,
    CCURL_LOW_SPEED_TIME = 20,
    CCURL_NOBODY = 44,
    CCURL_UPLOAD = 46,
    CCURL_FRESH_CONNECT = 74,
    CCURL_HTTPGET = 80,
    CCURL_HTTP_VERSION = 84,
    CCURL_NOSIGNAL = 99,
    CCURL_SSL_SESSIONID_CACHE = 150,
    CCURL_TIMEOUT_MS = 155,
    CCURL_CONNECTTIMEOUT_MS = 156,
    CCURL_CERTINFO = 172,
    CCURL_PATH_AS_IS = 234,
    CCURL_SUPPRESS_CONNECT_HEADERS = 265,
} ccurl_long_option;

typedef enum ccurl_string_option {
    CCURL_URL = 10002,
    CCURL_PROXY = 10004,
    CCURL_COOKIE = 10022,
    CCURL_SSLCERT = 10025,
    CCURL_KEYPASSWD = 10026,
    CCURL_COOKIEFILE = 10031,
    CCURL_CUSTOMREQUEST = 10036,
    CCURL_CAINFO = 10065,
    CCURL_SSLCERTTYPE = 10086,
    CCURL_SSLKEY = 10087,
    CCURL_CAPATH = 10097,
    CCURL_ACCEPT_ENCODING = 10102,
    CCURL_PROXYUSERNAME = 10175,
    CCURL_PROXYPASSWORD = 10176,
    CCURL_NOPROXY = 10177,
} ccurl_string_option;

typedef enum ccurl_pointer_option {
    CCURL_WRITEDATA = 10001,
    CCURL_READDATA = 10009,
    CCURL_ERRORBUFFER = 10010,
    CCURL_POSTFIELDS = 10015,
    CCURL_HTTPHEADER = 10023,
    CCURL_HEADERDATA = 10029,
    CCURL_SHARE = 10100,
} ccurl_pointer_option;

typedef enum ccurl_callback_option {
    CCURL_WRITEFUNCTION = 20011,
    CCURL_READFUNCTION = 20012,
    CCURL_HEADERFUNCTION = 20079,
} ccurl_callback_option;

typedef enum ccurl_offset_option {
    CCURL_INFILESIZE = 30115,
    CCURL_POSTFIELDSIZE = 30120,
} ccurl_offset_option;

typedef enum ccurl_long_fact {
    CCURL_RESPONSE_CODE = 0x200002,
    CCURL_REQUEST_SIZE = 0x20000C,
    // The status of the answer of a proxy to CONNECT.
    CCURL_HTTP_CONNECTCODE = 0x200016,
    // The number of new connections of the transfer.
    CCURL_NUM_CONNECTS = 0x20001A,
} ccurl_long_fact;

typedef enum ccurl_offset_fact {
    // The size of the body as it was received, before decoding.
    CCURL_SIZE_DOWNLOAD = 0x600008,
    CCURL_SIZE_UPLOAD = 0x600007,
} ccurl_offset_fact;

typedef enum ccurl_string_fact {
    CCURL_REDIRECT_URL = 0x10001F,
} ccurl_string_fact;

// The results that are distinguished; libcurl has more.
enum {
    CCURL_OK = 0,
    CCURL_UNSUPPORTED_PROTOCOL = 1,
    CCURL_URL_MALFORMAT = 3,
    CCURL_COULDNT_RESOLVE_PROXY = 5,
    CCURL_COULDNT_RESOLVE_HOST = 6,
    CCURL_COULDNT_CONNECT = 7,
    CCURL_WEIRD_SERVER_REPLY = 8,
    CCURL_HTTP2 = 16,
    CCURL_PARTIAL_FILE = 18,
    CCURL_WRITE_ERROR = 23,
    CCURL_OUT_OF_MEMORY = 27,
    CCURL_OPERATION_TIMEDOUT = 28,
    CCURL_SSL_CONNECT_ERROR = 35,
    CCURL_GOT_NOTHING = 52,
    CCURL_SSL_ENGINE_NOTFOUND = 53,
    CCURL_SEND_ERROR = 55,
    CCURL_RECV_ERROR = 56,
    CCURL_SSL_CERTPROBLEM = 58,
    CCURL_SSL_CIPHER = 59,
    CCURL_PEER_FAILED_VERIFICATION = 60,
    CCURL_BAD_CONTENT_ENCODING = 61,
    CCURL_SSL_CACERT_BADFILE = 77,
    CCURL_HTTP2_STREAM = 92,
    CCURL_TOO_LARGE = 100,
};

enum { CCURL_ERROR_SIZE = 256 };

// Returned by a write callback that pauses until ccurl_resume.
#define CCURL_PAUSE ((size_t)0x10000001)

typedef size_t (*ccurl_callback)(char *_Nullable bytes, size_t size, size_t count, void *_Nullable context);

// Loads libcurl once, from any thread. Returns NULL if it is loaded, otherwise the reason why not, as a text for users.
const char *_Nullable ccurl_load(void);

// The following functions may be called only after ccurl_load has returned NULL.

const char *_Nonnull ccurl_version(void);
// Returns a static text of libcurl.
const char *_Nonnull ccurl_error_text(int result);

ccurl_easy *_Nullable ccurl_easy_create(void);
void ccurl_easy_destroy(ccurl_easy *_Nonnull easy);
int ccurl_set_long(ccurl_easy *_Nonnull easy, ccurl_long_option option, long value);
int ccurl_set_string(ccurl_easy *_Nonnull easy, ccurl_string_option option, const char *_Nullable value);
int ccurl_set_pointer(ccurl_easy *_Nonnull easy, ccurl_pointer_option option, const void *_Nullable value);
int ccurl_set_callback(ccurl_easy *_Nonnull easy, ccurl_callback_option option, ccurl_callback _Nullable value);
int ccurl_set_offset(ccurl_easy *_Nonnull easy, ccurl_offset_option option, int64_t value);
// Returns 0 if the value is unknown.
long ccurl_get_long(ccurl_easy *_Nonnull easy, ccurl_long_fact fact);
int64_t ccurl_get_offset(ccurl_easy *_Nonnull easy, ccurl_offset_fact fact);
// The text is valid until the handle is used again.
const char *_Nullable ccurl_get_string(ccurl_easy *_Nonnull easy, ccurl_string_fact fact);
int ccurl_resume(ccurl_easy *_Nonnull easy);

// Called when the transfer has a connection, before the request is sent. The transfer continues if it returns 0.
typedef int (*ccurl_ready_callback)(
    void *_Nullable context, char *_Nullable address, char *_Nullable local_address, int port, int local_port);
// Returns a value other than CCURL_OK if libcurl is older than 7.80.
int ccurl_set_ready_callback(
    ccurl_easy *_Nonnull easy, ccurl_ready_callback _Nonnull callback, const void *_Nonnull context);
// Returns a certificate of the server in PEM, the server's own first, or NULL if there are not as many. Requires
// CCURL_CERTINFO. The text is valid until the handle is used again.
const char *_Nullable ccurl_server_certificate(ccurl_easy *_Nonnull easy, int index);

// Appends to the list, and returns the new list, which replaces it. Returns NULL without memory; the list is unchanged.
ccurl_slist *_Nullable ccurl_slist_add(ccurl_slist *_Nullable list, const char *_Nonnull text);
void ccurl_slist_destroy(ccurl_slist *_Nullable list);

// Creates a store of cookies for the handles that use it. It has no lock: only one thread may use them.
ccurl_share *_Nullable ccurl_cookie_share_create(void);
void ccurl_share_destroy(ccurl_share *_Nonnull share);

ccurl_multi *_Nullable ccurl_multi_create(long connections_per_host);
void ccurl_multi_destroy(ccurl_multi *_Nonnull multi);
int ccurl_multi_add(ccurl_multi *_Nonnull multi, ccurl_easy *_Nonnull easy);
int ccurl_multi_remove(ccurl_multi *_Nonnull multi, ccurl_easy *_Nonnull easy);
int ccurl_multi_perform(ccurl_multi *_Nonnull multi);
int ccurl_multi_wait(ccurl_multi *_Nonnull multi, int timeout_ms);
// The only function that another thread may call while one of the functions above runs.
int ccurl_multi_wake(ccurl_multi *_Nonnull multi);
// Returns a completed handle and its result, or NULL if there is none.
ccurl_easy *_Nullable ccurl_multi_next_done(ccurl_multi *_Nonnull multi, int *_Nonnull result);

// Runs body(context) on a new detached thread. Returns a value other than 0 if no thread can be created.
int ccurl_start_thread(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);

#endif
