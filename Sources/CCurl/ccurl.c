#include "ccurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The declarations of libcurl that are used. Its variadic functions are called through variadic pointers, because some
// machines pass the arguments of such calls differently.
typedef struct {
    int what;
    ccurl_easy *easy;
    union {
        void *any;
        int result;
    } data;
} message;

enum { GLOBAL_DEFAULT = 3, DONE = 1, PAUSE_NONE = 0, SHARE = 1, COOKIES = 2, MAX_HOST_CONNECTIONS = 7 };

static struct {
    int (*global_init)(long);
    char *(*version)(void);
    const char *(*easy_strerror)(int);
    ccurl_easy *(*easy_init)(void);
    void (*easy_cleanup)(ccurl_easy *);
    int (*easy_setopt)(ccurl_easy *, int, ...);
    int (*easy_getinfo)(ccurl_easy *, int, ...);
    int (*easy_pause)(ccurl_easy *, int);
    ccurl_slist *(*slist_append)(ccurl_slist *, const char *);
    void (*slist_free_all)(ccurl_slist *);
    ccurl_share *(*share_init)(void);
    int (*share_setopt)(ccurl_share *, int, ...);
    int (*share_cleanup)(ccurl_share *);
    ccurl_multi *(*multi_init)(void);
    int (*multi_cleanup)(ccurl_multi *);
    int (*multi_setopt)(ccurl_multi *, int, ...);
    int (*multi_add_handle)(ccurl_multi *, ccurl_easy *);
    int (*multi_remove_handle)(ccurl_multi *, ccurl_easy *);
    int (*multi_perform)(ccurl_multi *, int *);
    int (*multi_poll)(ccurl_multi *, void *, unsigned, int, int *);
    int (*multi_wakeup)(ccurl_multi *);
    message *(*multi_info_read)(ccurl_multi *, int *);
} curl;

static const char *load_error;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void *open_library(void) {
    static const char *const names[] = {
#if defined(__APPLE__)
        "libcurl.4.dylib", "/usr/lib/libcurl.4.dylib",
#else
        "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4",
#endif
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

static void load(void) {
    void *library = open_library();
    if (!library) {
        load_error = "libcurl is missing: install libcurl4 (Debian: apt-get install libcurl4).";
        return;
    }
#define FIND(name) \
    if (!(*(void **)&curl.name = dlsym(library, "curl_" #name))) { \
        load_error = "libcurl is too old: it lacks curl_" #name "; version 7.68 or later is needed."; \
        return; \
    }
    FIND(global_init)
    FIND(version)
    FIND(easy_strerror)
    FIND(easy_init)
    FIND(easy_cleanup)
    FIND(easy_setopt)
    FIND(easy_getinfo)
    FIND(easy_pause)
    FIND(slist_append)
    FIND(slist_free_all)
    FIND(share_init)
    FIND(share_setopt)
    FIND(share_cleanup)
    FIND(multi_init)
    FIND(multi_cleanup)
    FIND(multi_setopt)
    FIND(multi_add_handle)
    FIND(multi_remove_handle)
    FIND(multi_perform)
    FIND(multi_poll)
    FIND(multi_wakeup)
    FIND(multi_info_read)
#undef FIND
    if (curl.global_init(GLOBAL_DEFAULT) != 0) load_error = "libcurl cannot be initialised.";
}

const char *ccurl_load(void) {
    pthread_once(&load_once, load);
    return load_error;
}

const char *ccurl_version(void) { return curl.version(); }
const char *ccurl_error_text(int result) { return curl.easy_strerror(result); }

ccurl_easy *ccurl_easy_create(void) { return curl.easy_init(); }
void ccurl_easy_destroy(ccurl_easy *easy) { curl.easy_cleanup(easy); }

int ccurl_set_long(ccurl_easy *easy, ccurl_long_option option, long value) {
    return curl.easy_setopt(easy, (int)option, value);
}
int ccurl_set_string(ccurl_easy *easy, ccurl_string_option option, const char *value) {
    return curl.easy_setopt(easy, (int)option, value);
}
int ccurl_set_pointer(ccurl_easy *easy, ccurl_pointer_option option, const void *value) {
    return curl.easy_setopt(easy, (int)option, value);
}
int ccurl_set_callback(ccurl_easy *easy, ccurl_callback_option option, ccurl_callback value) {
    return curl.easy_setopt(easy, (int)option, value);
}
int ccurl_set_offset(ccurl_easy *easy, ccurl_offset_option option, int64_t value) {
    return curl.easy_setopt(easy, (int)option, value);
}

long ccurl_get_long(ccurl_easy *easy, ccurl_long_fact fact) {
    long value = 0;
    return curl.easy_getinfo(easy, (int)fact, &value) == CCURL_OK ? value : 0;
}
int64_t ccurl_get_offset(ccurl_easy *easy, ccurl_offset_fact fact) {
    int64_t value = 0;
    return curl.easy_getinfo(easy, (int)fact, &value) == CCURL_OK ? value : 0;
}
const char *ccurl_get_string(ccurl_easy *easy, ccurl_string_fact fact) {
    char *value = NULL;
    return curl.easy_getinfo(easy, (int)fact, &value) == CCURL_OK ? value : NULL;
}
int ccurl_resume(ccurl_easy *easy) { return curl.easy_pause(easy, PAUSE_NONE); }

enum { READY_FUNCTION = 20312, READY_DATA = 10313, CERTIFICATES = 0x400022 };

int ccurl_set_ready_callback(ccurl_easy *easy, ccurl_ready_callback callback, const void *context) {
    int result = curl.easy_setopt(easy, READY_FUNCTION, callback);
    return result == CCURL_OK ? curl.easy_setopt(easy, READY_DATA, context) : result;
}

typedef struct text_list {
    char *text;
    struct text_list *next;
} text_list;

typedef struct {
    int count;
    text_list **lists;
} certificates;

const char *ccurl_server_certificate(ccurl_easy *easy, int index) {
    static const char name[] = "Cert:";
    certificates *found = NULL;
    if (curl.easy_getinfo(easy, (int)CERTIFICATES, &found) != CCURL_OK || !found) return NULL;
    if (index < 0 || index >= found->count) return NULL;
    for (text_list *item = found->lists[index]; item; item = item->next) {
        if (strncmp(item->text, name, sizeof name - 1) == 0) return item->text + sizeof name - 1;
    }
    return NULL;
}

ccurl_slist *ccurl_slist_add(ccurl_slist *list, const char *text) { return curl.slist_append(list, text); }
void ccurl_slist_destroy(ccurl_slist *list) { curl.slist_free_all(list); }

ccurl_share *ccurl_cookie_share_create(void) {
    ccurl_share *share = curl.share_init();
    if (share && curl.share_setopt(share, SHARE, (int)COOKIES) != 0) {
        curl.share_cleanup(share);
        return NULL;
    }
    return share;
}
void ccurl_share_destroy(ccurl_share *share) { curl.share_cleanup(share); }

ccurl_multi *ccurl_multi_create(long connections_per_host) {
    ccurl_multi *multi = curl.multi_init();
    if (multi) curl.multi_setopt(multi, MAX_HOST_CONNECTIONS, connections_per_host);
    return multi;
}
void ccurl_multi_destroy(ccurl_multi *multi) { curl.multi_cleanup(multi); }
int ccurl_multi_add(ccurl_multi *multi, ccurl_easy *easy) { return curl.multi_add_handle(multi, easy); }
int ccurl_multi_remove(ccurl_multi *multi, ccurl_easy *easy) { return curl.multi_remove_handle(multi, easy); }
int ccurl_multi_perform(ccurl_multi *multi) {
    int running = 0;
    return curl.multi_perform(multi, &running);
}
int ccurl_multi_wait(ccurl_multi *multi, int timeout_ms) {
    return curl.multi_poll(multi, NULL, 0, timeout_ms, NULL);
}
int ccurl_multi_wake(ccurl_multi *multi) { return curl.multi_wakeup(multi); }

ccurl_easy *ccurl_multi_next_done(ccurl_multi *multi, int *result) {
    int left = 0;
    message *next;
    while ((next = curl.multi_info_read(multi, &left))) {
        if (next->what != DONE) continue;
        *result = next->data.result;
        return next->easy;
    }
    return NULL;
}

struct start {
    void (*body)(void *);
    void *context;
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    start.body(start.context);
    return NULL;
}

int ccurl_start_thread(void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return -1;
    start->body = body;
    start->context = context;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        free(start);
        return -1;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = pthread_create(&thread, &attributes, run, start);
    pthread_attr_destroy(&attributes);
    if (result != 0) free(start);
    return result;
}
