import NetwatchCore

/// A machine of a fleet, as its topics name it.
package struct FleetNode: Hashable, Sendable {
    /// The first levels of the topics.
    package var prefix: String
    package var group: String
    package var name: String
    /// Further properties of the machine, by name.
    package var labels: [String: String]

    package init(prefix: String = "netwatch", group: String = "default", name: String, labels: [String: String] = [:]) {
        self.prefix = prefix
        self.group = group
        self.name = name
        self.labels = labels
    }

    /// The start of the machine's topics, which is also the source of its events.
    package var base: String { "\(prefix)/\(group)/\(name)" }
    /// The topic that says whether the machine is connected.
    package var linkTopic: String { base + "/link" }
    /// The topic with the newest event.
    package var stateTopic: String { base + "/state" }
    /// The topic of all events, in order.
    package var eventsTopic: String { base + "/events" }
}

/// The message on a machine's topic `link`: retained, and also the will.
package struct FleetLink: Hashable, Sendable {
    /// Why a machine is not connected.
    package enum Reason: String, Hashable, Sendable {
        /// The broker lost the connection.
        case lost
        /// The forwarder was stopped.
        case stopped
    }

    /// Whether the machine is connected; if not, the reason.
    package var offline: Reason?
    /// A random number of the forwarder's process: a will of another one is outdated.
    package var session: String
    /// A random identifier of the machine's boot, so that a reader can tell a machine that was off; nil if it is not known.
    package var boot: String?
    /// The seconds after which the broker notices that a machine is gone are one and a half times these.
    package var keepAlive: UInt16
    package var version: String
    /// When the message was written; nil for a will, which is written before its time.
    package var time: String?

    package init(
        offline: Reason? = nil,
        session: String,
        boot: String? = nil,
        keepAlive: UInt16,
        version: String,
        time: String?
    ) {
        self.offline = offline
        self.session = session
        self.boot = boot
        self.keepAlive = keepAlive
        self.version = version
        self.time = time
    }

    /// The JSON object.
    package func payload(of node: FleetNode) -> [UInt8] {
        let labels = node.labels.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)):\(Self.quoted($0.value))" }
        let members = [
            #""v":1"#, #""online":\#(offline == nil)"#,
            #""reason":\#(offline.map { Self.quoted($0.rawValue) } ?? "null")"#,
            #""node":\#(Self.quoted(node.name))"#, #""group":\#(Self.quoted(node.group))"#,
            #""session":\#(Self.quoted(session))"#, #""boot":\#(boot.map(Self.quoted) ?? "null")"#,
            #""time":\#(time.map(Self.quoted) ?? "null")"#,
            #""keepAlive":\#(keepAlive)"#, #""version":\#(Self.quoted(version))"#,
            #""labels":{\#(labels.joined(separator: ","))}"#,
        ]
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    private static func quoted(_ text: String) -> String { "\"\(text.escapedForJSONAndTerminal)\"" }
}
