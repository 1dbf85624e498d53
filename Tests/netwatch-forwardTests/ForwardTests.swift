import BrokerLab
import CommandLineLab
import Glibc
import HTTPLab
import MQTTCore
import NetwatchCore
import NetworkLab
import Testing

/// A broker that keeps sessions, and closes the connection instead of acknowledging the first state.
private final class ForgetfulBroker: Sendable {
    /// What was published on the connections after that.
    let messages = LabInbox<MQTTPublish>()
    /// The events that were published on any connection: they may come before the first state.
    let events = LabInbox<MQTTPublish>()
    private let broker: ScriptedBroker

    init() throws {
        let unacknowledged = LabInbox<[UInt8]>()
        broker = try ScriptedBroker(on: FleetLab.server) { [messages, events] connection in
            let keepsSession = !unacknowledged.all.isEmpty
            while let packet = try connection.receive() {
                switch packet {
                case .connect: try connection.send([.connack(.init(hasSession: keepsSession, reason: .success))])
                case .publish(let message):
                    if !keepsSession, message.topic.hasSuffix("/state") { return unacknowledged.put(message.payload) }
                    if keepsSession { messages.put(message) }
                    if message.topic.hasSuffix("/events") { events.put(message) }
                    try connection.send([.puback(.init(id: message.id))])
                case .pingreq: try connection.send([.pingresp])
                default: break
                }
            }
        }
    }

    /// The last parts of their topics.
    var topics: [String] { messages.all.map { String($0.topic.split(separator: "/").last ?? "") } }

    /// Whether it has three states and an event.
    var hasAll: Bool { topics.count { $0 == "state" } >= 3 && !events.all.isEmpty }
}

/// `netwatch forward` with the event service and a broker, each as a process.
@Suite(.blocksItsThread, .timeLimit(.minutes(20)))
struct ForwardTests {
    @Test func `the link is published first, then the state and each event, and at the end that it was stopped`() throws
    {
        let lab = try FleetLab()
        try lab.startBroker()
        let reader = try lab.reader()
        try lab.startService()
        try lab.startForwarder(["--label", "site=Basel", "--home-assistant", "homeassistant"])
        try reader.waitForOutput { !FleetLab.events(in: $0).isEmpty && !FleetLab.messages("state", in: $0).isEmpty }
        try lab.removeRoute("wlan0")
        // The path that changed takes another connection, whose first message is the link's again.
        let output = try reader.waitForOutput { output in
            FleetLab.messages("link", in: output).count >= 2
                && FleetLab.messages("state", in: output).last?["subject"]?.string == "cellular"
                && FleetLab.messages("events", in: output).last?["subject"]?.string == "cellular"
        }
        let links = FleetLab.messages("link", in: output)
        #expect(links.first?["online"]?.isTrue == true)
        #expect(links.first?["labels"]?.members?["site"]?.string == "Basel")
        let first = try #require(output.split(separator: "\n").first { $0.hasPrefix("netwatch/") })
        #expect(first.hasPrefix("netwatch/g/n/link "))
        let event = try #require(FleetLab.messages("events", in: output).last)
        #expect(event["specversion"]?.string == "1.0" && event["source"]?.string == "netwatch/g/n")
        #expect(event["data"]?.members?["status"]?.string == "cellular")
        #expect(output.contains("homeassistant/binary_sensor/netwatch_g_n/network/config {"))
        #expect(try lab.endForwarder(SIGTERM) == 0)
        let end = try reader.waitForOutput {
            FleetLab.messages("link", in: $0).last?["reason"]?.string == "stopped"
        }
        #expect(FleetLab.messages("link", in: end).last?["online"]?.isTrue == false)
    }

    @Test func `when the path changes, the next event arrives over the new one, long before the keep-alive`() throws {
        let lab = try FleetLab()
        try lab.startBroker()
        let reader = try lab.reader()
        try lab.startService()
        try lab.startForwarder(["--keepalive", "600s"])
        try reader.waitForOutput { !FleetLab.events(in: $0).isEmpty }
        // Nothing that is sent over Wi-Fi arrives any more, and the machine does not see that.
        try lab.network.rtnl.deleteAddress("192.0.2.1/24", on: "ap0")
        let clock = ContinuousClock()
        let start = clock.now
        try lab.removeRoute("wlan0")
        try reader.waitForOutput(within: .seconds(300)) {
            FleetLab.messages("events", in: $0).last?["subject"]?.string == "cellular"
        }
        print("an event over the new path after \(clock.now - start)")
        #expect(try lab.endForwarder(SIGTERM) == 0)
    }

    @Test func `a forwarder that is stopped while it reconnects says that it was stopped`() throws {
        let lab = try FleetLab()
        try lab.startBroker()
        let reader = try lab.reader()
        try lab.startService()
        var isTold = false
        // It tries for two seconds, in which a busy machine may make no connection.
        for _ in 1...5 where !isTold { isTold = try stopWhileReconnecting(lab, reader) }
        #expect(isTold)
    }

    /// Stops a forwarder whose connection was lost; returns whether its link says that it was stopped.
    private func stopWhileReconnecting(_ lab: FleetLab, _ reader: LabProcess) throws -> Bool {
        let before = try Self.link(in: reader.waitForOutput { _ in true })?["session"]?.string
        try lab.startForwarder()
        let output = try reader.waitForOutput { output in
            let link = Self.link(in: output)
            return link?["online"]?.isTrue == true && link?["session"]?.string != before
                && !FleetLab.events(in: output).isEmpty
        }
        let session = Self.link(in: output)?["session"]?.string
        try lab.killBroker(SIGKILL)
        try lab.startBroker()
        // The next connection is up to 30 s away.
        #expect(try lab.endForwarder(SIGTERM) == 0)
        let end = try? reader.waitForOutput(within: .seconds(30)) { output in
            Self.link(in: output)?["reason"]?.string == "stopped"
        }
        guard let end else { return false }
        #expect(Self.link(in: end)?["online"]?.isTrue == false)
        #expect(Self.link(in: end)?["session"]?.string == session)
        return true
    }

    private static func link(in output: String) -> [String: JSONText]? {
        FleetLab.messages("link", in: output).last
    }

    @Test func `link and state come first on each connection, and the state last if an old one came again`() throws {
        let lab = try FleetLab()
        let broker = try lab.network.run { try ForgetfulBroker() }
        try lab.startService()
        try lab.startForwarder()
        // Up to 30 s pass until the next connection.
        let deadline = ContinuousClock.now + .seconds(200)
        while !broker.hasAll, ContinuousClock.now < deadline { Polling.pauseForProcess() }
        let messages = broker.messages.all
        #expect(broker.topics.prefix(3) == ["link", "state", "state"], "\(broker.topics)")
        #expect(messages.map(\.isDuplicate).prefix(3) == [false, false, true])
        #expect(messages.last { $0.topic.hasSuffix("/state") }?.isDuplicate == false)
        #expect(!broker.events.all.isEmpty)
        #expect(try lab.endForwarder(SIGTERM) == 0)
    }

    @Test func `--no-cellular waits for another path, and sends what happened until then`() throws {
        let lab = try FleetLab()
        try lab.startBroker()
        let reader = try lab.reader()
        try lab.removeRoute("wlan0")
        try lab.startService()
        try lab.startForwarder(["--no-cellular"])
        for _ in 0..<5 {
            try lab.addRoute("wlan0")
            try lab.removeRoute("wlan0")
        }
        try lab.addRoute("wlan0")
        let output = try reader.waitForOutput {
            FleetLab.messages("events", in: $0).last?["subject"]?.string == "wifi"
        }
        let numbers = FleetLab.events(in: output)
        #expect(numbers == numbers.sorted())
        #expect(try lab.endForwarder(SIGTERM) == 0)
    }

    @Test func `--no-cellular ends the connection when the path becomes cellular`() throws {
        let lab = try FleetLab()
        try lab.startBroker()
        let reader = try lab.reader()
        try lab.startService()
        // The broker notices soon that the connection is gone, even if its end can't be sent.
        try lab.startForwarder(["--no-cellular", "--keepalive", "5s"])
        try reader.waitForOutput { FleetLab.messages("link", in: $0).last?["online"]?.isTrue == true }
        try lab.removeRoute("wlan0")
        try reader.waitForOutput { FleetLab.messages("link", in: $0).last?["reason"]?.string == "lost" }
        try lab.addRoute("wlan0")
        let output = try reader.waitForOutput { output in
            FleetLab.messages("link", in: output).last?["online"]?.isTrue == true
                && FleetLab.messages("events", in: output).last?["subject"]?.string == "wifi"
        }
        let numbers = FleetLab.events(in: output)
        #expect(numbers == numbers.sorted())
        #expect(try lab.endForwarder(SIGTERM) == 0)
    }

    private static func number(_ name: String, or standard: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? standard
    }

    /// `NETWATCH_FLEET_ROUNDS` sets how often something is cut or killed; `NETWATCH_FLEET_OUTAGES`, how often Wi-Fi is lost
    /// meanwhile at most.
    @Test func `no event is missing, and their order is kept, whatever is cut or killed`() throws {
        let rounds = Self.number("NETWATCH_FLEET_ROUNDS", or: 3)
        let outages = Self.number("NETWATCH_FLEET_OUTAGES", or: 10)
        let lab = try FleetLab()
        try lab.startBroker()
        let reader = try lab.reader()
        try lab.startService()
        try lab.startForwarder()
        try reader.waitForOutput { !FleetLab.events(in: $0).isEmpty }
        var random = SeededGenerator(seed: 20)
        for round in 0..<rounds {
            try lab.setServer(isThere: false)
            for _ in 0..<Int.random(in: 1...outages, using: &random) {
                try lab.waitForEvent { try lab.removeRoute("wlan0") }
                try lab.waitForEvent { try lab.addRoute("wlan0") }
            }
            try lab.setLinks(up: false)
            if round % 3 != 1 {
                let isKilled = Bool.random(using: &random)
                #expect(try lab.endForwarder(isKilled ? SIGKILL : SIGTERM) == (isKilled ? 1000 + SIGKILL : 0))
            }
            if round % 3 != 0 { try lab.killBroker(Bool.random(using: &random) ? SIGKILL : SIGTERM) }
            try lab.setServer(isThere: true)
            try lab.setLinks(up: true)
            if round % 3 != 0 { try lab.startBroker() }
            if round % 3 != 1 { try lab.startForwarder() }
        }
        // A change that is certainly the last one.
        try lab.removeRoute("wlan0")
        let output = try reader.waitForOutput(within: .seconds(600)) { output in
            FleetLab.messages("events", in: output).last?["subject"]?.string == "cellular"
                && (try? lab.storedEvents().last) == FleetLab.events(in: output).last
        }
        let stored = try lab.storedEvents()
        let received = FleetLab.events(in: output)
        #expect(received == stored.filter { $0 >= received[0] })
        let all = FleetLab.messages("events", in: output).count
        print("\(received.count) events in \(rounds) rounds, \(all - received.count) of them repeated")
        #expect(try lab.endForwarder(SIGTERM) == 0)
    }

    /// A text that is longer than a viewer takes.
    static let longText = String(repeating: "x", count: 129)
    static let longLabelName = longText + "=a"
    static let longLabelValue = "a=" + longText
    static let longPrefix = String(repeating: "x", count: 201)
    static let tooManyLabels: [String] = ["mqtts://x"] + (1...33).flatMap { ["--label", "name\($0)=value"] }

    @Test(arguments: [
        (["http://x"], "it does not begin with mqtts:// or mqtt://"),
        (["mqtts://user:secret@x"], "use --user and --password-file"), (["mqtts://"], "the broker's name is missing"),
        (["mqtts://x:0"], "'0' is no port"), (["mqtts://x/a"], "a broker has no path"),
        (["mqtts://x", "--node", "a/b"], "it has a slash"), (["mqtts://x", "--group", "a+"], "a topic can't have '+'"),
        (["mqtts://x", "--label", "a"], "it is not a name and a value"),
        (["mqtts://x", "--node", longText], "it has more than 128 bytes"),
        (["mqtts://x", "--group", longText], "it has more than 128 bytes"),
        (["mqtts://x", "--label", longLabelName], "a label's name has at most 128 bytes, and its value 128"),
        (["mqtts://x", "--label", longLabelValue], "a label's name has at most 128 bytes, and its value 128"),
        (["mqtts://x", "--prefix", longPrefix], "it has more than 200 bytes"),
        (tooManyLabels, "a machine has at most 32 labels; leave out some --label"),
        (["mqtt://x", "--cacert", "/a"], "--cacert, --cert and --pin are about TLS; use mqtts://"),
        (["mqtts://x", "--key", "/a"], "--key is of no use without --cert"),
        (["mqtts://x", "--keepalive", "1s"], "it is not between 5s and 18h"),
        (["mqtts://x", "--no-cellular", "--interface", "wlan0"], "leave out --interface"),
        (["mqtts://x", "--mqtt-version", "4"], "write 5 or 3.1.1"),
        (["mqtts://x", "--user", "u", "--password-file", "/no/such"], "cannot read the password file '/no/such'"),
        (["mqtts://x", "--cacert", "/no/such"], "/no/such"),
    ])
    func `arguments that can't be used are refused in a line that says what to do`(
        arguments: [String],
        words: String
    ) throws {
        let outcome = try LabProcess.run(ToolBinary.path, ["forward"] + arguments)
        #expect(outcome.code == 64 && outcome.errors.contains(words), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func `a state file that has something else is refused`() throws {
        let folder = try LabFolder()
        let file = try folder.write("state", "two words\n")
        let outcome = try LabProcess.run(ToolBinary.path, ["forward", "mqtt://127.0.0.1", "--state", file])
        #expect(outcome.code == 65 && outcome.errors.contains("has no event's id"), "\(outcome)")
    }
}
