public import OutboxCore

/// An item of an outbox that has not ended.
public struct OutboxItem: Sendable, Hashable, Identifiable {
    /// The number of an item, which is never used again in its outbox.
    public struct ID: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The number.
        public let rawValue: Int64

        /// Creates an identifier from its number.
        public init(rawValue: Int64) { self.rawValue = rawValue }

        /// The number as text.
        public var description: String { "\(rawValue)" }

        /// Orders identifiers as the items were added.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The identifier.
    public let id: ID
    /// The name of its lane.
    public let lane: String
    /// The state.
    public let state: ItemState
    /// The method.
    public let method: String
    /// The reference, relative to the lane's destination.
    public let reference: String
    /// The key; nil without one.
    public let key: String?
    /// The size of its body in bytes.
    public let size: Int64
    /// The values that the program gave it.
    public let userInfo: [String: String]
    /// The time at which it was added, in seconds since 1970, by a clock that may have been wrong.
    public let added: Double
    /// The time before which it is not sent, in seconds since 1970; nil for none.
    public let notBefore: Double?
    /// The number of attempts that failures of the item itself have cost.
    public let attempts: Int
    /// The reason why the last attempt failed; nil if there was none.
    public let failure: String?
}

/// The outcome of an item, which is kept until it is acknowledged.
public struct OutboxOutcome: Sendable, Identifiable {
    /// The response of the server.
    public struct Response: Sendable, Hashable {
        /// The status code.
        public let status: Int
        /// The header fields.
        public let fields: [String: String]
        /// The beginning of the body, up to 64 KiB.
        public let body: [UInt8]
    }

    /// The identifier of the item.
    public let id: OutboxItem.ID
    /// The name of its lane.
    public let lane: String
    /// The end of the item.
    public let end: ItemEnd
    /// The method.
    public let method: String
    /// The reference, relative to the lane's destination.
    public let reference: String
    /// The key; nil without one.
    public let key: String?
    /// The values that the program gave it.
    public let userInfo: [String: String]
    /// The response of the server; nil if there was none.
    public let response: Response?
    /// The reason for this end; empty if it was delivered.
    public let reason: String
    /// The time at which it ended, in seconds since 1970, by a clock that may have been wrong.
    public let ended: Double

    package let sequence: Int64
    let forget: @Sendable () async throws -> Void

    /// Removes the outcome, so that it is not returned once more.
    ///
    /// Call it when what follows from the outcome is done, and stored.
    ///
    /// - Throws: ``OutboxError`` if the outbox can't be written.
    public func acknowledge() async throws(OutboxError) {
        do { try await forget() } catch { throw OutboxError(error) }
    }
}

/// The contents of an outbox, in numbers.
public struct OutboxStatistics: Sendable, Hashable {
    /// The number of items that have not ended.
    public let items: Int
    /// The size of their bodies in bytes.
    public let bytes: Int64
    /// The number of outcomes that are not acknowledged.
    public let outcomes: Int
    /// The number of items that ended in each way since the outbox was created.
    public let ended: [ItemEnd: Int]
}
