import Glibc
package import HTTPTypes
import NetworkClient
import OutboxCore

/// A lane of an outbox of another user, to which items are added through its ``IncomingFolder``.
package struct ForeignLane: Sendable {
    private let name: String
    private let destination: String
    private let options: LaneOptions
    private let changes: Set<LaneRule>
    private let folder: IncomingFolder

    /// Creates a lane.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - destination: The URL to which the references of items are appended.
    ///   - options: The rules, if the user has no such lane.
    ///   - changes: Those of the rules that a lane gets that is there.
    ///   - folder: The folder of the outbox.
    package init(
        _ name: String,
        to destination: String,
        _ options: LaneOptions,
        changing changes: Set<LaneRule> = [],
        in folder: IncomingFolder
    ) {
        (self.name, self.destination, self.options, self.folder) = (name, destination, options, folder)
        self.changes = changes
    }

    /// Adds a request with any method; it is on disk when the method returns.
    ///
    /// - Parameters: As those of ``OutboxLane/request(_:_:_:_:)``.
    /// - Returns: The key of the item; its identity if it has none.
    /// - Throws: ``OutboxError``.
    package func request(
        _ method: HTTPRequest.Method,
        _ reference: String,
        _ body: OutboxBody,
        _ item: ItemOptions
    ) throws -> String {
        try ItemCheck(name, destination, options, method: method, reference: reference, item).run()
        let reading = MachineClock.system.read()
        let key: String? =
            switch item.key {
            case .random: OutboxToken.key()
            case .custom(let text): text
            case .none: nil
            }
        let archived = ArchivedItem(
            origin: OutboxToken.random() + OutboxToken.random(),
            lane: name,
            destination: destination,
            rules: LaneText.text(options),
            changedRules: changes.isEmpty ? nil : changes.map(\.rawValue).sorted(),
            method: method.rawValue,
            reference: reference,
            fields: item.headers.table,
            contentType: body.contentType,
            key: key,
            credential: item.credential,
            userInfo: item.userInfo,
            added: reading.wall,
            notBefore: item.notBefore.map { Int64($0 * 1e9) },
            lifetime: item.lifetime?.wholeNanoseconds,
            written: reading.wall,
            hasSynchronizedClock: reading.isSynchronized,
            size: try body.size()
        )
        try folder.put(archived) { write in try body.read(write) }
        return key ?? archived.origin
    }
}

/// A rule of a lane that a command can change.
package enum LaneRule: String, Sendable, Hashable {
    case order
    case path
    case confirmation
}

extension LaneOptions {
    /// Returns the options with some rules of others.
    func changed(_ rules: Set<LaneRule>, to other: Self) -> Self {
        var options = self
        if rules.contains(.order) { options.order = other.order }
        if rules.contains(.path) { options.path = other.path }
        if rules.contains(.confirmation) { options.confirmation = other.confirmation }
        return options
    }
}

extension OutboxBody {
    /// The size in bytes.
    fileprivate func size() throws(OutboxError) -> Int64 {
        switch content {
        case .none: return 0
        case .bytes(let bytes): return Int64(bytes.count)
        case .file(let path, _): return Int64(try FileSystem.regularFile(at: path).st_size)
        case .failure(let reason): throw .init(.bodyUnavailable, reason: reason)
        case .chunks: throw .init(.bodyUnavailable, reason: "a sequence can't be added to another user's outbox")
        }
    }

    /// Reads the body in pieces.
    fileprivate func read(_ write: (UnsafeRawBufferPointer) -> Void) throws(OutboxError) {
        switch content {
        case .bytes(let bytes): bytes.withUnsafeBytes(write)
        case .file(let path, _): try FileSystem.read(path, write)
        case .none, .failure, .chunks: break
        }
    }
}
