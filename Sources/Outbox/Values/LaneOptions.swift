public import NetworkClient
public import OutboxCore

/// The properties of a lane.
public struct LaneOptions: Sendable, Hashable {
    /// The order of its items, and how many are sent at the same time; 8 in any order by default, 64 at most.
    public var order: LaneOrder
    /// The handling of a full outbox; `normal` by default.
    public var importance: LaneClass
    /// The requirement on the path; `any` by default.
    public var path: PathRequirement
    /// The rule by which items are sent together; nil, the default, for each alone.
    public var batch: OutboxBatch?
    /// The priority among the lanes: those with a higher number are asked first; 0 by default.
    public var priority: Int
    /// The number of attempts that failures of the item itself may cost; 1 by default.
    public var itemAttempts: Int
    /// The name of the field for the key; `Idempotency-Key` by default.
    public var keyField: String
    /// Whether the key is in quotes, as the field's draft demands; true by default.
    public var quotesKey: Bool
    /// The time after the first attempt for which the server recognizes a key; 24 hours by default.
    public var keyLifetime: Duration
    /// Whether an item is resent although the server may have processed it and can't recognize it; false by default.
    public var isRepeatable: Bool
    /// The proof that a response is the destination's own; by default TLS.
    public var confirmation: ResponseConfirmation
    /// The hours of the day in which items are sent, in local time; nil, the default, for all.
    ///
    /// They are known only while the clock is synchronized: until then nothing is sent. What is being sent at their end
    /// is finished.
    public var hours: AllowedHours?
    /// The maximum number of bytes of bodies and downloaded files per day over expensive paths
    /// (`NetworkPath.isExpensive`); nil, the default, for no limit.
    ///
    /// Each attempt counts with the size of its body, also if it fails. While the machine's path is not expensive, the lane
    /// uses no expensive one, so that nothing is sent over it uncounted when the path changes. Items that exceed the limit wait
    /// for another path, or for the next day, which begins 24 hours after the first byte of this one. With a ``path`` that
    /// demands an interface or Wi-Fi, all is counted unless the machine's path is there and not expensive.
    public var bytesPerDay: Int64?

    /// Creates options; the properties describe the parameters.
    public init(
        order: LaneOrder = .unordered(width: 8),
        importance: LaneClass = .normal,
        path: PathRequirement = .any,
        batch: OutboxBatch? = nil,
        priority: Int = 0,
        itemAttempts: Int = 1,
        keyField: String = "Idempotency-Key",
        quotesKey: Bool = true,
        keyLifetime: Duration = .seconds(86_400),
        isRepeatable: Bool = false,
        confirmation: ResponseConfirmation = .tls,
        hours: AllowedHours? = nil,
        bytesPerDay: Int64? = nil
    ) {
        self.order = order
        self.importance = importance
        self.path = path
        self.batch = batch
        self.priority = priority
        self.itemAttempts = itemAttempts
        self.keyField = keyField
        self.quotesKey = quotesKey
        self.keyLifetime = keyLifetime
        self.isRepeatable = isRepeatable
        self.confirmation = confirmation
        self.hours = hours
        self.bytesPerDay = bytesPerDay
    }
}

/// The proof that a response is the destination's own, rather than that of a captive portal, which responds to everything.
public enum ResponseConfirmation: Sendable, Hashable {
    /// The connection is encrypted, or does not leave this machine.
    case tls
    /// The response has a header field with this name; for a destination without TLS.
    case field(String)
    /// Any response is; for networks without captive portals.
    case any
}

/// The rule by which the items of a lane are sent together.
public struct OutboxBatch: Sendable, Hashable {
    /// The maximum number of items, from 1 to 1,000,000.
    public var items: Int
    /// The maximum size of the body in bytes, up to 1 GiB.
    public var bytes: Int64
    /// The time for which the first item waits for others.
    public var linger: Duration

    /// Lines of JSON (`application/x-ndjson`), one for each item, in the order in which they were added.
    ///
    /// - Parameters:
    ///   - items: The maximum number of items, from 1 to 1,000,000.
    ///   - bytes: The maximum size of the body in bytes, up to 1 GiB.
    ///   - linger: How long the first item waits for others.
    /// - Returns: The rule.
    public static func ndjson(items: Int, bytes: Int64 = 1 << 20, linger: Duration) -> Self {
        .init(items: items, bytes: bytes, linger: linger)
    }

    /// The rules for the decisions.
    var rules: BatchRules { .init(items: items, bytes: bytes, linger: linger) }

    /// The reason why the rule can't be used; nil if it can.
    var problem: String? {
        let (items, bytes) = (BatchRules.itemRange, BatchRules.byteRange)
        if !items.contains(self.items) {
            return "a batch has \(items.lowerBound) to \(items.upperBound) items, not \(self.items)"
        }
        if !bytes.contains(self.bytes) {
            return "a batch has \(bytes.lowerBound) to \(bytes.upperBound) bytes, not \(self.bytes)"
        }
        return linger < .zero ? "a batch can't wait for \(linger): the time may not be negative" : nil
    }
}

/// The key of an item, by which the server recognizes further attempts.
public enum OutboxKey: Sendable, Hashable {
    /// A random key of 128 bits.
    case random
    /// A given key: adding the same request with the same key again returns the same item, until its outcome is acknowledged.
    case custom(String)
    /// None: if an attempt of a POST or PATCH may have been processed, the item ends as uncertain.
    case none
}

/// The properties of an item.
public struct ItemOptions: Sendable {
    /// The key; random by default.
    public var key: OutboxKey
    /// Header fields; secrets are refused: see ``credential``.
    public var headers: HTTPFields
    /// The name of the credential that is looked up when the item is sent; none by default.
    public var credential: String?
    /// Values of the program, which the outcome returns.
    public var userInfo: [String: String]
    /// The time after which the item expires; 7 days by default, nil for never.
    ///
    /// It counts while the machine runs or is suspended, and while it is off if the clock was synchronized before and
    /// is again.
    public var lifetime: Duration?
    /// The time before which the item is not sent, in seconds since 1970; it waits for a synchronized clock.
    ///
    /// A lifetime that ends before is an error, if the clock is synchronized when the item is added; so is a time after
    /// July 2261.
    public var notBefore: Double?

    /// Creates options; the properties describe the parameters.
    public init(
        key: OutboxKey = .random,
        headers: HTTPFields = [:],
        credential: String? = nil,
        userInfo: [String: String] = [:],
        lifetime: Duration? = .seconds(7 * 86_400),
        notBefore: Double? = nil
    ) {
        self.key = key
        self.headers = headers
        self.credential = credential
        self.userInfo = userInfo
        self.lifetime = lifetime
        self.notBefore = notBefore
    }
}

/// A credential for sending items, supplied by the program when it is needed.
public enum OutboxCredential: Sendable, Hashable {
    /// A user name and a password, sent when the server requires them.
    case user(Credential)
    /// A token, sent in the `Authorization` field with the scheme Bearer (RFC 6750).
    case bearer(String)
}

/// Returns the credential with a name.
typealias CredentialLookup = @Sendable (_ name: String) async throws -> OutboxCredential

extension OutboxCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text that reveals nothing.
    public var description: String { "OutboxCredential(hidden)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension LaneOptions {
    /// The rules for the decisions.
    var rules: LaneRules {
        var rules = LaneRules()
        rules.order = if case .unordered(let width) = order { .unordered(width: min(width, 64)) } else { order }
        rules.itemAttempts = itemAttempts
        rules.keyLifetime = keyLifetime
        rules.isRepeatable = isRepeatable
        return rules
    }
}
