import EventCore
import EventService
import NetwatchCore
import ReachabilityCore
import ValidationCore

/// A message for a webhook: the body of a request to its URL, and the fields of the head.
struct WebhookMessage: Hashable, Sendable {
    /// The key, by which the outbox adds each message once.
    let key: String
    /// The body.
    let body: String
    /// The fields of the head, without the media type.
    let fields: [String]

    /// Creates the message about an event; nil if the webhook does not want it.
    ///
    /// - Parameters:
    ///   - webhook: The webhook.
    ///   - id: The event's id.
    ///   - line: The event's object.
    ///   - source: The machine, as CloudEvents name it.
    init?(for webhook: Webhook, about id: EventID, _ line: [UInt8], from source: String) {
        guard let members = (try? JSONText(line[...]))?.members, let change = ReachabilityChange(members: members),
            let kind = members["event"]?.string, webhook.wants(change, kind)
        else { return nil }
        let time = members["time"]?.string ?? ""
        let body =
            webhook.template.map { Self.text($0, change, members, webhook.contentType) }
            ?? Self.cloudEvent(id, change, kind, time, source, String(decoding: line, as: UTF8.self))
        self.body = body
        key = "netwatch-\(webhook.name)-\(id)"
        // The event's own time: the outbox refuses a message with the same key and other fields.
        let timestamp = Timestamp(rfc3339: time)?.seconds ?? 0
        let plain = ["webhook-id: \(id)", "webhook-timestamp: \(timestamp)"]
        let signature = webhook.secret.map { secret in
            WebhookSignature.value(of: Array(body.utf8), id: id.description, timestamp: timestamp, secret: secret)
        }
        fields = signature.map { plain + ["webhook-signature: \($0)"] } ?? plain
    }

    /// Returns the text of a template; in JSON, values are escaped as it demands.
    private static func text(
        _ template: LineTemplate,
        _ change: ReachabilityChange,
        _ members: [String: JSONText],
        _ type: String
    ) -> String {
        // The names of media types are the same in upper case (RFC 9110, 8.3.1).
        let isJSON = type.lowercased().contains("json")
        let verdict = members["validation"].flatMap { try? ValidationSummary($0) }?.verdict
        return template.pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .field(let field):
                Self.value(of: field, change, members, verdict).map {
                    isJSON ? $0.escapedForJSONAndTerminal : $0.escapedForTerminal
                } ?? LineTemplate.missing
            }
        }.joined()
    }

    /// Returns the value of a field; nil if the event has none.
    private static func value(
        of field: TemplateField,
        _ change: ReachabilityChange,
        _ members: [String: JSONText],
        _ verdict: ValidationVerdict?
    ) -> String? {
        switch field {
        case .time, .utc: members["time"]?.string ?? ""
        case .event: members["event"]?.string
        case .validation: verdict?.name
        case .login: verdict?.portal?.loginURL
        default: field.value(in: change)
        }
    }

    /// Returns an event in the structured mode of CloudEvents 1.0 (JSON format).
    private static func cloudEvent(
        _ id: EventID,
        _ change: ReachabilityChange,
        _ kind: String,
        _ time: String,
        _ source: String,
        _ line: String
    ) -> String {
        let object = line.split(separator: "\n").first ?? "{}"
        return #"{"specversion":"1.0","id":"\#(id)","source":"\#(source.escapedForJSONAndTerminal)","#
            + #""type":"netwatch.\#(kind)","subject":"\#(change.status.name)","time":"\#(time)","#
            + #""datacontenttype":"application/json","data":\#(object)}"#
    }
}

extension Webhook {
    /// Returns whether an event is to be sent, of a kind as JSON names it.
    fileprivate func wants(_ change: ReachabilityChange, _ kind: String) -> Bool {
        guard states.contains(change.status) else { return false }
        switch events {
        case .state: return change.status != change.previous
        case .validation: return change.status != change.previous || kind == "validation"
        case .all: return true
        }
    }
}
