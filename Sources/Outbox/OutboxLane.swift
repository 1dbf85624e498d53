import DurableStore
import Glibc
import Locking
public import NetworkClient
import OutboxCore

/// A lane of an outbox: a destination, and the rules by which items are sent to it.
public struct OutboxLane: Sendable {
    /// The name.
    public let name: String
    /// The URL to which the references of items are appended.
    public let destination: String
    /// The rules.
    public let options: LaneOptions
    private let storage: BoxStorage
    private let choice: OptionsChoice?
    private let identifier = LaneIdentifier()

    /// Returns the rules of a lane, by the lane that is stored, if there is one; throws if that one can't be used.
    package typealias OptionsChoice = @Sendable (_ stored: StoredLane?) throws -> LaneOptions

    /// Creates a lane.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - destination: The URL to which the references of items are appended.
    ///   - options: The rules.
    ///   - storage: The outbox.
    ///   - choice: Chooses the rules again in each transaction that stores an item: another process may have changed the
    ///     lane since ``options`` were chosen. Nil for a lane that is stored with its first item, with ``options``.
    package init(
        name: String,
        destination: String,
        options: LaneOptions,
        storage: BoxStorage,
        choosing choice: OptionsChoice? = nil
    ) {
        (self.name, self.destination, self.options, self.storage) = (name, destination, options, storage)
        self.choice = choice
    }

    /// Adds a POST request; it is on disk when the method returns.
    ///
    /// ``request(_:_:_:_:)`` describes the parameters and errors.
    @discardableResult
    public func post(
        _ reference: String,
        _ body: OutboxBody = .none,
        options: ItemOptions = .init()
    ) async throws(OutboxError) -> OutboxItem.ID {
        try await request(.post, reference, body, options)
    }

    /// Adds a PUT request; it is on disk when the method returns.
    ///
    /// ``request(_:_:_:_:)`` describes the parameters and errors.
    @discardableResult
    public func put(
        _ reference: String,
        _ body: OutboxBody = .none,
        options: ItemOptions = .init()
    ) async throws(OutboxError) -> OutboxItem.ID {
        try await request(.put, reference, body, options)
    }

    /// Adds a PATCH request; it is on disk when the method returns.
    ///
    /// ``request(_:_:_:_:)`` describes the parameters and errors.
    @discardableResult
    public func patch(
        _ reference: String,
        _ body: OutboxBody = .none,
        options: ItemOptions = .init()
    ) async throws(OutboxError) -> OutboxItem.ID {
        try await request(.patch, reference, body, options)
    }

    /// Adds a DELETE request; it is on disk when the method returns.
    ///
    /// ``request(_:_:_:_:)`` describes the parameters and errors.
    @discardableResult
    public func delete(
        _ reference: String,
        options: ItemOptions = .init()
    ) async throws(OutboxError) -> OutboxItem.ID {
        try await request(.delete, reference, .none, options)
    }

    /// Adds a request with any method; it is on disk when the method returns: its row, its file and the folder are
    /// synchronized.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - reference: The path and query, which are appended to the lane's destination; without a slash at the beginning.
    ///   - body: The body, which is stored now.
    ///   - options: The key, the fields, the credential's name, the lifetime.
    /// - Returns: The identifier. The same request with the same key returns that of the item which is there already.
    /// - Throws: ``OutboxError``: `invalidRequest`, `secretRefused`, `bodyUnavailable`, `keyInUse`, `full` or an error of
    ///   the storage. Nothing is stored then.
    @discardableResult
    public func request(
        _ method: HTTPRequest.Method,
        _ reference: String,
        _ body: OutboxBody,
        _ options: ItemOptions
    ) async throws(OutboxError) -> OutboxItem.ID {
        do {
            try check(method, reference, options)
            let stored = try await store(body)
            do { try check(stored, self.options) } catch {
                stored.draft?.discard()
                throw error
            }
            let key = options.key.text
            return try await add(stored, method, reference, contentType: body.contentType, key: key, options)
        } catch {
            throw OutboxError(error)
        }
    }

    /// Adds a download: a GET request whose response's body becomes a file; it is on disk when the method returns.
    ///
    /// The file appears at its path as a whole, synchronized, and with the right digest; a file that is there is replaced
    /// then. Until then the received bytes are in files with random names, `.netwatch-…`, in the same folder. An
    /// interrupted download continues where it ended, also after the process was killed or the power failed, if the
    /// server confirms that its file is unchanged (`docs/downloads.md`). The outcome follows when the file is there.
    ///
    /// - Parameters:
    ///   - reference: The path and query, which are appended to the lane's destination; without a slash at the beginning.
    ///   - path: The absolute path of the file; its folder must exist. A symbolic link is followed now.
    ///   - sha256: The SHA-256 that the file must have, in 64 hexadecimal digits; nil for any. A file with another one is
    ///     removed, and costs the item one of its attempts.
    ///   - options: The fields, the credential's name, the lifetime; a key is not sent, and identifies the item only.
    /// - Returns: The identifier. The same download with the same key returns that of the item which is there already.
    /// - Throws: ``OutboxError``: `invalidRequest`, `secretRefused`, `keyInUse`, `full` or an error of the storage.
    ///   Nothing is stored then.
    @discardableResult
    public func download(
        _ reference: String,
        to path: String,
        sha256: String? = nil,
        options: ItemOptions = .init()
    ) async throws(OutboxError) -> OutboxItem.ID {
        do {
            try check(.get, reference, options)
            guard self.options.batch == nil else {
                throw OutboxError(.invalidRequest, reason: "lane '\(name)' sends batches: use another for downloads")
            }
            let target = try await BlockingWork.run { try DownloadTarget(checking: path, sha256) }
            let stored = StoredBody(body: .download(target), size: 0)
            let key: String? = if case .custom(let text) = options.key { text } else { nil }
            return try await add(stored, .get, reference, contentType: nil, key: key, options)
        } catch {
            throw OutboxError(error)
        }
    }

    /// Stores the destination and the rules now, rather than with the next item; those that wait follow them.
    ///
    /// Another destination ends a pause after failures.
    ///
    /// - Throws: ``OutboxError``: `invalidRequest`, or an error of the storage.
    public func update() async throws(OutboxError) {
        do {
            try check(.get, "", .init())
            identifier.value = try await storage.declare(name, to: destination, options)
        } catch {
            throw OutboxError(error)
        }
    }

    private func add(
        _ stored: StoredBody,
        _ method: HTTPRequest.Method,
        _ reference: String,
        contentType: String?,
        key: String?,
        _ options: ItemOptions
    ) async throws -> OutboxItem.ID {
        var item = StoredItem(
            // Known in the transaction that stores it.
            lane: 0,
            method: method.rawValue,
            reference: reference,
            fields: options.headers.table,
            contentType: contentType,
            key: key,
            digest: [],
            body: stored.body,
            size: stored.size,
            credential: options.credential,
            userInfo: options.userInfo
        )
        item.hasNewKey = options.key == .random
        item.lifetime = options.lifetime
        item.notBefore = options.notBefore.map { Int64($0 * 1e9) }
        guard item.notBefore == nil || item.maySend(after: storage.clock.read()) else {
            stored.draft?.discard()
            let reason =
                "the lifetime of the item ends before the time at which it may be sent: make it longer, or never"
            throw OutboxError(.invalidRequest, reason: reason)
        }
        item.digest = item.completeDigest()
        let rulesCheck: RulesCheck = { [self] rules in
            try ItemCheck(name, destination, rules, method: method, reference: reference, options).run()
            try check(stored, rules)
        }
        return try await add(item, stored.draft, rulesCheck)
    }

    /// Throws if an item can't be sent by the rules of a lane.
    private typealias RulesCheck = @Sendable (LaneOptions) throws -> Void

    /// Throws if a body can't be part of a batch, in a lane that sends batches.
    private func check(_ stored: StoredBody, _ rules: LaneOptions) throws(OutboxError) {
        guard rules.batch != nil, !stored.isInDatabase else { return }
        let reason = "lane '\(name)' sends batches: each item needs a body, of at most 64 KiB"
        throw OutboxError(.invalidRequest, reason: reason)
    }

    /// Checks a request; the lane only until it is stored.
    private func check(_ method: HTTPRequest.Method, _ reference: String, _ options: ItemOptions) throws(OutboxError) {
        let check = ItemCheck(name, destination, self.options, method: method, reference: reference, options)
        if identifier.value == nil { try check.checkLane() }
        try check.checkRequest()
    }

    private func add(
        _ item: StoredItem,
        _ draft: Spool.Draft?,
        _ check: @escaping RulesCheck
    ) async throws -> OutboxItem.ID {
        let addition: BoxStorage.Addition
        do {
            let known = identifier.value
            let added = try await storage.add(item) { [self] in try declare(known, check, $0) }
            identifier.value = added.lane
            addition = added.addition
        } catch {
            draft?.discard()
            throw error
        }
        if case .added(let id) = addition {
            draft?.commit()
            return .init(rawValue: id)
        }
        draft?.discard()
        switch addition {
        case .added(let id), .existing(let id): return .init(rawValue: id)
        case .keyInUse(let id):
            let reason = """
                the key '\(item.key ?? "")' was already used in lane '\(name)', for item \(id), whose request is different: \
                use another key
                """
            throw OutboxError(.keyInUse, reason: reason)
        case .refused(let limit):
            throw OutboxError(.full, reason: "\(storage.folder): the outbox is full: \(limit.text)")
        }
    }

    /// Returns the identifier of the lane, in the transaction that stores an item.
    ///
    /// The lane is stored with its first item, and again if a repair could not keep it.
    private func declare(_ known: Int64?, _ check: RulesCheck, _ database: Database) throws -> Int64 {
        var rules = options
        if let choice {
            rules = try choice(BoxStorage.lane(named: name, database))
            try check(rules)
        } else if let known, try BoxContext.of(database).lane(known, database)?.name == name {
            return known
        }
        return try BoxStorage.declare(name, to: destination, rules, database)
    }

    // MARK: The body

    private struct StoredBody: Sendable {
        var body: StoredItem.Body
        var size: Int64
        var draft: Spool.Draft?

        /// Whether the bytes are in the database.
        var isInDatabase: Bool { if case .bytes = body { true } else { false } }
    }

    private func store(_ body: OutboxBody) async throws -> StoredBody {
        let spool = storage.spool
        switch body.content {
        case .failure(let reason): throw OutboxError(.bodyUnavailable, reason: reason)
        case .none: return .init(body: .none, size: 0)
        case .bytes(let bytes) where bytes.count <= Spool.largestInlineBody:
            return .init(body: .bytes(bytes), size: Int64(bytes.count))
        case .bytes(let bytes): return try await spooled(spool.write { write in try write(bytes) })
        case .chunks(let chunks): return try await spooled(spool.write { write in try await chunks(write) })
        case .file(let path, .reference):
            let check = try await BlockingWork.run { try FileCheck(ofFileAt: path) }
            return .init(body: .referenced(path, check), size: check.size)
        case .file(let path, let handling):
            return try await spooled(BlockingWork.run { try spool.take(path, moves: handling == .move) })
        }
    }

    private func spooled(_ draft: Spool.Draft) async throws -> StoredBody {
        do {
            let check = try await BlockingWork.run { try FileCheck(ofFileAt: draft.path) }
            return .init(body: .spooled(draft.name, check), size: check.size, draft: draft)
        } catch {
            draft.discard()
            throw error
        }
    }
}

/// The identifier of a lane, once it is stored with its present properties.
private final class LaneIdentifier: Sendable {
    private let slot = Lock<Int64?>(nil)

    var value: Int64? {
        get { slot.withLock { $0 } }
        set { slot.withLock { $0 = newValue } }
    }
}

/// The checks of a request before it is stored.
struct ItemCheck {
    private let lane: (name: String, destination: String, options: LaneOptions)
    private let method: HTTPRequest.Method
    private let reference: String
    private let options: ItemOptions

    init(
        _ lane: String,
        _ destination: String,
        _ rules: LaneOptions,
        method: HTTPRequest.Method,
        reference: String,
        _ options: ItemOptions
    ) {
        self.lane = (lane, destination, rules)
        (self.method, self.reference, self.options) = (method, reference, options)
    }

    /// The fields whose values are secrets, which are looked up when the item is sent.
    private static let secrets = ["authorization", "proxy-authorization", "cookie"]
    /// The fields that the client sets.
    private static let framing = ["content-length", "transfer-encoding", "host", "connection", "expect"]

    func run() throws(OutboxError) {
        try checkLane()
        try checkRequest()
    }

    /// Throws if the lane's properties can't be used.
    func checkLane() throws(OutboxError) {
        if let problem = Destination.problem(lane.destination, lane.options.confirmation) {
            throw .init(.invalidRequest, reason: "lane '\(lane.name)': \(problem)")
        }
        if let problem = lane.options.hours?.problem {
            throw .init(.invalidRequest, reason: "lane '\(lane.name)': the hours \(problem)")
        }
        if let limit = lane.options.bytesPerDay, limit < 0 {
            throw .init(
                .invalidRequest,
                reason: "lane '\(lane.name)': bytesPerDay is \(limit), and may not be negative"
            )
        }
        if let problem = fieldProblem {
            throw .init(.invalidRequest, reason: "lane '\(lane.name)': \(problem)")
        }
        if let problem = lane.options.batch?.problem {
            throw .init(.invalidRequest, reason: "lane '\(lane.name)': \(problem)")
        }
        guard !lane.name.isEmpty else { throw .init(.invalidRequest, reason: "the name of the lane is empty") }
    }

    /// Why the name of one of the lane's fields can't be used; nil if they can.
    private var fieldProblem: String? {
        let key = lane.options.keyField
        if HTTPField.Name(key) == nil { return "keyField is '\(key)', which is no name of a field" }
        if Self.framing.contains(key.lowercased()) { return "keyField is '\(key)', which the client sets itself" }
        if Self.secrets.contains(key.lowercased()) { return "keyField is '\(key)', which is kept for secrets" }
        guard case .field(let name) = lane.options.confirmation, HTTPField.Name(name) == nil else { return nil }
        return "confirmation is '\(name)', which is no name of a field"
    }

    /// Throws if the request can't be stored.
    func checkRequest() throws(OutboxError) {
        try checkReference()
        for field in options.headers { try check(field.name.rawName.lowercased()) }
        try checkNotBefore()
        guard case .custom(let key) = options.key, let problem = ItemKey.problem(key) else { return }
        throw .init(.invalidRequest, reason: "the key '\(key)' \(problem)")
    }

    /// Throws if the time can't be stored in nanoseconds, with 64 bits.
    private func checkNotBefore() throws(OutboxError) {
        // A comparison with NaN is false.
        guard let seconds = options.notBefore, !(seconds.magnitude < 9.2e9) else { return }
        let reason = """
            the moment before which the item is not sent, \(seconds) seconds since 1970, is out of range: name one \
            before the year 2261
            """
        throw .init(.invalidRequest, reason: reason)
    }

    private func checkReference() throws(OutboxError) {
        let isPlain = reference.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        guard isPlain, !reference.hasPrefix("/"), !reference.hasPrefix("http:"), !reference.hasPrefix("https:") else {
            let reason = """
                the reference '\(reference)' can't be appended to '\(lane.destination)': it has no slash at its beginning, \
                no host, and its characters are ASCII (others are percent-encoded)
                """
            throw .init(.invalidRequest, reason: reason)
        }
    }

    private func check(_ name: String) throws(OutboxError) {
        if Self.secrets.contains(name) {
            let reason = """
                the field '\(name)' is a secret, which is not stored: leave it out; a program can name a credential instead, \
                which it looks up for each attempt (ItemOptions.credential)
                """
            throw .init(.secretRefused, reason: reason)
        }
        if Self.framing.contains(name) || name == lane.options.keyField.lowercased() {
            throw .init(.invalidRequest, reason: "the field '\(name)' is set by the outbox")
        }
    }
}

extension HTTPFields {
    /// The fields by name; several of a name are one list (RFC 9110, 5.3).
    var table: [String: String] {
        .init(map { ($0.name.rawName, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
    }
}

extension OutboxKey {
    /// The stored text.
    fileprivate var text: String? {
        switch self {
        case .random: OutboxToken.key()
        case .custom(let text): text
        case .none: nil
        }
    }
}

extension Admission.Limit {
    /// The limit, and what to do.
    var text: String {
        switch self {
        case .items: "too many items wait; raise maximumItems, or wait until some are delivered"
        case .bytes: "the bodies are too large together; raise maximumBytes, or wait until some are delivered"
        case .freeSpace: "too little space is left on the file system; free some, or lower minimumFreeSpace"
        }
    }
}
