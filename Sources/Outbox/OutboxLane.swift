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
    private let identifier = LaneIdentifier()

    package init(name: String, destination: String, options: LaneOptions, storage: BoxStorage) {
        (self.name, self.destination, self.options, self.storage) = (name, destination, options, storage)
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
            try ItemCheck(lane: self, method: method, reference: reference, options: options).run()
            let (stored, draft) = try await store(body, needsDigest: options.key != .random && options.key != .none)
            if self.options.batch != nil, case .bytes = stored.body {
            } else if self.options.batch != nil {
                draft?.discard()
                let reason = "lane '\(name)' sends batches: each item needs a body, of at most 64 KiB"
                throw OutboxError(.invalidRequest, reason: reason)
            }
            var item = StoredItem(
                lane: try await laneID(),
                method: method.rawValue,
                reference: reference,
                fields: options.headers.table,
                contentType: body.contentType,
                key: options.key.text,
                digest: [],
                body: stored.body,
                size: stored.size,
                credential: options.credential,
                userInfo: options.userInfo
            )
            item.notBefore = options.notBefore.map { Int64($0 * 1e9) }
            item.digest = item.digest(of: stored.sha256)
            return try await add(item, draft, options)
        } catch {
            throw OutboxError(error)
        }
    }

    private func laneID() async throws -> Int64 {
        if let known = identifier.value { return known }
        let id = try await storage.declare(name, to: destination, options)
        identifier.value = id
        return id
    }

    private func add(_ item: StoredItem, _ draft: Spool.Draft?, _ options: ItemOptions) async throws -> OutboxItem.ID {
        let addition: BoxStorage.Addition
        do {
            addition = try await storage.add(item, lifetime: options.lifetime, self.options.importance)
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
            let reason = "the key '\(item.key ?? "")' is that of item \(id) of lane '\(name)', which is another request"
            throw OutboxError(.keyInUse, reason: reason)
        case .refused(let limit):
            throw OutboxError(.full, reason: "\(storage.folder): the outbox is full: \(limit.text)")
        }
    }

    // MARK: The body

    private struct StoredBody: Sendable {
        var body: StoredItem.Body
        var size: Int64
        var sha256: String
    }

    private func store(_ body: OutboxBody, needsDigest: Bool) async throws -> (StoredBody, Spool.Draft?) {
        switch body.content {
        case .failure(let reason): throw OutboxError(.bodyUnavailable, reason: reason)
        case .none: return (.init(body: .none, size: 0, sha256: ""), nil)
        case .bytes(let bytes) where bytes.count <= Spool.largestInlineBody:
            return (.init(body: .bytes(bytes), size: Int64(bytes.count), sha256: bytes.sha256), nil)
        case .bytes(let bytes):
            return try await spooled(storage.spool.write { write in try write(bytes) }, needsDigest)
        case .chunks(let chunks):
            return try await spooled(storage.spool.write { write in try await chunks(write) }, needsDigest)
        case .file(let path, .reference):
            let check = try await BlockingWork.run { try FileCheck(ofFileAt: path) }
            return (.init(body: .referenced(path, check), size: check.size, sha256: check.sha256), nil)
        case .file(let path, let handling):
            let spool = storage.spool
            let draft = try await BlockingWork.run { try spool.take(path, moves: handling == .move) }
            return try await spooled(draft, needsDigest)
        }
    }

    private func spooled(_ draft: Spool.Draft, _ needsDigest: Bool) async throws -> (StoredBody, Spool.Draft?) {
        do {
            let (size, sha256) = try await BlockingWork.run {
                let status = try FileSystem.regularFile(at: draft.path)
                return (Int64(status.st_size), needsDigest ? try FileSystem.sha256(ofFileAt: draft.path) : "")
            }
            return (.init(body: .spooled(draft.name), size: size, sha256: sha256), draft)
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
private struct ItemCheck {
    let lane: OutboxLane
    let method: HTTPRequest.Method
    let reference: String
    let options: ItemOptions

    /// The fields whose values are secrets, which are looked up when the item is sent.
    private static let secrets = ["authorization", "proxy-authorization", "cookie"]
    /// The fields that the client sets.
    private static let framing = ["content-length", "transfer-encoding", "host", "connection", "expect"]

    func run() throws(OutboxError) {
        if let problem = Destination.problem(lane.destination, lane.options.confirmation) {
            throw .init(.invalidRequest, reason: "lane '\(lane.name)': \(problem)")
        }
        guard !lane.name.isEmpty else { throw .init(.invalidRequest, reason: "the name of the lane is empty") }
        try checkReference()
        for field in options.headers { try check(field.name.rawName.lowercased()) }
        guard case .custom(let key) = options.key, let problem = ItemKey.problem(key) else { return }
        throw .init(.invalidRequest, reason: "the key '\(key)' \(problem)")
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
            let reason =
                "the field '\(name)' is a secret, which is not stored: name a credential (ItemOptions.credential)"
            throw .init(.secretRefused, reason: reason)
        }
        if Self.framing.contains(name) || name == lane.options.keyField.lowercased() {
            throw .init(.invalidRequest, reason: "the field '\(name)' is set by the outbox")
        }
    }
}

extension HTTPFields {
    /// The fields by name; several of a name are one list (RFC 9110, 5.3).
    fileprivate var table: [String: String] {
        .init(map { ($0.name.rawName, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
    }
}

extension OutboxKey {
    /// The stored text.
    fileprivate var text: String? {
        switch self {
        case .random: OutboxToken.random()
        case .custom(let text): text
        case .none: nil
        }
    }
}

extension Admission.Limit {
    /// The limit, and what to do.
    fileprivate var text: String {
        switch self {
        case .items: "too many items wait; raise maximumItems, or wait until some are delivered"
        case .bytes: "the bodies are too large together; raise maximumBytes, or wait until some are delivered"
        case .freeSpace: "too little space is left on the file system; free some, or lower minimumFreeSpace"
        }
    }
}
