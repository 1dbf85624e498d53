import ArgumentParser
import CommandLineSupport
import DurableStore
import Glibc
import LinuxSystem
import NetwatchCore
import Outbox

/// The folder of the outbox.
struct BoxOptions: ParsableArguments {
    @Option(help: .init("The folder of the outbox.", valueName: "dir"))
    var box: String?

    /// The path of the folder.
    var path: String {
        if let box { return box }
        let state = getenv("XDG_STATE_HOME").map { String(cString: $0) } ?? ""
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        return (state.isEmpty ? "\(home)/.local/state" : state) + "/netwatch/outbox"
    }

    /// Opens the storage of an outbox that exists.
    func storage() throws(ToolError) -> BoxStorage {
        try requireFolder()
        try becomeOwner()
        return try OutboxError.tool { try BoxStorage(at: path) }
    }

    /// Creates the folders above the outbox, and opens it.
    func createdStorage() throws(ToolError) -> BoxStorage {
        var parent = ""
        for name in path.split(separator: "/").dropLast() {
            parent += (parent.isEmpty && !path.hasPrefix("/") ? "" : "/") + name
            mkdir(parent, 0o700)
        }
        try becomeOwner()
        do throws(ToolError) { return try OutboxError.tool { try BoxStorage(at: path) } } catch {
            throw error.status == .noInput ? .init(error.message, exit: .notCreated) : error
        }
    }

    /// Gives up root's rights for those of the outbox's owner, who has to be able to open the files.
    func becomeOwner() throws(ToolError) {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return }
        let (user, group) = (status.st_uid, status.st_gid)
        guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(user) == 0 else {
            throw .init("cannot act as user \(user), whose outbox this is: \(SystemError.last)", exit: .notPermitted)
        }
    }

    /// Reads the outbox as it is at one moment; who may not write to it reads a copy.
    func read<Value>(_ body: (Database) throws -> Value) throws(ToolError) -> Value {
        try requireFolder()
        return try OutboxError.tool {
            let snapshot = try StoreSnapshot(of: BoxStorage.files(of: path))
            return try withExtendedLifetime(snapshot) { try body(snapshot.database) }
        }
    }

    /// Throws an error if there is no outbox.
    ///
    /// - Parameter allowsIncoming: Whether a folder with items of other users is enough.
    /// - Throws: The error for the user.
    func requireFolder(allowsIncoming: Bool = false) throws(ToolError) {
        if access("\(path)/\(BoxSchema.fileName)", F_OK) == 0 || errno != ENOENT { return }
        if allowsIncoming, IncomingFolder(of: path).isThere { return }
        let what = path.escapedForTerminal
        throw .init("there is no outbox in '\(what)'; add an item, or name its folder with --box", exit: .noInput)
    }
}

extension ExitStatus {
    /// `EX_NOINPUT`: there is no such item, lane or outbox.
    static let noInput = Self(rawValue: 66)
    /// `EX_CANTCREAT`: the outbox or an archive can't be created.
    static let notCreated = Self(rawValue: 73)
    /// `wait`: the item ended otherwise than delivered.
    static let endedOtherwise = Self(rawValue: 1)
    /// `add` and `import`: the lane has another request with the item's key.
    static let keyInUse = Self(rawValue: 2)
}

extension OutboxError {
    /// The error for the user, with its exit status.
    var toolError: ToolError {
        let status: ExitStatus =
            switch code {
            case .invalidRequest, .secretRefused: .usage
            case .keyInUse: .keyInUse
            case .damaged, .newerVersion: .badData
            case .notFound, .bodyUnavailable: .noInput
            case .full, .isSending: .timedOut
            case .notPermitted: .notPermitted
            default: .outputFailure
            }
        return .init(reason, exit: status)
    }
}

extension OutboxError {
    /// Runs a closure, with its errors as those for the user.
    static func tool<Value>(_ body: () throws -> Value) throws(ToolError) -> Value {
        do { return try body() } catch { throw OutboxError(error).toolError }
    }
}

/// Runs asynchronous code from a command, on the main thread.
func waiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws(ToolError) -> Value {
    let promise = BlockingPromise<Result<Value, OutboxError>>()
    Task {
        do { promise.fulfill(.success(try await body())) } catch { promise.fulfill(.failure(OutboxError(error))) }
    }
    do throws(OutboxError) { return try promise.wait().get() } catch { throw error.toolError }
}
