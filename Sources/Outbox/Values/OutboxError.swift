import DurableStore

/// The error of an outbox.
public struct OutboxError: Error, Sendable {
    /// The kind of failure; later versions may add some.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The name of the kind.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request is invalid: its lane's URL, its reference, a field, its key.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// The request has a field with a secret, which is not stored on disk.
        public static let secretRefused = Self(rawValue: "secretRefused")
        /// The body can't be read or encoded.
        public static let bodyUnavailable = Self(rawValue: "bodyUnavailable")
        /// The key was already used for a different request.
        public static let keyInUse = Self(rawValue: "keyInUse")
        /// A limit of the outbox is reached, or the disk is full.
        public static let full = Self(rawValue: "full")
        /// There is no such item, lane or outbox.
        public static let notFound = Self(rawValue: "notFound")
        /// The item is being sent, and can't be changed.
        public static let isSending = Self(rawValue: "isSending")
        /// The folder's permissions forbid the access.
        public static let notPermitted = Self(rawValue: "notPermitted")
        /// The database is damaged.
        public static let damaged = Self(rawValue: "damaged")
        /// The outbox was written by a later version.
        public static let newerVersion = Self(rawValue: "newerVersion")
        /// Reading or writing failed.
        public static let storageFailed = Self(rawValue: "storageFailed")
        /// The outbox was shut down.
        public static let closed = Self(rawValue: "closed")
        /// The task was cancelled.
        public static let cancelled = Self(rawValue: "cancelled")
    }

    /// The kind of failure.
    public var code: Code
    /// The problem, its place and its fix, on one line.
    public var reason: String

    /// Creates an error.
    public init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Creates an error from one of the storage.
    package init(_ error: any Error) {
        switch error {
        case let error as Self: self = error
        case let error as StoreError: self.init(.init(error.code), reason: error.description)
        case is CancellationError: self.init(.cancelled, reason: "the task was cancelled")
        default: self.init(.storageFailed, reason: "\(error)")
        }
    }
}

extension OutboxError.Code {
    fileprivate init(_ code: StoreError.Code) {
        switch code {
        case .full: self = .full
        case .notPermitted: self = .notPermitted
        case .damaged: self = .damaged
        case .newerSchema: self = .newerVersion
        case .closed: self = .closed
        case .cannotOpen: self = .notFound
        case .readOnly, .ioFailed, .busy, .refused: self = .storageFailed
        }
    }
}

extension OutboxError: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}
