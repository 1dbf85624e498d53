#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets under Corpus/ from the captures in Tests/Fixtures.

A seed for each kind of message and attribute for the decoder, short captures of each format for the reader, and whole stories for the
model; replies of proxies, responses, event streams, WebSockets, MQTT, records of parts, URLs, names of files, fields and forms, as they are written below. Run it again when the fixtures change; it writes the
same bytes for the same fixtures.
"""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "Tests", "Fixtures")
LITTLE, BIG, UEVENT, DEFAULT_LIKE, GENERIC = 0, 1, 2, 4, 8


def fixture(name):
    with open(os.path.join(FIXTURES, name), "rb") as file:
        return file.read()


def save(target, name, data):
    directory = os.path.join(HERE, "Corpus", target)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, name), "wb") as file:
        file.write(data)


def records(capture):
    """The netlink family and datagram of each record of a pcap file, and where the record ends."""
    order = "<" if capture[0] in (0x4D, 0xD4) else ">"
    position = 24
    while position < len(capture):
        length = struct.unpack_from(order + "8xI", capture, position)[0]
        data = capture[position + 16:position + 16 + length]
        position += 16 + length
        yield struct.unpack_from(">H", data, 14)[0], data[16:], position


def messages(datagram, order="<"):
    position = 0
    while position + 16 <= len(datagram):
        length, kind = struct.unpack_from(order + "IH", datagram, position)
        if length < 16:
            return
        yield kind, datagram[position:position + ((length + 3) & ~3)]
        position += (length + 3) & ~3


def decoder_seeds(name, options, order):
    """Of each kind of message the shortest, the longest and each length between that is new."""
    seen = set()
    for family, datagram, _ in records(fixture(name)):
        if family != 0:
            continue
        for kind, message in messages(datagram, order):
            if (kind, len(message)) not in seen:
                seen.add((kind, len(message)))
                save("FuzzDecoder", f"{name.split('.')[0]}-{kind}-{len(message)}", bytes([options]) + message)


def cut_seeds(name, options, order):
    """Of each attribute of each kind of message one that lacks its last byte, at the very end of its datagram."""
    # The fixed part of RTM_NEWLINK and its like, by the group of four that a message's type belongs to.
    heads = {16: 16, 20: 8, 24: 12, 28: 12, 32: 12, 80: 4, 104: 8}
    for family, datagram, _ in records(fixture(name)):
        if family != 0:
            continue
        for kind, message in messages(datagram, order):
            body = 16 + heads.get(kind & ~3, len(message))
            position = body
            while position + 4 < len(message):
                length, attribute = struct.unpack_from(order + "HH", message, position)
                if length < 5:
                    break
                cut = message[4:body] + struct.pack(order + "HH", length - 1, attribute)
                cut += message[position + 4:position + length - 1]
                seed = bytes([options]) + struct.pack(order + "I", len(cut) + 4) + cut
                if len(seed) < 200:
                    save("FuzzDecoder", f"cut-{kind}-{attribute & 0x3fff}", seed)
                position += (length + 3) & ~3


def capture_seeds(name, count=4):
    """The head and the first records of a pcap file."""
    capture = fixture(name)
    ends = [end for _, _, end in records(capture)]
    save("FuzzCapture", name, capture[:ends[min(count, len(ends)) - 1]])


def blocks(capture):
    """The blocks of a little-endian pcapng file."""
    position = 0
    while position < len(capture):
        length = struct.unpack_from("<4xI", capture, position)[0]
        yield capture[position:position + length]
        position += length


decoder_seeds("story-nanoseconds.pcap", LITTLE, "<")
decoder_seeds("iproute2.pcap", LITTLE, "<")
decoder_seeds("big-endian.pcap", BIG, ">")
cut_seeds("story-nanoseconds.pcap", LITTLE, "<")
uevent = b"\0".join([b"add@/devices/usb1/net/wwan0", b"ACTION=add", b"SUBSYSTEM=net", b"DEVTYPE=wwan",
                     b"INTERFACE=wwan0", b"IFINDEX=7", b"SEQNUM=1", b""])
save("FuzzDecoder", "uevent", bytes([UEVENT]) + uevent)



def attribute(kind, payload):
    return struct.pack("<HH", len(payload) + 4, kind) + payload + b"\0" * (-len(payload) % 4)


def generic(name, kind, command, *attributes):
    """A message of generic netlink; 0x1c stands for nl80211."""
    body = struct.pack("<BBH", command, 1, 0) + b"".join(attributes)
    message = struct.pack("<IHHII", len(body) + 16, kind, 0, 1, 0) + body
    save("FuzzDecoder", f"generic-{name}", bytes([GENERIC]) + message)
    return message


ACCESS_POINT = bytes([2, 0, 0, 0, 1, 0])
INDEX, STATION = attribute(3, struct.pack("<I", 3)), attribute(5, struct.pack("<I", 2))
GROUPS = b"".join(attribute(0x8000 | number, attribute(2, struct.pack("<I", number + 4)) + attribute(1, name + b"\0"))
                  for number, name in enumerate([b"config", b"mlme"], 1))
generic("family", 16, 1, attribute(2, b"nl80211\0"), attribute(1, struct.pack("<H", 0x1c)), attribute(0x8007, GROUPS))
generic("station", 0x1c, 19, INDEX, attribute(6, ACCESS_POINT), attribute(0x8015, attribute(7, b"\xc4") + attribute(13, b"\xc0")))
NETWORK = attribute(1, ACCESS_POINT) + attribute(2, struct.pack("<I", 2412)) + attribute(6, b"\x01\x01\x82\x00\x04home") + attribute(9, b"\x01\0\0\0")
generic("scan", 0x1c, 34, INDEX, attribute(0x802f, NETWORK + attribute(7, struct.pack("<i", -5400))))
stories = [generic("interface", 0x1c, 7, INDEX, attribute(1, bytes(4)), STATION, attribute(38, struct.pack("<I", 2412)), attribute(52, b"office"))]
for name, command, control in [("authenticate", 37, 0xb0), ("associate", 38, 0x10), ("deauthenticate", 39, 0xc0)]:
    stories.append(generic(name, 0x1c, command, INDEX, attribute(51, bytes([control]) + bytes(9) + ACCESS_POINT * 2 + bytes(8))))
for name, command in [("connect", 46), ("roam", 47), ("disconnect", 48)]:
    stories.append(generic(name, 0x1c, command, INDEX, attribute(6, ACCESS_POINT), attribute(72, bytes(2))))
generic("timeout", 0x1c, 37, INDEX, attribute(65, b""), attribute(6, ACCESS_POINT))
save("FuzzModel", "wireless", bytes([GENERIC]) + b"".join(stories))

for capture in ["story-nanoseconds.pcap", "story-microseconds.pcap", "big-endian.pcap"]:
    capture_seeds(capture)
save("FuzzCapture", "sections.pcapng", fixture("sections.pcapng"))
save("FuzzCapture", "story.pcapng", b"".join(list(blocks(fixture("story.pcapng")))[:6]))

for name in ["story-nanoseconds.pcap", "iproute2.pcap"]:
    datagrams = [datagram for family, datagram, _ in records(fixture(name)) if family == 0]
    everything = [message for datagram in datagrams for _, message in messages(datagram)]
    # Links, addresses, routes, neighbours, rules, netconf and nexthops, without requests and acknowledgements.
    kinds = {16, 17, 20, 21, 24, 25, 28, 29, 32, 33, 80, 81, 104, 105}
    story = [message for message in everything if struct.unpack_from("<4xH", message)[0] in kinds]
    for part in range(0, min(len(story), 120), 20):
        save("FuzzModel", f"{name.split('.')[0]}-{part}", bytes([LITTLE]) + b"".join(story[part:part + 20]))

# Replies of SOCKS proxies: a byte for a login, a byte for how they are split, and what the proxy says.
BOUND = {"ipv4": b"\1" + bytes(6), "ipv6": b"\4" + bytes(18), "name": b"\3\4host\0\x50"}
for name, address in BOUND.items():
    save("FuzzSOCKS", f"open-{name}", b"\0\3" + b"\5\0" + b"\5\0\0" + address)
    save("FuzzSOCKS", f"open-{name}-rest", b"\0\0" + b"\5\0" + b"\5\0\0" + address + b"HTTP/1.1 200 OK\r\n\r\n")
save("FuzzSOCKS", "login", b"\1\1" + b"\5\2" + b"\1\0" + b"\5\0\0" + BOUND["ipv4"])
save("FuzzSOCKS", "wrong-login", b"\1\0" + b"\5\2" + b"\1\1")
save("FuzzSOCKS", "no-method", b"\0\0" + b"\5\xff")
save("FuzzSOCKS", "refused", b"\0\0" + b"\5\0" + b"\5\5\0" + BOUND["ipv4"])
save("FuzzSOCKS", "http", b"\0\0" + b"HTTP/1.1 400 Bad Request\r\n\r\n")

# Responses to CONNECT: a byte for how they are split, and the response.
for name, response in {
    "open": b"HTTP/1.1 200 Connection established\r\n\r\n",
    "open-rest": b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n\x16\3\1",
    "interim": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\nLink: x\n\nHTTP/1.1 204 x\r\n\r\n",
    "refused": b"HTTP/1.1 403 No\r\nX-A:\t b \r\nContent-Length: 3\r\n\r\nno!",
    "refused-chunked": b"HTTP/1.1 502 Bad\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "refused-open-end": b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\n\r\nlog in",
    "no-http": b"220 mail ready\r\n",
}.items():
    save("FuzzConnect", name, b"\2" + response)

# Responses: a byte for the request's method, a byte for how they are split, and the response.
for name, (method, response) in {
    "length": (0, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
    "chunked": (0, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n"),
    "gzip-chunked": (0, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\t\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
    "gzip": (2, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nxyz"),
    "chunked-twice": (0, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
    "interim": (0, b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.0 204 No\r\nContent-Length: 5\r\n\r\n"),
    "folded": (1, b"HTTP/1.1 200\r\nA: b\r\n c\nLocation: /\xe9\r\nContent-Length: 7\r\n\r\n"),
}.items():
    save("FuzzResponse", name, bytes([method, 2]) + response)

# Event streams: a byte for how they are split, a byte for the maximum size, and the stream.
for name, stream in {
    "lines": b"data:a\r\ndata: b\rdata\n\n\r\n", "mark": b"\xef\xbb\xbfdata:a\n\n\xef\xbb\xbfdata:b\n\n",
    "fields": b"event:add\nid: 1\nretry:10\ndata:a\n\nid\ndata:b\n\nid:\0\nfoo\n:x\n\n",
    "incomplete": b"id:1\ndata:\xe2\x82\n\nid:2\ndata:b\n", "retry": b"retry:99999999999999999999\nretry:1x\n\n",
}.items():
    save("FuzzEventStream", name, b"\2\xff" + stream)
save("FuzzEventStream", "large", b"\2\4" + b"id:1\n\ndata:b\n\n")

# The heads of requests to the event service.
for name, lines in {
    "state": ["GET /v1/state?after=00f3a2b1c4d5e6f7.42&timeout=30s HTTP/1.1", "Host: localhost:8787"],
    "events": ["GET /v1/events?mode=latest HTTP/1.1", "Host: [::1]:8787", "Last-Event-ID: 00f3a2b1c4d5e6f7.42"],
    "lines": ["GET /v1/events HTTP/1.0", "Host: 127.0.0.1:8787", "Accept: application/x-ndjson;q=1, text/event-stream"],
    "history": ["HEAD /v1/history?since=7d HTTP/1.1", "Host: localhost:8787", "Connection: close, x"],
    "path": ["GET /v1/paths/%5b2001:db8::7%5D HTTP/1.1", "Host: localhost:8787", "Origin: http://localhost:3000"],
    "metrics": ["GET /metrics HTTP/1.1", "Host: LOCALHOST:8787", "If-None-Match: W/\"00f3a2b1c4d5e6f7.42\", *"],
    "body": ["POST / HTTP/1.1", "Host: x", "Content-Length: 5", "Transfer-Encoding: chunked"],
    "twice": ["GET /v1/events HTTP/1.1", "Host: localhost:8787", "Host: evil.example:8787", "Origin: null"],
}.items():
    save("FuzzEventRequest", name, "\r\n".join(lines + ["", ""]).encode())

# Reports of netwatch-validate.
REPORT = '{"verdict":"%s","since":"2026-11-26T08:00:00.000000Z","checked":null,"basis":"probes"%s}'
for name, (verdict, members) in {
    "validated": ("validated", ',"path":{"index":4,"interface":"wlan0","gateways":["192.0.2.1"],"networks":["192.0.2.0/24"],"metered":false},"trouble":[]'),
    "portal": ("portal", ',"loginURL":"https://h.example/login","venueURL":null,"expires":"2026-11-26T09:00:00.5Z","bytesLeft":1048576'),
    "interception": ("noInternet", ',"reason":"interception","detail":"issued by \\u001b[1mHotel","pending":"pathChanged"'),
    "silent": ("noInternet", ',"reason":"noResponse","trouble":[{"endpoint":"tcp://a:80","meaning":"timedOut","detail":null}]'),
    "unchecked": ("notChecked", ""),
}.items():
    save("FuzzValidationReport", name, (REPORT % (verdict, members)).encode())


def control_message(level, kind, payload):
    return struct.pack("<Qii", 16 + len(payload), level, kind) + payload + bytes(-len(payload) % 8)


# Control messages of a socket's error queue.
ADDRESS4, ADDRESS6 = bytes([2, 0, 0, 0, 192, 0, 2, 1]) + bytes(8), bytes([10]) + bytes(7) + bytes([0x20, 1, 0xD, 0xB8]) + bytes(16)
for name, data in {
    "icmp": control_message(0, 11, struct.pack("<IBBBxII", 113, 2, 11, 0, 0, 0) + ADDRESS4),
    "icmpv6": control_message(41, 25, struct.pack("<IBBBxII", 90, 3, 2, 0, 1280, 0) + ADDRESS6),
    "local": control_message(0, 11, struct.pack("<IBBBxII", 90, 1, 0, 0, 1500, 0) + bytes(16)),
    "second": control_message(0, 2, bytes(4)) + control_message(0, 11, struct.pack("<IBBBxII", 111, 2, 3, 3, 0, 0) + ADDRESS4),
}.items():
    save("FuzzQueuedError", name, data)

# MQTT: a byte for how the packets are split, a byte for the version and the maximum size, and the packets of a broker.
for name, (options, packets) in {
    "connected": (0xFE, b"\x20\x0d\1\0\x0a\x13\0\x1e\x21\0\2\x27\0\0\4\0\x40\2\0\1\x40\4\0\2\x97\0\xd0\0"),
    "messages": (0xFE, b"\x20\3\0\0\0\x32\x13\0\1a\0\7\x0d\2\0\0\0\x3c\x26\0\1k\0\1v{}\x30\4\0\1b\0\x90\4\0\1\0\1\xb0\4\0\2\0\x11"),
    "refused": (0xFE, b"\x20\x0a\0\x87\7\x1f\0\4nope\xe0\7\x8e\5\x1c\0\2ab"), "old-refusal": (0xFE, b"\x20\2\0\1"),
    "3.1.1": (0xFF, b"\x20\2\1\0\x40\2\0\1\x31\5\0\3a/b\x90\4\0\1\0\x80\xd0\0"),
    "client": (0xFE, b"\x10\x1c\0\4MQTT\5\xce\0\x3c\0\0\1n\5\x18\0\0\0\5\0\1w\0\0\0\1u\0\1p\x82\7\0\1\0\0\1#\1\xa2\6\0\2\0\0\1#\xc0\0"),
    "steps": (0xFE, b"\x50\2\0\1\x62\2\0\1\x70\3\0\1\x92\xf0\4\x18\2\x16\0"),
}.items():
    save("FuzzMQTT", name, bytes([2, options]) + packets)

# WebSockets: a byte for how they are split, a byte for the maximum size and compression, and the frames or a field.
for name, (options, frames) in {
    "fragments": (0x7F, b"\x01\2ab\x89\1!\x80\1c\x8a\0\x88\4\x03\xe9by"),
    "utf-8": (0x7F, b"\x01\2\xc3\xa9\0\1\xe2\0\2\x82\xac\x80\0\x81\3\xed\xa0\x80"),
    "compressed": (0xFF, b"\xc1\7\xf2H\xcd\xc9\xc9\7\0\x41\1\xf2\x80\4\0\x11\0\0"),
    "large": (0x7F, b"\x82\x7e\1\0" + bytes(256) + b"\x82\x7f\0\0\0\0\6@\0\0"), "close": (1, b"\x88\2\x03\xed"),
    "field": (0xFF, b'permessage-deflate; server_no_context_takeover; client_max_window_bits="10"; server_max_window_bits=9'),
}.items():
    save("FuzzWebSocket", name, bytes([2, options]) + frames)

# Records of parts.
for name, lines in {
    "etag": b'etag "v1"\ntotal 7\n', "date": b"last-modified Sun, 06 Nov 1994 08:49:37 GMT\n", "weak": b'etag W/"v1"\n',
}.items():
    save("FuzzPartRecord", name, b"netwatch download 1\nurl http://host/\nkey " + b"0" * 64 + b"\n" + lines + b"end\n")

# URLs: a base, and a reference behind a line's end.
for name, (base, reference) in {
    "relative": ("http://user:p%40ss@Host.example:8080/a/b;c/d?q=1#f", "../g/./h?x=%20y#z"),
    "address": ("https://[fe80::1%25eth0]:443/", "//192.0.2.1:8080/./../a//b/"),
    "absolute": ("http://example.com", "https://b\u00fccher.example./%7Ea b?\u00e9"),
    "query": ("http://a/b/c/d;p?q", "?y"), "empty": ("http://a/b/../c/.", ""), "root": ("http://a/b/", "/c/../../d/.."),
    "colon": ("http://a/b", "./c:d/...//.e"),
}.items():
    save("FuzzURL", name, f"{base}\n{reference}".encode())

# Fields that ask who is there, a line each.
for name, lines in {
    "basic": ['Basic realm="a \\"b\\" \u00e9", charset="UTF-8"', "Negotiate, Bearer token68=="],
    "digest": ['Digest realm="r", nonce="n", qop="auth, auth-int", algorithm=SHA-256-sess, opaque="o", stale=true'],
    "digest-old": ['Digest realm=r,nonce=n,domain="/a /b", Basic realm=r', 'Digest realm=r, nonce="m", userhash=true'],
    "broken": ['Basic realm="open', 'Digest realm=a realm=b, , =c, New a="b" , Custom a=b,c = "d,e"'],
    "unicode": ['Digest realm=r, nonce=n, algorithm="MD5-\u017fess", qop=auth, charset=utf-8'],
}.items():
    save("FuzzChallenge", name, "\n".join(lines).encode())

# Set-Cookie, a line each, and files of cookies.
TAB = "\t"
for name, lines in {
    "session": ["a=b", "c=d; Path=/; HttpOnly", "sid=\u00e9; Domain=.bank.com; Secure; SameSite=None; Partitioned"],
    "expiry": ["a=b; Max-Age=10; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "c=d; expires=Wed, 01-Jan-31 00:00:00 GMT"],
    "prefixes": ["__Host-a=b; Secure; Path=/", "x", "__Secure-c=d; Secure; Domain=bank.com"],
    "odd": ["=a=b", "a", "\t a \t=\t b ; ;path=a;domain=", "a=b; domain=com", "a=b; max-age=-99999999999999999999"],
    "file": [
        "# Netscape HTTP Cookie File", "", TAB.join(["example.com", "FALSE", "/", "FALSE", "0", "a", "b"]),
        "#HttpOnly_" + TAB.join([".example.com", "TRUE", "/a", "TRUE", "2000000000", "c", ""]),
    ],
}.items():
    save("FuzzCookie", name, "\n".join(lines).encode())

# The fields of a request and of a response, an empty line between them; and records of a cache.
DAY = "Wed, 31 Dec 2025 00:00:00 GMT"
for name, lines in {
    "fresh": ["Accept: a, b", "", "Cache-Control: max-age=60, stale-if-error=\"5\"", "Vary: accept", "Age: 7, 8"],
    "stale": ["Cache-Control: max-stale, min-fresh=1, only-if-cached", "", "Expires: " + DAY, "Last-Modified: " + DAY],
    "ranges": ["Range: bytes=-5", "If-Range: \"a,b\"", "", "ETag: \"a,b\"", "Date: " + DAY, "Content-Length: 9"],
    "odd": ["Pragma: no-cache", "", "Cache-Control: no-cache=\"a\\\"b\", max-age=-1, x=y=z,,", "ETag: W/\"", "Vary: *"],
}.items():
    save("FuzzCache", name, "\n".join(lines).encode())


def cache_text(text):
    return struct.pack("<Q", len(text)) + text


save("FuzzCache", "record", cache_text(b"http://a/") + struct.pack("<4Q", 5, 6, 0, 200) + cache_text(b"OK")
     + struct.pack("<3Q", 1, 2, 1) + cache_text(b"A") + cache_text(b"1"))
save("FuzzCache", "variants", cache_text(b"http://a/") + struct.pack("<6Q", 0, 0, 0, 0, 9, 1) + cache_text(b"accept"))

# Retry-After, and Date behind a line's end.
NOW = "Sun, 06 Nov 1994 08:49:37 GMT"
for name, field in {
    "seconds": "\t 120 ", "many": "99999999999999999999", "fixed": "Sun, 06 Nov 1994 08:50:37 GMT",
    "obsolete": "Sunday, 06-Nov-94 08:49:60 GMT", "asctime": "Sun Nov  6 08:49:37 1994", "leap": "Tue, 29 Feb 2000 23:59:60 GMT",
}.items():
    save("FuzzDate", name, f"{field}\n{NOW}".encode())
save("FuzzDate", "first-century", b"Saturday, 01-Jan-49 00:00:00 GMT\nSat, 01 Jan 0000 00:00:00 GMT")

# Content-Type, and a body behind a line's end.
for name, (field, body) in {
    "json": ("application/problem+json", b"{}"), "quoted": ('text/html; charset="ut\\f-8"; a=b', b"\xef\xbb\xbfa\xc3\xa9"),
    "empty": ("text/plain;; a; charset=iso-8859-1 ;", b"\xe9"), "utf-16": ("text/plain;charset=utf-16", b"\xff\xfea\0\x3d\xd8\0\xde"),
    "shift": ("text/plain;charset=iso-2022-jp-3", b"\x1b$B0l\x1b(B"), "tamil": ("text/plain;charset=tscii", b"\x82\x87\xaa"),
    "hong-kong": ("text/plain;charset=big5-hkscs", b"\x88\x62\xa4\x40"), "korean": ("text/plain;charset=uhc", b"\xb0\xa1"),
    "above": ("text/plain", b"a\xf6\x8c\x9a\x87"), "ucs-4": ("text/plain;charset=ucs-4", b"\0\0\0a\1\0\0\0"),
    "mark": ('text/plain;charset="\u0301utf-8"', b"a"), "utf-7": ("text/plain;charset=utf-7", b"+AGE-"),
    "chinese": ("text/plain;charset=gb18030", b"\x81\x30\x81\x30"), "none": ('text/plain;charset=""', b"\xc3\xa9"),
}.items():
    save("FuzzContentType", name, field.encode() + b"\n" + body)


# Names of files: a Content-Disposition on the first line, and the path of the URL.
for name, field, path in (
    ("quoted", r'attachment; filename="a \"b\\c.txt"; size=3', "/a/b%20c.txt"),
    ("extended", "attachment; filename=a; filename*=UTF-8'en'%e2%82%ac.txt", "/"),
    ("latin", "inline;FILENAME* = iso-8859-1''%E4", "/%ff"),
    ("parent", 'attachment; filename="../../.ssh/..\\\\.x"', "/a/..%2f.."),
    ("device", "attachment; filename=nul.txt", "/com1"),
    ("broken", 'filename="without end', "/" + "%c3%a4" * 200 + ".tar.gz"),
):
    save("FuzzFileName", name, field.encode() + b"\n" + path.encode())


# Forms: a boundary and parts of a kind, a name, something more and contents, each of these behind its length.
def form(name, boundary, *parts):
    prefixed = lambda text: bytes([len(text)]) + text
    fields = b"".join(bytes([kind]) + b"".join(map(prefixed, texts)) for kind, *texts in parts)
    save("FuzzMultipart", name, prefixed(boundary) + fields)


form("text", b"B", (0, b"na\"me\r\n", b"", b"--A\r\nvalue"), (0, b"\\\\", b"", b""))
form("file", b"b'+_-.1", (1, b"file\\", b"\xc3\xa9\0.png", b"\r\n--b"), (2, b"n", b"text/plain; charset=utf-8", b"x"))
form("fields", b"-", (3, b"X-Field", b"a\r\nb", b"--"), (3, b"--", b"v", b"-"))
form("close", b"B", (3, b"--B--", b"", b""))
form("none", b"0123456789012345678901234567890123456789012345678901234567890123456789")
