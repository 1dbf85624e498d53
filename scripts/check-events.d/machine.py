"""A machine with two uplinks, in the network namespace of this process."""
import os
import pathlib
import subprocess
import time

from report import run


class Machine:
    """A network namespace with two uplinks, whose other ends are in another one."""

    def __init__(self):
        self.far = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.far.pid}/ns/net") == own:
            time.sleep(0.01)
        for name in ("all", "default"):
            try:
                pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/addr_gen_mode").write_text("1")
            except OSError:
                pass
        pathlib.Path("/proc/sys/kernel/hostname").write_text("gateway")
        run("ip", "link", "set", "lo", "up")
        self.uplink("wlan0", "ap0", "192.0.2.1", "192.0.2.23")
        self.uplink("wwan0", "tower0", "198.51.100.1", "198.51.100.7")
        run("ip", "addr", "add", "2001:db8:1::23/64", "dev", "wlan0", "nodad")
        run("ip", "link", "add", "lan0", "type", "bridge")
        run("ip", "link", "set", "lan0", "up")
        run("ip", "addr", "add", "10.0.0.1/24", "dev", "lan0")
        self.restore()

    def uplink(self, name, peer, gateway, address):
        run("ip", "link", "add", name, "type", "veth", "peer", "name", peer)
        run("ip", "link", "set", peer, "netns", str(self.far.pid))
        self.outside("ip", "addr", "add", gateway + "/24", "dev", peer)
        self.outside("ip", "link", "set", peer, "up")
        run("ip", "link", "set", name, "up")
        run("ip", "addr", "add", address + "/24", "dev", name)

    def outside(self, *words):
        run("nsenter", "-t", str(self.far.pid), "-n", *words)

    def restore(self):
        """Both uplinks work."""
        for peer in ("ap0", "tower0"):
            self.outside("ip", "link", "set", peer, "up")
        run("ip", "route", "replace", "default", "via", "192.0.2.1", "metric", "600")
        run("ip", "route", "replace", "default", "via", "2001:db8:1::1", "dev", "wlan0", "metric", "600")
        run("ip", "route", "replace", "default", "via", "198.51.100.1", "metric", "700")

    def use_cellular(self):
        run("ip", "route", "del", "default", "via", "192.0.2.1")
        run("ip", "-6", "route", "flush", "default")

    def lose_all(self):
        run("ip", "-4", "route", "flush", "default")
        run("ip", "-6", "route", "flush", "default")

    def lose_carrier(self):
        self.outside("ip", "link", "set", "ap0", "down")

    def flap(self, count):
        for number in range(count):
            if number % 3:
                self.use_cellular()
                time.sleep(0.05 * (number % 7))
            if number % 2:
                self.lose_all()
                time.sleep(0.05 * (number % 5))
            self.restore()
            time.sleep(0.05 * (number % 11))

    def end(self):
        self.far.kill()
        self.far.wait()
