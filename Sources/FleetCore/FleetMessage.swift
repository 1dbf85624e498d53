package import MQTTCore
import NetwatchCore

/// An event of the event service on its way to a broker.
package struct FleetEvent: Hashable, Sendable {
    /// The event's id; nil for the report of a gap.
    package let id: String?
    /// The id of the message, by which a reader recognizes one that arrives twice.
    let messageID: String
    /// The event's object.
    let object: [UInt8]
    private let kind: String
    private let state: String
    private let time: String

    /// Creates an event; nil if the object is none of the event service.
    ///
    /// - Parameters:
    ///   - id: The event's id; a report of a gap has none.
    ///   - object: The event's object.
    package init?(id: String?, object: [UInt8]) {
        guard let members = (try? JSONText(object[...]))?.members, let kind = members["event"]?.string else {
            return nil
        }
        self.id = id
        self.object = object
        self.kind = kind
        state = members["status"]?.string ?? "unknown"
        time = members["time"]?.string ?? ""
        let from = members["gap"]?.members?["from"]?.string ?? "start"
        messageID = id ?? "\(from)+gap@\(time)"
    }

    /// The event in the structured mode of CloudEvents 1.0 (JSON format).
    package func payload(of node: FleetNode) -> [UInt8] {
        let head =
            #"{"specversion":"1.0","id":"\#(messageID.escapedForJSONAndTerminal)","#
            + #""source":"\#(node.base.escapedForJSONAndTerminal)","type":"netwatch.\#(kind.escapedForJSONAndTerminal)","#
            + #""subject":"\#(state.escapedForJSONAndTerminal)","time":"\#(time.escapedForJSONAndTerminal)","#
            + #""datacontenttype":"application/json","data":"#
        return Array(head.utf8) + object + Array("}".utf8)
    }
}

/// The messages that a machine of a fleet publishes.
package enum FleetMessage {
    /// The time for which a broker keeps the state of a machine after its last message, in seconds.
    package static let expiry: UInt32 = 30 * 86_400

    /// Returns the message that the machine is connected, or was stopped.
    package static func link(_ link: FleetLink, of node: FleetNode) -> MQTTPublish {
        retained(node.linkTopic, link.payload(of: node), "application/json")
    }

    /// Returns the message that the broker publishes when the connection is lost.
    ///
    /// - Parameters:
    ///   - link: The link, which becomes one that is lost.
    ///   - node: The machine.
    ///   - delay: How long the broker waits for the machine to return, in seconds.
    /// - Returns: The will.
    package static func will(_ link: FleetLink, of node: FleetNode, delay: UInt32) -> MQTTWill {
        var link = link
        (link.offline, link.time) = (.lost, nil)
        var will = MQTTWill(topic: node.linkTopic, payload: link.payload(of: node), isRetained: true)
        will.properties[number: .willDelayInterval] = delay
        // The rest of it says when the machine was lost.
        will.properties[number: .messageExpiryInterval] = expiry
        will.properties[text: .contentType] = "application/json"
        return will
    }

    /// Returns the message with the newest event.
    package static func state(_ event: FleetEvent, of node: FleetNode) -> MQTTPublish {
        retained(node.stateTopic, event.payload(of: node), Self.cloudEvents)
    }

    /// Returns the message with an event.
    package static func event(_ event: FleetEvent, of node: FleetNode) -> MQTTPublish {
        var message = MQTTPublish(topic: node.eventsTopic, payload: event.payload(of: node), qos: .atLeastOnce)
        message.properties[text: .contentType] = cloudEvents
        return message
    }

    private static let cloudEvents = "application/cloudevents+json"

    static func retained(_ topic: String, _ payload: [UInt8], _ type: String) -> MQTTPublish {
        var message = MQTTPublish(topic: topic, payload: payload, qos: .atLeastOnce, isRetained: true)
        message.properties[number: .messageExpiryInterval] = expiry
        message.properties[text: .contentType] = type
        return message
    }
}
