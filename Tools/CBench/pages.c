// An HTTP server for files on loopback, as the service of a download.
#include "CBench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;

static int send_all(int connection, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = write(connection, bytes, count);
        if (sent <= 0) return -1;
        bytes += sent;
        count -= (size_t)sent;
    }
    return 0;
}

// Answers with the file named by the last component of the URL, or with "Changed" if the URL has options.
static int answer(int connection, char *request) {
    char path[4096], head[256], bytes[65536];
    char *start = strchr(request, ' ');
    char *end = start ? strchr(start + 1, ' ') : NULL;
    if (!end) return -1;
    *end = 0;
    char *name = strrchr(start, '/');
    if (!name) return -1;
    snprintf(path, sizeof path, "%s/%s", folder, strchr(name, '?') ? "Changed" : name + 1);
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        if (file >= 0) close(file);
        const char *missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        return send_all(connection, missing, strlen(missing));
    }
    int length = snprintf(
        head, sizeof head,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json;odata.metadata=minimal\r\nOData-Version: 4.0\r\n"
        "Content-Length: %lld\r\n\r\n",
        (long long)status.st_size);
    int failed = send_all(connection, head, (size_t)length);
    ssize_t count;
    while (!failed && (count = read(file, bytes, sizeof bytes)) > 0) {
        failed = send_all(connection, bytes, (size_t)count);
    }
    close(file);
    return failed;
}

static void *serve(void *argument) {
    int connection = (int)(long)argument;
    int one = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    char request[8192];
    size_t filled = 0;
    ssize_t count;
    while (filled < sizeof request - 1
           && (count = read(connection, request + filled, sizeof request - 1 - filled)) > 0) {
        filled += (size_t)count;
        request[filled] = 0;
        // No request has a body, and the client sends no request before the response to the previous one.
        if (!strstr(request, "\r\n\r\n")) continue;
        filled = 0;
        if (answer(connection, request) != 0) break;
    }
    close(connection);
    return NULL;
}

int bench_serve_pages(const char *pages, void (*ready)(int port)) {
    folder = pages;
    signal(SIGPIPE, SIG_IGN);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (server < 0 || bind(server, (struct sockaddr *)&address, size) != 0 || listen(server, 16) != 0
        || getsockname(server, (struct sockaddr *)&address, &size) != 0) {
        return errno;
    }
    ready(ntohs(address.sin_port));
    while (1) {
        int connection = accept(server, NULL, NULL);
        if (connection < 0) return errno;
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, (void *)(long)connection) != 0) {
            close(connection);
            continue;
        }
        pthread_detach(thread);
    }
}
