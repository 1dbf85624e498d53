import DurableStore
import FoundationEssentials
package import OutboxCore
import ReachabilityCore

/// A lane as it is stored.
package struct StoredLane: Sendable, Hashable {
    package var id: Int64
    package var name: String
    package var destination: String
    package var options: LaneOptions
    /// The stored form of the options.
    package var optionsText: String
    package var isPaused: Bool
    package var pause: LanePause?
    /// The reason for the pause; empty without one.
    package var reason: String
    /// The bytes that were sent over expensive paths.
    package var budget: DailyBudget

    static let columns = """
        id, name, destination, options, is_paused, pause_failures, pause_until, retry_after_end, pause_reason, \
        spent, spent_since
        """

    /// Creates a lane that is not paused.
    init(id: Int64, name: String, destination: String, options: LaneOptions) {
        (self.id, self.name, self.destination, self.options) = (id, name, destination, options)
        optionsText = LaneText.text(options)
        (isPaused, pause, reason) = (false, nil, "")
        budget = .init(spent: 0, start: nil)
    }

    init(_ row: borrowing Row) {
        id = row.integer(0)
        name = row.text(1) ?? ""
        destination = row.text(2) ?? ""
        optionsText = row.text(3) ?? ""
        options = LaneText.options(optionsText)
        isPaused = row.integer(4) != 0
        pause = row.optionalInteger(6).map { until in
            .init(
                failures: Int(min(max(row.integer(5), 0), 1 << 30)),
                until: .init(nanoseconds: until),
                retryAfterEnd: row.optionalInteger(7).map { .init(nanoseconds: $0) }
            )
        }
        reason = row.text(8) ?? ""
        budget = .init(spent: max(row.integer(9), 0), start: row.optionalInteger(10).map { .init(nanoseconds: $0) })
    }
}

/// The options of a lane as JSON.
enum LaneText {
    private struct Fields: Codable {
        var width: Int?
        var isStrict: Bool?
        var importance: Int64
        var path: String
        var batch: Batch?
        var priority: Int
        var itemAttempts: Int
        var keyField: String
        var quotesKey: Bool
        var keyLifetime: Int64
        var isRepeatable: Bool
        var confirmation: String
        var hours: [Int]?
        var bytesPerDay: Int64?
    }

    private struct Batch: Codable {
        var items: Int
        var bytes: Int64
        var linger: Int64
    }

    /// Returns the text of options.
    static func text(_ options: LaneOptions) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(fields(options))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Returns the options of a text; the defaults if it is damaged.
    static func options(_ text: String) -> LaneOptions {
        guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(text.utf8)) else { return .init() }
        return .init(
            order: fields.width.map { .unordered(width: $0) } ?? .ordered(isStrict: fields.isStrict ?? false),
            importance: .init(rawValue: fields.importance) ?? .normal,
            path: requirement(fields.path),
            batch: fields.batch.map { .init(items: $0.items, bytes: $0.bytes, linger: .nanoseconds($0.linger)) },
            priority: fields.priority,
            itemAttempts: fields.itemAttempts,
            keyField: fields.keyField,
            quotesKey: fields.quotesKey,
            keyLifetime: .nanoseconds(fields.keyLifetime),
            isRepeatable: fields.isRepeatable,
            confirmation: confirmation(fields.confirmation),
            hours: fields.hours.flatMap { $0.count == 2 ? .init(from: $0[0], to: $0[1]) : nil },
            bytesPerDay: fields.bytesPerDay
        )
    }

    private static func fields(_ options: LaneOptions) -> Fields {
        var fields = Fields(
            importance: options.importance.rawValue,
            path: text(options.path),
            batch: options.batch.map { .init(items: $0.items, bytes: $0.bytes, linger: $0.linger.wholeNanoseconds) },
            priority: options.priority,
            itemAttempts: options.itemAttempts,
            keyField: options.keyField,
            quotesKey: options.quotesKey,
            keyLifetime: options.keyLifetime.wholeNanoseconds,
            isRepeatable: options.isRepeatable,
            confirmation: text(options.confirmation),
            hours: options.hours.map { [$0.start, $0.end] },
            bytesPerDay: options.bytesPerDay
        )
        switch options.order {
        case .unordered(let width): fields.width = width
        case .ordered(let isStrict): fields.isStrict = isStrict
        }
        return fields
    }

    private static func text(_ requirement: PathRequirement) -> String {
        switch requirement {
        case .any: "any"
        case .notCellular: "notCellular"
        case .wifi: "wifi"
        case .notExpensive: "notExpensive"
        case .interface(let name): "interface:" + name
        }
    }

    private static func requirement(_ text: String) -> PathRequirement {
        switch text {
        case "notCellular": .notCellular
        case "wifi": .wifi
        case "notExpensive": .notExpensive
        case _ where text.hasPrefix("interface:"): .interface(String(text.dropFirst(10)))
        default: .any
        }
    }

    private static func text(_ confirmation: ResponseConfirmation) -> String {
        switch confirmation {
        case .tls: "tls"
        case .any: "any"
        case .field(let name): "field:" + name
        }
    }

    private static func confirmation(_ text: String) -> ResponseConfirmation {
        switch text {
        case "any": .any
        case _ where text.hasPrefix("field:"): .field(String(text.dropFirst(6)))
        default: .tls
        }
    }
}
