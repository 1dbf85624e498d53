import Locking
import NIOHTTP1
import Synchronization

/// The default header fields of a session, which can change while the session is used.
///
/// Reading them takes no lock until the first change.
final class SessionHeaders: Sendable {
    /// The fields at one time.
    final class Fields: Sendable {
        /// The user's fields: those of the configuration, with the changes since.
        let own: HTTPFields
        /// The user's fields, and default values of others.
        let all: HTTPFields
        /// The encoded fields of requests without fields of their own, with the base URL's host.
        let prepared: PreparedHeaders
        /// Whether the user has set credentials for a proxy, which not all requests are sent with.
        let haveProxyCredentials: Bool

        init(_ own: HTTPFields, decompresses: Bool, authority: String) {
            self.own = own
            all = DefaultFields.fields(own, decompresses: decompresses)
            prepared = .init(all, authority: authority)
            haveProxyCredentials = prepared.headers.contains(name: "Proxy-Authorization")
        }
    }

    private let decompresses: Bool
    private let authority: String
    private let initial: Fields
    private let isChanged = Atomic(false)
    private let changed: Lock<Fields>
    /// Held during a change, so that none is lost.
    private let changes = Lock<Void>(())

    init(_ configuration: HTTPConfiguration, authority: String) {
        decompresses = configuration.decompresses
        self.authority = authority
        let fields = Fields(configuration.headers, decompresses: decompresses, authority: authority)
        initial = fields
        changed = Lock(fields)
    }

    /// The current fields.
    var current: Fields { isChanged.load(ordering: .acquiring) ? changed.withLock { $0 } : initial }

    /// Changes the user's fields.
    func update<Failure>(_ change: (inout HTTPFields) throws(Failure) -> Void) throws(Failure) {
        try changes.withLock { _ throws(Failure) in
            var own = current.own
            try change(&own)
            let fields = Fields(own, decompresses: decompresses, authority: authority)
            changed.withLock { $0 = fields }
            isChanged.store(true, ordering: .releasing)
        }
    }
}

extension HTTPSession {
    /// The header fields of every request: those of ``HTTPConfiguration/headers``, with the changes since.
    public var headers: HTTPFields { preparation.headers.current.own }

    /// Changes the header fields of later requests, for example after a login.
    ///
    /// ```swift
    /// session.updateHeaders { $0[.authorization] = "Bearer \(token)" }
    /// ```
    /// Requests that were made before keep their fields, also when they are retried; each connection of an event stream
    /// has the current ones. Concurrent changes take place one after the other.
    ///
    /// - Parameter change: Changes the fields. It may make requests, which have the previous fields, but must not call
    ///   this method.
    /// - Throws: The error of the closure; the fields are then unchanged.
    public func updateHeaders<Failure>(_ change: (inout HTTPFields) throws(Failure) -> Void) throws(Failure) {
        try preparation.headers.update(change)
    }
}
