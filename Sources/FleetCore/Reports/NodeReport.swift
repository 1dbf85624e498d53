package import EventCore
package import NetwatchCore
package import ReachabilityCore
package import ValidationCore

/// The name of a machine in a fleet.
package struct NodeKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var group: String
    package var name: String

    package init(group: String, name: String) {
        self.group = group
        self.name = name
    }

    /// `group/name`.
    package var description: String { "\(group)/\(name)" }

    /// Orders by group, then name.
    package static func < (left: Self, right: Self) -> Bool {
        left.group == right.group ? left.name < right.name : left.group < right.group
    }
}

/// A message of a machine, decoded.
package struct NodeReport: Hashable, Sendable {
    /// The content of a message, by the topic that it came on.
    package enum Content: Hashable, Sendable {
        /// Topic `link`: whether the machine is connected.
        case link(LinkReport)
        /// Topic `state`: the newest event.
        case state(EventReport)
        /// Topic `events`: the next event.
        case event(EventReport)
        /// Topic `events`: the machine itself lacks events.
        case gap(GapReport)
        /// Topic `link` or `state`: the retained message was removed.
        case removed
    }

    package var key: NodeKey
    package var content: Content

    package init(key: NodeKey, content: Content) {
        self.key = key
        self.content = content
    }
}

/// A message on the topic `link`.
package struct LinkReport: Hashable, Sendable {
    /// Why the machine is not connected; nil if it is connected.
    package var offline: FleetLink.Reason?
    /// The connection's forwarder; a will of another one is outdated.
    package var session: String
    /// The machine's boot, by a random identifier; nil if the forwarder does not send it.
    package var boot: String?
    /// When the message was written, by the machine's clock; nil for a will.
    package var time: Timestamp?
    package var keepAlive: UInt16
    package var version: String
    package var labels: [String: String]

    package init(
        offline: FleetLink.Reason? = nil,
        session: String,
        boot: String? = nil,
        time: Timestamp? = nil,
        keepAlive: UInt16 = 60,
        version: String = "",
        labels: [String: String] = [:]
    ) {
        self.offline = offline
        self.session = session
        self.boot = boot
        self.time = time
        self.keepAlive = keepAlive
        self.version = version
        self.labels = labels
    }
}

/// An event of a machine's event service.
package struct EventReport: Hashable, Sendable {
    /// The run of the event service, and the event's number in it.
    package var id: EventID
    /// When it happened, by the machine's clock.
    package var time: Timestamp
    package var status: ReachabilityStatus
    /// The reasons, by their names.
    package var reasons: [String]
    /// The default path; nil if there is none.
    package var path: NodePath?
    /// The suspension that ended just before it; nil if there was none.
    package var suspension: Duration?
    /// Whether the path leads to the internet; nil if the machine does not validate paths, or knows nothing of this one.
    package var validation: NodeValidation?

    package init(
        id: EventID,
        time: Timestamp,
        status: ReachabilityStatus,
        reasons: [String] = [],
        path: NodePath? = nil,
        suspension: Duration? = nil,
        validation: NodeValidation? = nil
    ) {
        self.id = id
        self.time = time
        self.status = status
        self.reasons = reasons
        self.path = path
        self.suspension = suspension
        self.validation = validation
    }
}

/// The verdict on a machine's path, as far as a table shows it.
package struct NodeValidation: Hashable, Sendable {
    package var verdict: ValidationVerdict
    /// When the answers were received on which the verdict rests, by the machine's clock; nil without evidence.
    package var checkedAt: Timestamp?

    package init(verdict: ValidationVerdict, checkedAt: Timestamp? = nil) {
        self.verdict = verdict
        self.checkedAt = checkedAt
    }
}

/// The default path of a machine, as far as a table shows it.
package struct NodePath: Hashable, Sendable {
    package var interface: String
    /// The kind of the interface, by its name.
    package var kind: String
    package var gateway: String?

    package init(interface: String, kind: String, gateway: String? = nil) {
        self.interface = interface
        self.kind = kind
        self.gateway = gateway
    }
}

/// A report that a machine lacks events itself.
package struct GapReport: Hashable, Sendable {
    /// The message's id.
    package var id: String
    /// The last event before the gap; nil if it is not known.
    package var from: EventID?
    /// The number of events that are missing; nil if it is not known.
    package var missed: UInt64?
    /// The reason, by its name.
    package var reason: String

    package init(id: String, from: EventID?, missed: UInt64?, reason: String) {
        self.id = id
        self.from = from
        self.missed = missed
        self.reason = reason
    }
}
