import NetwatchCore

/// Decodes the messages that ``FleetMessage`` makes. Members that it does not know are ignored.
package struct ReportDecoder: Sendable {
    /// The largest payload that is decoded, in bytes.
    package static let maximumPayload = 65_536

    /// - Parameter prefix: The first levels of the topics, without a slash at the end.
    package init(prefix: String = "netwatch") { self.prefix = prefix }

    private let prefix: String

    /// The filters of the topics with retained messages, to be read at QoS 0, and of that with events, at QoS 1.
    package var filters: (link: String, state: String, events: String) {
        ("\(prefix)/+/+/link", "\(prefix)/+/+/state", "\(prefix)/+/+/events")
    }

    /// Decodes a message.
    ///
    /// - Parameters:
    ///   - topic: The topic that it was received on.
    ///   - payload: The payload; an empty one says that a retained message was removed.
    /// - Throws: ``ReportError`` with the topic and what is wrong.
    package func decode(topic: String, payload: [UInt8]) throws(ReportError) -> NodeReport {
        throw .init(topic: topic, problem: "it cannot be decoded")
    }
}

/// Why a message cannot be decoded.
package struct ReportError: Error, Hashable, CustomStringConvertible {
    /// The topic, as it was received.
    package let topic: String
    /// What is wrong.
    package let problem: String

    /// Both in one line that is safe for a terminal.
    package var description: String { "cannot read the message on '\(topic.escapedForTerminal)': \(problem)" }
}
