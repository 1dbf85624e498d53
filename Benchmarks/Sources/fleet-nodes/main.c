// Machines of a fleet, each with an MQTT 5 session of its own: fleet-nodes PORT NODES
//
// Connects to a broker on 127.0.0.1, publishes the link and the state of each machine, and connects again as
// `netwatch forward` does: after a random delay, of up to 30 s at first and 5 min later. A line `rate N` on stdin has the
// machines publish N events a second, in turn. Prints `connections N` for each second with connections, `ready SECONDS`
// when all are connected, and `published N` for each second with events.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { connections_at_once = 200, keep_alive = 60 };

enum phase { waiting, connecting, connected };

struct node {
    enum phase phase;
    int socket;
    int ceiling;        // Of the next delay, in seconds.
    double due;         // When it connects, or sends PINGREQ.
    unsigned sequence;  // Of its events.
    uint16_t packet;
    uint8_t rest[64];   // The beginning of a packet.
    unsigned rest_length;
};

static struct node *nodes;
static unsigned count, online, in_progress;
static unsigned long connections, published;
static int port, events_of_epoll;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void time_text(char *text, size_t size) {
    time_t seconds = time(NULL);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(text, size, "%Y-%m-%dT%H:%M:%S.000000Z", &utc);
}

static void lose(struct node *node) {
    if (node->phase == connecting) in_progress--;
    if (node->phase == connected) online--;
    if (node->socket >= 0) close(node->socket);
    node->socket = -1;
    node->phase = waiting;
    node->rest_length = 0;
    node->due = now() + node->ceiling * drand48();
    node->ceiling = node->ceiling * 2 > 300 ? 300 : node->ceiling * 2;
}

static void put(struct node *node, const uint8_t *bytes, size_t length) {
    // A node's few bytes fit the socket's buffer.
    if (send(node->socket, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) lose(node);
}

static size_t add_text(uint8_t *to, const char *text) {
    size_t length = strlen(text);
    to[0] = length >> 8, to[1] = length & 0xFF;
    memcpy(to + 2, text, length);
    return length + 2;
}

// Writes the fixed header before a body, which begins at `body`; returns where the packet begins.
static uint8_t *begin(uint8_t *body, size_t length, uint8_t type) {
    uint8_t size[4];
    unsigned digits = 0;
    size_t rest = length;
    do {
        size[digits] = rest & 0x7F;
        rest >>= 7;
        if (rest) size[digits] |= 0x80;
        digits++;
    } while (rest);
    uint8_t *start = body - digits - 1;
    start[0] = type;
    memcpy(start + 1, size, digits);
    return start;
}

static void link_payload(char *text, size_t size, unsigned index, int is_online) {
    char time[40];
    time_text(time, sizeof time);
    snprintf(
        text, size,
        "{\"v\":1,\"online\":%s,\"reason\":%s,\"node\":\"node-%u\",\"group\":\"site-%u\",\"session\":\"%x\","
        "\"time\":\"%s\",\"keepAlive\":%d,\"version\":\"0.1.0\",\"labels\":{\"site\":\"s%u\"}}",
        is_online ? "true" : "false", is_online ? "null" : "\"lost\"", index, index / 100, index, time, keep_alive,
        index / 100
    );
}

static void send_connect(struct node *node) {
    unsigned index = node - nodes;
    uint8_t buffer[2048], *body = buffer + 8;
    char text[1024], name[64];
    size_t length = add_text(body, "MQTT");
    body[length++] = 5;
    body[length++] = 0x02 | 0x04 | 0x20;  // Clean start; a will, retained.
    body[length++] = 0, body[length++] = keep_alive;
    body[length++] = 0;  // No properties.
    snprintf(name, sizeof name, "node-%u", index);
    length += add_text(body + length, name);
    body[length++] = 0;  // No properties of the will.
    snprintf(name, sizeof name, "netwatch/site-%u/node-%u/link", index / 100, index);
    length += add_text(body + length, name);
    link_payload(text, sizeof text, index, 0);
    length += add_text(body + length, text);
    uint8_t *start = begin(body, length, 0x10);
    put(node, start, body + length - start);
}

// Publishes at QoS 1.
static void publish(struct node *node, const char *topic, const char *payload, int is_retained) {
    unsigned index = node - nodes;
    uint8_t buffer[4096], *body = buffer + 8;
    char name[128];
    snprintf(name, sizeof name, "netwatch/site-%u/node-%u/%s", index / 100, index, topic);
    size_t length = add_text(body, name);
    node->packet = node->packet == 0xFFFF ? 1 : node->packet + 1;
    body[length++] = node->packet >> 8, body[length++] = node->packet & 0xFF;
    body[length++] = 0;  // No properties.
    size_t size = strlen(payload);
    memcpy(body + length, payload, size);
    length += size;
    uint8_t *start = begin(body, length, 0x32 | (is_retained ? 1 : 0));
    put(node, start, body + length - start);
}

static void event_payload(struct node *node, char *text, size_t size) {
    unsigned index = node - nodes;
    char time[40];
    time_text(time, sizeof time);
    const char *status = node->sequence % 10 == 9 ? "notReachable" : "wifi";
    snprintf(
        text, size,
        "{\"specversion\":\"1.0\",\"id\":\"%016x.%u\",\"source\":\"netwatch/site-%u/node-%u\",\"type\":\"netwatch.change\","
        "\"subject\":\"%s\",\"time\":\"%s\",\"datacontenttype\":\"application/json\",\"data\":{\"v\":1,\"seq\":%u,"
        "\"event\":\"change\",\"time\":\"%s\",\"status\":\"%s\",\"reasons\":[\"route.added\"],\"path\":{\"status\":\"%s\","
        "\"interface\":{\"name\":\"wlan0\",\"kind\":\"wifi\"},\"ipv4\":{\"status\":\"%s\",\"interface\":{\"name\":\"wlan0\","
        "\"kind\":\"wifi\"},\"gateway\":\"192.0.2.1\",\"source\":\"192.0.2.2\"}}}}",
        index + 1, node->sequence, index / 100, index, status, time, node->sequence, time, status, status, status
    );
}

static void greet(struct node *node) {
    char text[2048];
    link_payload(text, sizeof text, node - nodes, 1);
    publish(node, "link", text, 1);
    if (node->phase != connected) return;
    if (!node->sequence) node->sequence = 1;
    event_payload(node, text, sizeof text);
    publish(node, "state", text, 1);
}

static void send_event(struct node *node) {
    char text[2048];
    node->sequence++;
    event_payload(node, text, sizeof text);
    publish(node, "events", text, 0);
    if (node->phase == connected) publish(node, "state", text, 1);
    published++;
}

static void start(struct node *node) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    node->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (node->socket < 0) fail("socket");
    int on = 1;
    setsockopt(node->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    node->phase = connecting;
    in_progress++;
    if (connect(node->socket, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) return lose(node);
    struct epoll_event event = {.events = EPOLLOUT, .data.u32 = node - nodes};
    if (epoll_ctl(events_of_epoll, EPOLL_CTL_ADD, node->socket, &event)) fail("epoll_ctl");
}

static void established(struct node *node) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(node->socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) return lose(node);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = node - nodes};
    epoll_ctl(events_of_epoll, EPOLL_CTL_MOD, node->socket, &event);
    send_connect(node);
}

static void take_packet(struct node *node, const uint8_t *packet, unsigned length) {
    if (packet[0] >> 4 != 2) return;
    if (length < 4 || packet[3]) return lose(node);
    in_progress--;
    online++;
    connections++;
    node->phase = connected;
    node->ceiling = 30;
    node->due = now() + keep_alive * 3 / 4;
    greet(node);
}

static void receive(struct node *node) {
    uint8_t bytes[4096];
    memcpy(bytes, node->rest, node->rest_length);
    ssize_t size = recv(node->socket, bytes + node->rest_length, sizeof bytes - node->rest_length, 0);
    if (size <= 0) {
        if (size < 0 && errno == EAGAIN) return;
        return lose(node);
    }
    unsigned length = node->rest_length + size, start = 0;
    node->rest_length = 0;
    // All that a broker sends here is shorter than 128 bytes.
    while (length - start >= 2 && length - start >= 2u + bytes[start + 1]) {
        take_packet(node, bytes + start, 2u + bytes[start + 1]);
        if (node->phase == waiting) return;
        start += 2u + bytes[start + 1];
    }
    if (length - start > sizeof node->rest) return lose(node);
    node->rest_length = length - start;
    memcpy(node->rest, bytes + start, node->rest_length);
}

static void advance(double time) {
    for (unsigned index = 0; index < count; index++) {
        struct node *node = nodes + index;
        if (time < node->due) continue;
        if (node->phase == waiting && in_progress < connections_at_once) start(node);
        if (node->phase != connected) continue;
        node->due = time + keep_alive * 3 / 4;
        put(node, (uint8_t[]){0xC0, 0}, 2);
    }
}

// Publishes as many events as are due.
static void send_events(double rate, double *next, double time) {
    static unsigned turn;
    if (rate <= 0) return;
    for (; *next <= time; *next += 1 / rate) {
        for (unsigned tries = 0; tries < count; tries++) {
            struct node *node = nodes + turn++ % count;
            if (node->phase != connected) continue;
            send_event(node);
            break;
        }
    }
}

static void report(double began) {
    static int was_ready;
    if (connections) printf("connections %lu\n", connections);
    if (published) printf("published %lu\n", published);
    connections = published = 0;
    if (online == count && !was_ready) printf("ready %.1f\n", now() - began);
    was_ready = online == count;
    fflush(stdout);
}

int main(int argc, char **words) {
    if (argc != 3) return fprintf(stderr, "usage: fleet-nodes PORT NODES\n"), 64;
    port = atoi(words[1]);
    count = atoi(words[2]);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    srand48(20);
    nodes = calloc(count, sizeof *nodes);
    events_of_epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!nodes || events_of_epoll < 0) fail("start");
    for (unsigned index = 0; index < count; index++) nodes[index] = (struct node){.socket = -1, .ceiling = 30};
    struct epoll_event input = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    if (epoll_ctl(events_of_epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input)) fail("epoll_ctl");
    double began = now(), rate = 0, next_event = 0, next_report = began + 1, next_turn = began;
    while (1) {
        struct epoll_event events[256];
        int ready = epoll_wait(events_of_epoll, events, 256, 5);
        for (int index = 0; index < ready; index++) {
            if (events[index].data.u32 == UINT32_MAX) {
                char line[64] = "";
                if (read(STDIN_FILENO, line, sizeof line - 1) <= 0) return 0;
                if (sscanf(line, "rate %lf", &rate) == 1) next_event = now();
                continue;
            }
            struct node *node = nodes + events[index].data.u32;
            if (events[index].events & EPOLLOUT) established(node);
            else receive(node);
        }
        double time = now();
        send_events(rate, &next_event, time);
        if (time >= next_turn) advance(time), next_turn = time + 0.02;
        if (time >= next_report) report(began), next_report += 1;
    }
}
