package import CommandLineLab
import EventService
import Glibc
package import HTTPLab
package import NetwatchCore
package import NetworkLab
import ReachabilityCore

/// A machine with Wi-Fi and a modem, and a broker that it reaches over both.
///
/// `wlan0` (192.0.2.2, metric 600) and `wwan0` (198.51.100.2, metric 700) lead to one network, where a mosquitto listens on
/// 203.0.113.7.
package final class FleetLab {
    package let home: LabNamespace
    package let network: LabNamespace
    package let folder: LabFolder
    /// The event service's socket.
    package var socket: String { folder.path + "/events.sock" }
    package private(set) var service: ToolProcess?
    package private(set) var forwarder: ToolProcess?
    private var broker: LabProcess?
    /// A program that executes others on the machine.
    private var wrapper: [String] = []

    package static let server = "203.0.113.7"

    package init() throws {
        (home, network, folder) = (try LabNamespace(), try LabNamespace(), try LabFolder())
        try join("wlan0", 10, "ap0", 20, "192.0.2")
        try join("wwan0", 11, "tower0", 21, "198.51.100")
        try network.rtnl.setUp("lo")
        try setServer(isThere: true)
        try addRoute("wlan0")
        try home.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700)
    }

    private func join(
        _ name: String,
        _ index: InterfaceIndex,
        _ peer: String,
        _ peerIndex: InterfaceIndex,
        _ subnet: String
    ) throws {
        try home.rtnl.createVeth(name, .init(index: index), peer: peer, .init(index: peerIndex, namespace: network))
        try home.rtnl.setUp(name)
        try network.rtnl.setUp(peer)
        try home.rtnl.addAddress("\(subnet).2/24", on: name)
        try network.rtnl.addAddress("\(subnet).1/24", on: peer)
    }

    package func addRoute(_ name: String) throws {
        try home.rtnl.addRoute("default", via: "192.0.2.1", on: name, metric: 600)
    }

    package func removeRoute(_ name: String) throws {
        try home.rtnl.deleteRoute("default", via: "192.0.2.1", on: name, metric: 600)
    }

    /// Cuts or restores both links.
    package func setLinks(up: Bool) throws {
        for name in ["ap0", "tower0"] { if up { try network.rtnl.setUp(name) } else { try network.rtnl.setDown(name) } }
    }

    /// Removes or restores the broker's address: the paths stand, and lead nowhere.
    package func setServer(isThere: Bool) throws {
        let address = "\(Self.server)/32"
        if isThere {
            try network.rtnl.addAddress(address, on: "lo")
        } else {
            try network.rtnl.deleteAddress(address, on: "lo")
        }
    }

    // MARK: The programs

    package func startService(_ options: [String] = []) throws {
        let kinds = ["--kind", "wlan*=wifi", "--kind", "wwan*=cellular"]
        let service = try ToolProcess(
            ["serve", "--socket", socket, "--journal", folder.path + "/journal"] + kinds + options,
            in: home,
            through: wrapper
        )
        self.service = service
        try waitUntilServes(service)
    }

    /// Waits until the service has a state.
    private func waitUntilServes(_ service: ToolProcess) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while (try? newestEvent()) ?? nil == nil {
            guard service.isRunning else { throw LabError("serve", errno: ESRCH, detail: try service.errors.rest()) }
            guard ContinuousClock.now < deadline else { throw LabError("serve", errno: ETIMEDOUT) }
            Polling.pauseForProcess()
        }
    }

    /// Starts a broker that stores each message before it continues.
    package func startBroker() throws {
        let file = try folder.write(
            "mosquitto.conf",
            """
            user root
            listener 1883 \(Self.server)
            allow_anonymous true
            persistence true
            persistence_location \(folder.path)/
            autosave_on_changes true
            autosave_interval 1
            max_queued_messages 0
            max_inflight_messages 0

            """
        )
        // It writes a line for each message that it stores, and would wait for a reader of its standard error.
        let log = try folder.write("mosquitto.log", "")
        let words = ["-c", "exec /usr/sbin/mosquitto -c \"$0\" 2>\"$1\"", file, log]
        broker = try network.run { try LabProcess("/bin/sh", words) }
        let deadline = ContinuousClock.now + .seconds(120)
        while try !String(decoding: Repository.bytes(of: log), as: UTF8.self).contains(" running") {
            guard ContinuousClock.now < deadline else { throw LabError("start mosquitto", errno: ETIMEDOUT) }
            Polling.pause()
        }
        try publishOnce()
    }

    /// Publishes a message, and waits until the broker has acknowledged it.
    ///
    /// The broker forgets a signal that comes before its loop begins, after it has said that it runs.
    private func publishOnce() throws {
        let words = ["-h", Self.server, "-q", "1", "-t", "lab/started", "-n"]
        let outcome = try network.run { try LabProcess("/usr/bin/mosquitto_pub", words) }.finish()
        guard outcome.code == 0 else { throw LabError("publish", errno: EPIPE, detail: outcome.errors) }
    }

    package func killBroker(_ signal: Int32) throws {
        try broker?.send(signal)
        _ = try broker?.finish()
    }

    package func startForwarder(_ options: [String] = []) throws {
        let state = folder.path + "/position"
        forwarder = try ToolProcess(
            ["forward", "mqtt://\(Self.server)", "--node", "n", "--group", "g", "--socket", socket, "--state", state]
                + options,
            in: home,
            through: wrapper
        )
    }

    /// Kills the service and the forwarder, as a loss of power does: neither is left when this returns.
    package func losePower() throws {
        service?.send(SIGKILL)
        guard try endForwarder(SIGKILL) > 1000, try service?.exitCode() ?? 0 > 1000 else {
            throw LabError("kill the programs", errno: EBUSY)
        }
    }

    /// Has programs that are started from now on see another boot identifier, as after a restart of the machine.
    package func changeBoot() throws {
        let file = try folder.write("boot_id", "11111111-2222-4333-8444-555555555555\n")
        let command = "mount --bind '\(file)' /proc/sys/kernel/random/boot_id && exec \"$@\""
        wrapper = ["/usr/bin/unshare", "-m", "/bin/sh", "-c", command, "sh"]
    }

    package func endForwarder(_ signal: Int32) throws -> Int32 {
        forwarder?.send(signal)
        return try forwarder?.exitCode() ?? -1
    }

    /// Starts a reader with a session that lasts, whose output is a line for each message.
    package func reader() throws -> LabProcess {
        let words = [
            "-c", "exec stdbuf -oL mosquitto_sub \"$@\" 2>&1", "mosquitto_sub", "-h", Self.server, "-i", "reader", "-c",
            "-q", "1", "-v", "-t", "netwatch/#", "-t", "homeassistant/#", "-d",
        ]
        let reader = try network.run { try LabProcess("/bin/sh", words) }
        try reader.waitForOutput { $0.contains("Subscribed") }
        return reader
    }

    // MARK: What is known

    /// The numbers of the events that the service has stored.
    package func storedEvents() throws -> [UInt64] {
        var connection = try EventSocket(path: socket)
        try connection.send("/v1/history?since=1h", ["Accept: application/x-ndjson"])
        _ = try connection.status()
        let lines = try connection.rest().split(separator: UInt8(ascii: "\n"))
        return lines.compactMap { (try? JSONText($0))?.members?["seq"]?.wholeNumber }
    }

    /// The number of the service's newest event.
    private func newestEvent() throws -> UInt64? {
        var connection = try EventSocket(path: socket)
        try connection.send("/v1/state", [])
        _ = try connection.status()
        return (try? JSONText(connection.rest()[...]))?.members?["seq"]?.wholeNumber
    }

    /// Makes a change, and waits until the service has an event about it.
    package func waitForEvent(after change: () throws -> Void) throws {
        let before = try newestEvent()
        try change()
        let deadline = ContinuousClock.now + .seconds(120)
        while try newestEvent() == before {
            guard ContinuousClock.now < deadline else { throw LabError("wait for an event", errno: ETIMEDOUT) }
            Polling.pauseForProcess()
        }
    }

    /// The messages on a topic in a reader's output.
    package static func messages(_ topic: String, in output: String) -> [[String: JSONText]] {
        output.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("netwatch/g/n/\(topic) ") else { return nil }
            return (try? JSONText(Array(line.drop { $0 != "{" }.utf8)[...]))?.members
        }
    }

    /// The numbers of the events in a reader's output, each once.
    package static func events(in output: String) -> [UInt64] {
        var seen: Set<UInt64> = []
        return messages("events", in: output).compactMap { message in
            message["id"]?.string?.split(separator: ".").last.flatMap { UInt64($0) }
        }.filter { seen.insert($0).inserted }
    }
}
