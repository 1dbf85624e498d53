#!/usr/bin/env python3
"""Makes the captures beside it, without the code under test.

Needs iproute2, gcc, tcpdump and editcap. The real messages come
from this kernel, through a raw netlink socket; the others are laid out by hand.
"""
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REQUEST, DUMP = 0x01, 0x300
# IFLA_EXT_MASK with RTEXT_FILTER_SKIP_STATS.
SKIP_STATISTICS = struct.pack("=HHI", 8, 29, 8)


def path(name):
    return os.path.join(HERE, name)


def cooked(payload, family=0, packet_type=4):
    return struct.pack(">HHHQH", packet_type, 824, 0, 0, family) + payload


class Tap:
    """What an nlmon interface would see of two sockets: requests, their answers, and notifications."""

    def __init__(self):
        self.records = []
        self.requests = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.requests.bind((0, 0))
        self.events = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        # Link, neighbour, IPv4 address, route, netconf and rule, the same of IPv6, and nexthop.
        groups = [1, 3, 5, 7, 24, 8, 9, 11, 25, 19, 32]
        self.events.bind((0, 0))
        for group in groups:
            self.events.setsockopt(270, 1, group)
        self.events.settimeout(0.5)

    def note(self, payload):
        self.records.append((time.time_ns(), payload))

    def dump(self, kind, body):
        request = struct.pack("=IHHII", 16 + len(body), kind, REQUEST | DUMP, kind, 0) + body
        self.note(request)
        self.requests.send(request)
        while True:
            answer = self.requests.recv(65536)
            self.note(answer)
            if struct.unpack_from("=H", answer, 4)[0] in (2, 3):
                return
            offset = 0
            while offset < len(answer):
                length, kind = struct.unpack_from("=IH", answer, offset)
                if kind in (2, 3):
                    return
                offset += (length + 3) & ~3

    def run(self, command):
        subprocess.run(command, shell=True, check=True)
        try:
            while True:
                self.note(self.events.recv(65536))
        except TimeoutError:
            pass


def network():
    subprocess.run(
        "ip link set lo up; ip link add wlan0 type veth peer name far0; ip link set far0 up; ip link set wlan0 up;"
        "ip address add 192.0.2.2/24 dev wlan0; ip address add 2001:db8::2/64 dev wlan0 nodad", shell=True, check=True)
    time.sleep(2)


def story():
    network()
    tap = Tap()
    tap.dump(18, bytes(16) + SKIP_STATISTICS)
    tap.dump(22, bytes(8))
    for family in (2, 10):
        tap.dump(26, struct.pack("B11x", family))
        tap.dump(34, struct.pack("B11x", family))
        tap.dump(82, struct.pack("B3x", family))
    tap.dump(106, bytes(8))
    for command in (
        "ip route add default via 192.0.2.1 metric 600",
        "ip route replace default via 192.0.2.3 metric 600",
        "ip neighbour replace 192.0.2.3 lladdr 02:00:00:00:00:03 dev wlan0",
        "ip -6 route add default via fe80::1 dev wlan0 metric 1024 expires 1800",
        "ip link set far0 down",
        "ip link set far0 up",
        "ip link set wlan0 down",
    ):
        tap.run(command)
    return tap.records


def commands(name):
    """What other programs say and hear: ip's listings, then `ip monitor` while a default route comes and goes."""
    pcap(name, [])
    with tempfile.TemporaryDirectory() as directory:
        library = os.path.join(directory, "netlink-tap.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, path("netlink-tap.c"), "-ldl"], check=True)
        tapped = dict(os.environ, LD_PRELOAD=library, NETLINK_TAP=path(name))
        quiet = dict(stdout=subprocess.DEVNULL, check=True, env=tapped)
        for command in (
            "link", "address", "rule", "-6 rule", "route show table all", "-6 route show table all", "route",
            "route show dev wlan0", "route get 192.0.2.9", "neighbour", "nexthop", "netconf",
        ):
            subprocess.run(["ip"] + command.split(), **quiet)
        monitor = subprocess.Popen(["ip", "monitor", "all"], stdout=subprocess.DEVNULL, env=tapped)
        time.sleep(1)
        for command in (
            "route add default via 192.0.2.1 metric 600", "route get 198.51.100.1", "link set far0 down",
            "link set far0 up", "route del default",
        ):
            subprocess.run(["ip"] + command.split(), **quiet)
            time.sleep(1)
        monitor.terminate()


def pcap(name, records, order="<", nanoseconds=True):
    magic, unit = (0xA1B23C4D, 1) if nanoseconds else (0xA1B2C3D4, 1000)
    with open(path(name), "wb") as file:
        file.write(struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 262144, 253))
        for moment, payload in records:
            data = cooked(payload)
            file.write(struct.pack(order + "IIII", moment // 10**9, moment % 10**9 // unit, len(data), len(data)))
            file.write(data)


def attribute(order, kind, payload):
    return struct.pack(order + "HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def message(order, kind, body, flags=0):
    return struct.pack(order + "IHHII", 16 + len(body), kind, flags, 7, 0) + body


def foreign_messages(order):
    """What a machine of that byte order would send: a link, a default route of each family, a dump's end."""
    number = lambda value: struct.pack(order + "I", value)
    link = struct.pack(order + "BxHiII", 0, 1, 2, 0x11043, 0)
    link += attribute(order, 3, b"eth0\0") + attribute(order, 4, number(1500)) + attribute(order, 16, b"\6")
    ipv4 = struct.pack(order + "BBBBBBBBI", 2, 0, 0, 0, 252, 4, 0, 1, 0)
    ipv4 += attribute(order, 15, number(1000)) + attribute(order, 6, number(600)) + attribute(order, 4, number(2))
    ipv4 += attribute(order, 5, bytes([192, 0, 2, 1]))
    ipv6 = struct.pack(order + "BBBBBBBBI", 10, 0, 0, 0, 254, 9, 0, 1, 0)
    leg = struct.pack(order + "HBBi", 28, 0, 2, 2) + attribute(order, 5, socket.inet_pton(socket.AF_INET6, "fe80::1"))
    ipv6 += attribute(order, 9, leg) + attribute(order, 12, struct.pack(order + "IIiIIIII", 0, 0, 180000, 0, 0, 0, 0, 0))
    return [
        message(order, 16, link), message(order, 24, ipv4, 0x400) + message(order, 24, ipv6, 2),
        message(order, 3, struct.pack(order + "i", -4), 2),
    ]


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order):
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order, link_type, options=b""):
    return block(order, 1, struct.pack(order + "HHI", link_type, 0, 0) + options)


def enhanced(order, number, ticks, data):
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
    return block(order, 6, head + data)


def sections(name):
    """Two sections of different byte order; an Ethernet interface beside netlink; every kind of packet block."""
    big, little = foreign_messages(">"), foreign_messages("<")
    options = option(">", 2, b"nlmon0") + option(">", 9, bytes([0x94])) + option(">", 14, struct.pack(">q", 1000))
    with open(path(name), "wb") as file:
        file.write(section(">") + interface(">", 1) + interface(">", 253, options + bytes(4)))
        file.write(enhanced(">", 0, 5, bytes(60)))
        file.write(enhanced(">", 1, 3 << 19, cooked(big[0])))
        file.write(block(">", 4, bytes(4)) + block(">", 0x1BAD, b"unknown"))
        file.write(enhanced(">", 1, 2 << 20, cooked(big[1])))
        file.write(section("<") + interface("<", 253, option("<", 9, bytes([9])) + bytes(4)))
        data = cooked(little[0])
        file.write(block("<", 3, struct.pack("<I", len(data)) + data))
        data = cooked(little[1])
        file.write(block("<", 2, struct.pack("<HHIIII", 0, 0, 1, 2, len(data), len(data)) + data))
        file.write(enhanced("<", 0, 1_700_000_000_123_456_789, cooked(little[2], packet_type=6)))


if __name__ == "__main__":
    if sys.argv[1:] == ["story"]:
        pcap("story-nanoseconds.pcap", story())
        sys.exit()
    if sys.argv[1:] == ["commands"]:
        network()
        commands("iproute2.pcap")
        sys.exit()
    nanoseconds = path("story-nanoseconds.pcap")
    for part in ("story", "commands"):
        subprocess.run(["unshare", "-rn", sys.executable, __file__, part], check=True)
    subprocess.run(["tcpdump", "-Z", "root", "-r", nanoseconds, "-w", path("story-microseconds.pcap")], check=True)
    subprocess.run(["editcap", "-F", "pcapng", nanoseconds, path("story.pcapng")], check=True)
    start = 1_700_000_000_123_456_000
    foreign = [(start + 1000 * i, m) for i, m in enumerate(foreign_messages(">"))]
    pcap("big-endian.pcap", foreign, ">", nanoseconds=False)
    sections("sections.pcapng")
