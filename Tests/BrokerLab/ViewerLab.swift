import CommandLineLab
package import FleetCore
import Glibc
package import HTTPLab
package import MQTTCore
package import NetworkLab

/// A machine with a broker on 127.0.0.1, to which a test publishes what the machines of a fleet would.
package final class ViewerLab {
    package let lab: LabNamespace
    package let folder: LabFolder
    private var broker: LabProcess?
    private var publishers = 0

    /// Starts a broker.
    package init() throws {
        (lab, folder) = (try LabNamespace(), try LabFolder())
        try lab.rtnl.setUp("lo")
        try startBroker()
    }

    deinit { try? broker?.send(SIGKILL) }

    /// Starts the broker; what it stored before is there again.
    package func startBroker() throws {
        let settings = [
            "user root", "listener 1883 127.0.0.1", "allow_anonymous true", "persistence true",
            "persistence_location \(folder.path)/", "max_queued_messages 0",
            // It writes lines for each connection otherwise, and would wait for a reader of them.
            "connection_messages false",
        ]
        let file = try folder.write("mosquitto.conf", settings.joined(separator: "\n") + "\n")
        broker = try lab.run { try LabProcess("/bin/sh", ["-c", "exec /usr/sbin/mosquitto -c \"$0\" 2>&1", file]) }
        try broker?.waitForOutput { $0.contains(" running") }
    }

    /// Stops the broker in order, so that it stores everything.
    package func stopBroker() throws {
        // It forgets a signal that comes before its loop begins, after it has said that it runs.
        try publish([MQTTPublish(topic: "lab/started", payload: [], qos: .atLeastOnce)])
        try broker?.send(SIGTERM)
        _ = try broker?.finish()
    }

    /// Publishes messages at QoS 1, and waits until the broker has acknowledged them.
    package func publish(_ messages: [MQTTPublish]) throws {
        publishers += 1
        let publisher = try lab.run { try Publisher() }
        try publisher.send(.connect(.init(clientID: "test-\(publishers)", startsClean: true, keepAlive: 0)))
        for (index, message) in messages.enumerated() {
            var message = message
            (message.qos, message.id) = (.atLeastOnce, UInt16(index % 60_000 + 1))
            try publisher.send(.publish(message))
            // The broker's acknowledgements must not fill the socket.
            if index % 500 == 499 { try publisher.waitForAcknowledgements(500) }
        }
        try publisher.waitForAcknowledgements(messages.count % 500)
    }

    /// Runs `netwatch fleet` to its end; with `--once`, adds `--timeout 100s` unless the arguments have a timeout.
    package func run(_ arguments: [String]) throws -> LabProcess.Outcome {
        let timeout = arguments.contains("--once") && !arguments.contains("--timeout") ? ["--timeout", "100s"] : []
        let words = ["fleet", Self.broker] + arguments + timeout
        return try lab.run { try LabProcess(ToolBinary.path, words) }.finish(within: .seconds(120))
    }

    /// Starts `netwatch fleet`, which prints to a pipe.
    package func start(_ arguments: [String]) throws -> LabProcess {
        try lab.run { try LabProcess(ToolBinary.path, ["fleet", Self.broker] + arguments) }
    }

    package static let broker = "mqtt://127.0.0.1"
}

/// A connection to the broker that publishes.
private final class Publisher {
    private let descriptor: Int32
    private var decoder = MQTTDecoder(version: .v5)

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(1883).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard result == 0 else { throw LabError("connect to the broker", errno: errno) }
    }

    deinit { close(descriptor) }

    func send(_ packet: MQTTPacket) throws {
        let bytes = try packet.encoded(as: .v5)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw LabError("write to the broker", errno: errno) }
            sent += count
        }
    }

    func waitForAcknowledgements(_ count: Int) throws {
        var rest = count
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while rest > 0 {
            let size = read(descriptor, &buffer, buffer.count)
            guard size > 0 else { throw LabError("read from the broker", errno: errno) }
            decoder.append(buffer[..<size])
            while let packet = try decoder.next() {
                if case .puback = packet { rest -= 1 }
            }
        }
    }
}

/// A machine of a fleet, as its forwarder would publish it.
package struct ReportingNode {
    package let node: FleetNode
    /// The run of its event service.
    private let run: String

    package init(_ name: String, group: String = "site-1", labels: [String: String] = [:]) {
        node = FleetNode(group: group, name: name, labels: labels)
        let digits = String(UInt32(truncatingIfNeeded: name.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) }), radix: 16)
        run = String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Whether it is connected; if not, why.
    package func link(_ offline: FleetLink.Reason? = nil, session: String = "s", at time: String) -> MQTTPublish {
        let link = FleetLink(offline: offline, session: session, keepAlive: 60, version: "0.1.0", time: time)
        return FleetMessage.link(link, of: node)
    }

    private func event(_ number: Int, _ status: String, at time: String) throws -> FleetEvent {
        let object = """
            {"v":1,"seq":\(number),"event":"change","time":"\(time)","status":"\(status)","reasons":["route.added"],\
            "path":{"status":"\(status)","interface":{"name":"wlan0","kind":"wifi"}}}
            """
        guard let event = FleetEvent(id: "\(run).\(number)", object: Array(object.utf8)) else {
            throw LabError("make an event", errno: EINVAL)
        }
        return event
    }

    /// An event on the topic of events.
    package func event(_ number: Int, _ status: String, time: String) throws -> MQTTPublish {
        FleetMessage.event(try event(number, status, at: time), of: node)
    }

    /// An event on the topic of the state.
    package func state(_ number: Int, _ status: String, time: String) throws -> MQTTPublish {
        FleetMessage.state(try event(number, status, at: time), of: node)
    }

    /// The moment a number of seconds ago, as messages write it.
    package static func time(ago seconds: Int) -> String {
        var now = Glibc.time(nil) - seconds
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 40)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S.000000Z", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The messages of a machine that is connected and in a state.
    package func messages(_ status: String = "wifi") throws -> [MQTTPublish] {
        let time = Self.time(ago: 60)
        return [
            link(at: time), try state(1, status, time: time), try event(1, status, time: time),
        ]
    }
}
