import BrokerLab
import CommandLineLab
import FleetCore
import Glibc
import HTTPLab
import MQTTCore
import NetwatchCore
import NetworkLab
import Testing

/// A broker on 127.0.0.1 that sends the first batch of its retained messages after SUBACK, and after a pause one more before each
/// PINGRESP.
private final class PausingBroker: Sendable {
    /// The PINGREQ packets that were received, counted.
    let pings = LabInbox<Int>()
    private let broker: ScriptedBroker

    init(_ batches: [[MQTTPublish]], responds: Bool = true) throws {
        broker = try ScriptedBroker(on: "127.0.0.1") { [pings] in try Self.serve($0, batches, responds, pings) }
    }

    /// Longer than the viewer waits for a further message.
    private static let pause = 1.5

    private static func serve(
        _ connection: ScriptedBroker.Connection,
        _ batches: [[MQTTPublish]],
        _ responds: Bool,
        _ pings: LabInbox<Int>
    ) throws {
        var rest = batches[...]
        while let packet = try connection.receive() {
            switch packet {
            case .connect: try connection.send([.connack(.init(hasSession: false, reason: .success))])
            case .subscribe(let subscribe):
                let reasons = subscribe.subscriptions.map { _ in MQTTReasonCode.success }
                try connection.send([.suback(.init(id: subscribe.id, reasons))] + retained(rest.popFirst()))
            case .pingreq:
                pings.put(pings.all.count + 1)
                guard responds else { continue }
                if !rest.isEmpty { usleep(UInt32(pause * 1e6)) }
                try connection.send(retained(rest.popFirst()) + [.pingresp])
            default: break
            }
        }
    }

    static func retained(_ messages: [MQTTPublish]?) -> [MQTTPacket] {
        (messages ?? []).map { message in
            var message = message
            (message.qos, message.isRetained) = (.atMostOnce, true)
            return .publish(message)
        }
    }
}

/// `netwatch fleet --once` with a broker.
@Suite(.blocksItsThread, .timeLimit(.minutes(5)))
struct OnceTests {
    private let lab: ViewerLab

    init() throws { lab = try ViewerLab() }

    /// The objects of lines of JSON.
    private func objects(_ output: String) -> [[String: JSONText]] {
        output.split(separator: "\n").compactMap { (try? JSONText(Array($0.utf8)[...]))?.members }
    }

    @Test func `the exit status is 0 if all machines are reachable`() throws {
        for name in ["a", "b", "c"] { try lab.publish(try ReportingNode(name).messages()) }
        let outcome = try lab.run(["--once"])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output.contains("all 3 reachable"))
    }

    @Test func `the exit status is 1 if a machine is silent or has no network`() throws {
        let (up, down, lost) = (ReportingNode("up"), ReportingNode("down"), ReportingNode("lost"))
        try lab.publish(try up.messages() + down.messages("notReachable") + lost.messages())
        try lab.publish([lost.link(.lost, at: ReportingNode.time(ago: 0))])
        let outcome = try lab.run(["--once", "--json"])
        #expect(outcome.code == 1, "\(outcome)")
        let all = objects(outcome.output)
        let nodes = Dictionary(all.dropLast().map { ($0["node"]?.string ?? "", $0) }) { first, _ in first }
        #expect(nodes.keys.sorted() == ["down", "lost", "up"])
        #expect(nodes["lost"]?["link"]?.string == "silent" && nodes["lost"]?["lastState"]?.string == "wifi")
        #expect(nodes["down"]?["state"]?.string == "notReachable")
        #expect(all.last?["nodes"]?.wholeNumber == 3 && all.last?["reachable"]?.wholeNumber == 1)
    }

    @Test func `the exit status is 2 if no machine reported, or the broker can't be reached`() throws {
        let none = try lab.run(["--once"])
        #expect(none.code == 2 && none.errors.isEmpty, "\(none)")
        try lab.stopBroker()
        let gone = try TimeLimit.lengthened {
            try lab.run(["--once", "--timeout", $0])
        } until: {
            $0.errors.contains("refuses connections")
        }
        #expect(gone.code == 2 && gone.output.isEmpty)
        #expect(gone.errors.hasPrefix("netwatch: nothing is known of the fleet at '127.0.0.1': "), "\(gone)")
        #expect(gone.errors.contains("refuses connections") && gone.errors.filter(\.isNewline) == "\n")
    }

    @Test func `messages that a broker sends after a pause are waited for`() throws {
        let broker = try pausingBroker(["a", "b"])
        let outcome = try lab.run(["--once"])
        #expect(outcome.code == 0 && outcome.output.contains("all 2 reachable"), "\(outcome)")
        // After a pause of the machine the viewer may ask once more.
        let pings = broker.pings.all
        #expect(outcome.errors.isEmpty && pings.count >= 2 && pings == pings.indices.map { $0 + 1 }, "\(pings)")
    }

    @Test func `the exit status is 2 if the broker may have more machines`() throws {
        let broker = try pausingBroker(["a"], responds: false)
        let outcome = try TimeLimit.lengthened {
            try lab.run(["--once", "--timeout", $0])
        } until: { _ in
            !broker.pings.all.isEmpty
        }
        #expect(outcome.code == 2 && outcome.output.contains("all 1 reachable"), "\(outcome)")
        let words = "netwatch: machines may be missing: the broker has not sent everything within "
        #expect(outcome.errors.hasPrefix(words) && outcome.errors.hasSuffix("; give a longer --timeout\n"))
    }

    /// Starts a broker in the place of the other that has a machine in each batch of messages.
    private func pausingBroker(_ machines: [String], responds: Bool = true) throws -> PausingBroker {
        // mosquitto ignores SIGTERM until it has started; a publish shows that it has.
        try lab.publish(try ReportingNode("x").messages())
        try lab.stopBroker()
        let batches = try machines.map {
            try ReportingNode($0).messages().filter { !$0.topic.hasSuffix("/events") }
        }
        return try lab.lab.run { try PausingBroker(batches, responds: responds) }
    }

    @Test func `a broker that ends the connection because it shuts down is waited for`() throws {
        try lab.stopBroker()
        let connections = LabInbox<Int>()
        let retained = PausingBroker.retained(try ReportingNode("a").messages())
        let broker = try lab.lab.run {
            try ScriptedBroker(on: "127.0.0.1") { connection in
                connections.put(1)
                let shutsDown = connections.all.count == 1
                while let packet = try connection.receive() {
                    switch packet {
                    case .connect: try connection.send([.connack(.init(hasSession: false, reason: .success))])
                    case .subscribe where shutsDown:
                        return try connection.send([.disconnect(.init(.init(rawValue: 0x8B)))])
                    case .subscribe(let subscribe):
                        let reasons = subscribe.subscriptions.map { _ in MQTTReasonCode.success }
                        try connection.send([.suback(.init(id: subscribe.id, reasons))] + retained)
                    case .pingreq: try connection.send([.pingresp])
                    default: break
                    }
                }
            }
        }
        let outcome = try lab.run(["--once"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(connections.all.count == 2)
        withExtendedLifetime(broker) {}
    }

    @Test func `a machine of the inventory that never reported is not reachable`() throws {
        try lab.publish(try ReportingNode("a").messages())
        let inventory = try lab.folder.write("machines", "site-1/a\nsite-1/never site=Basel # a comment\n")
        let outcome = try lab.run(["--once", "--json", "--inventory", inventory])
        #expect(outcome.code == 1, "\(outcome)")
        let missing = objects(outcome.output).first { $0["node"]?.string == "never" }
        #expect(missing?["link"]?.string == "unknown" && missing?["expected"]?.isTrue == true)
        #expect(missing?["labels"]?.members?["site"]?.string == "Basel")
    }

    @Test func `conditions and groups choose machines`() throws {
        let nodes = [ReportingNode("a"), ReportingNode("b"), ReportingNode("c", group: "site-2")]
        for node in nodes { try lab.publish(try node.messages()) }
        try lab.publish(try ReportingNode("d").messages("notReachable"))
        let names = { (options: [String]) in
            objects(try lab.run(["--once", "--json"] + options).output).dropLast().compactMap { $0["node"]?.string }
        }
        #expect(try names(["--where", "group=site-1", "--where", "state=wifi"]).sorted() == ["a", "b"])
        #expect(try names(["--group", "site-2"]) == ["c"])
        #expect(try lab.run(["--once", "--where", "state=wifi"]).code == 0)
        let grouped = try lab.run(["--once", "--json", "--group-by", "group"])
        let groups = objects(grouped.output).last?["groups"]?.elements?.compactMap { $0.members?["name"]?.string }
        #expect(groups?.sorted() == ["site-1", "site-2"])
    }

    @Test func `a broker that has MQTT 3-1-1 only is read, too`() throws {
        try lab.publish(try ReportingNode("a").messages())
        #expect(try lab.run(["--once", "--mqtt-version", "3.1.1"]).code == 0)
    }

    @Test func `5,000 machines are all there`() throws {
        for start in stride(from: 0, to: 5_000, by: 500) {
            let nodes = (start..<start + 500).map { ReportingNode("n\($0)", group: "site-\(start)") }
            try lab.publish(try nodes.flatMap { try $0.messages() })
        }
        let outcome = try lab.run(["--once"])
        let summary = outcome.output.prefix { !$0.isNewline }
        #expect(outcome.code == 0, "\(summary)")
        #expect(summary == "all 5000 reachable")
    }

    @Test(
        arguments: [
            (["http://127.0.0.1"], 64, "does not begin with mqtts:// or mqtt://"),
            (["mqtt://127.0.0.1", "--where", "foo=1"], 64, "there is no field 'foo'"),
            (["mqtt://127.0.0.1", "--where", "state"], 64, "--where"),
            (["mqtt://127.0.0.1", "--group-by", "foo"], 64, "machines can't be counted by it"),
            (["mqtt://127.0.0.1", "--group", "a/b"], 64, "it has a slash"),
            (["mqtt://127.0.0.1", "--prefix", "a+"], 64, "a topic can't have '+'"),
            (["mqtt://127.0.0.1", "--listen", "0.0.0.0:8788"], 64, "only 127.0.0.1 and [::1] are listened on"),
            (["mqtt://127.0.0.1", "--once", "--listen", "127.0.0.1:8788"], 64, "leave out --listen"),
            (["mqtt://127.0.0.1", "--once", "--timeout", "0s"], 64, "--timeout must be longer than 0"),
            (["mqtt://127.0.0.1", "--inventory", "/no/such/file"], 64, "cannot read the inventory '/no/such/file'"),
            (["mqtt://127.0.0.1", "--pin", "x"], 64, "are about TLS"),
            (["mqtt://127.0.0.1", "--once", "--store", "/no/such/fleet.db"], 74, "cannot use the store"),
            (["mqtt://127.0.0.1", "--once", "--store", ""], 64, "--store is empty"), ([], 64, "url"),
        ] as [([String], Int32, String)]
    )
    func `wrong input is an error of one line`(arguments: [String], code: Int32, words: String) throws {
        let outcome = try LabProcess.run(ToolBinary.path, ["fleet"] + arguments)
        #expect(outcome.code == code && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.hasPrefix("netwatch: ") && outcome.errors.contains(words), "\(outcome)")
        #expect(outcome.errors.filter(\.isNewline) == "\n", "\(outcome)")
    }

    @Test func `an inventory with an error, and a store that is none, are bad data`() throws {
        let text = try lab.folder.write("broken", "site-1/a\na/b/c/d\n")
        let inventory = try lab.run(["--once", "--inventory", text])
        #expect(inventory.code == 65 && inventory.errors.contains("line 2"), "\(inventory)")
        let store = try lab.run([
            "--once", "--store", try lab.folder.write("store", String(repeating: "x", count: 8_192)),
        ])
        #expect(store.code == 65 && store.errors.contains("cannot use the store"), "\(store)")
    }
}
