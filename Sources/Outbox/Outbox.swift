import DurableStore
public import NetworkClient
import OutboxCore

/// A durable outbox: requests and files that are on disk when they are added, and that are delivered when there is a path,
/// whatever happens in between: exit, crash, power loss, days without a network.
///
/// ```swift
/// let outbox = try await Outbox(at: "/var/lib/robot/outbox", session: session)
/// let telemetry = outbox.lane("telemetry", to: "https://api.example.com/v1")
/// try await telemetry.post("readings", .json(reading))
/// ```
/// Each item is sent at least once, always under one key and with identical bytes; where the server recognizes the key,
/// it takes effect once. How it ended is an ``OutboxOutcome``, which is returned until it is acknowledged.
///
/// Any number of processes may open the folder and add items. One of them sends; when it ends, the next one continues.
/// The folder must be on a local disk. All members can be used from any thread.
public final class Outbox: Sendable {
    /// Returns the credential with a name, when an item that names it is sent.
    public typealias CredentialSource = @Sendable (_ name: String) async throws -> OutboxCredential

    /// The settings of an outbox.
    ///
    /// The limits belong to the outbox rather than to the process: those that a program sets are stored, and hold for each
    /// process that opens the folder, commands included, until a program sets others. Where a limit is nil, the stored
    /// one holds, or else the default.
    public struct Configuration: Sendable, Hashable {
        /// The maximum number of items; 1,000,000 by default.
        public var maximumItems: Int?
        /// The maximum size of all bodies in bytes; 4 GiB by default.
        public var maximumBytes: Int64?
        /// The free space in bytes that is left on the file system; 64 MiB by default.
        public var minimumFreeSpace: Int64?
        /// The number of unacknowledged outcomes that are kept; the oldest are removed first; 100,000 by default.
        public var maximumOutcomes: Int?
        /// Whether this process sends items, if no other process does; true by default.
        public var sends: Bool

        /// Creates a configuration; the properties describe the parameters.
        public init(
            maximumItems: Int? = nil,
            maximumBytes: Int64? = nil,
            minimumFreeSpace: Int64? = nil,
            maximumOutcomes: Int? = nil,
            sends: Bool = true
        ) {
            self.maximumItems = maximumItems
            self.maximumBytes = maximumBytes
            self.minimumFreeSpace = minimumFreeSpace
            self.maximumOutcomes = maximumOutcomes
            self.sends = sends
        }
    }

    package let storage: BoxStorage
    let engine: OutboxEngine

    /// Opens or creates an outbox, and begins to send.
    ///
    /// - Parameters:
    ///   - folder: The folder, which is created with the mode 0700 if it is missing. Its parent must exist.
    ///   - session: The session that sends the requests, with its timeouts, retries, trust and proxies.
    ///   - configuration: The settings.
    ///   - credentials: The source of credentials for items that name one; nil if none does.
    /// - Throws: ``OutboxError``. A damaged database is repaired, as far as its rows can be read; what is lost is
    ///   reported as an outcome.
    public convenience init(
        at folder: String,
        session: HTTPSession,
        configuration: Configuration = .init(),
        credentials: CredentialSource? = nil
    ) async throws(OutboxError) {
        try await self.init(at: folder, session, configuration, credentials, clock: .system)
    }

    /// Opens or creates an outbox that reads a given clock.
    package init(
        at folder: String,
        _ session: HTTPSession,
        _ configuration: Configuration,
        _ credentials: CredentialSource? = nil,
        clock: MachineClock
    ) async throws(OutboxError) {
        do {
            let storage = try await BlockingWork.run { try BoxStorage(at: folder, clock: clock) }
            self.storage = storage
            try await storage.setLimits(configuration.limits)
            engine = try OutboxEngine(storage, session, credentials, sends: configuration.sends)
        } catch {
            throw OutboxError(error)
        }
    }

    deinit {
        let (engine, storage) = (engine, storage)
        Task {
            await engine.stop(within: .zero)
            try? await BlockingWork.run { storage.store.close() }
        }
    }

    /// The last error of the storage while items were being sent; nil if there was none.
    ///
    /// The outbox tries again, for example when the disk is no longer full.
    public var lastError: OutboxError? { engine.lastError }

    /// Returns a lane: a destination, and the rules by which items are sent to it.
    ///
    /// The lane is stored with its first item; if its properties have changed since, the items that wait follow the new
    /// ones.
    ///
    /// - Parameters:
    ///   - name: The name, by which other processes know it too.
    ///   - destination: The URL to which the references of items are appended.
    ///   - options: The rules.
    /// - Returns: The lane.
    public func lane(_ name: String, to destination: String, _ options: LaneOptions = .init()) -> OutboxLane {
        .init(name: name, destination: destination, options: options, storage: storage)
    }

    /// The outcomes of all items, in the order in which they ended: first those that are not acknowledged, also of earlier
    /// processes, then each as it is stored.
    public var outcomes: OutboxOutcomes { .init(outbox: self) }

    /// Returns the items that have not ended, in the order in which they were added.
    ///
    /// - Parameter lane: The name of a lane; nil for all.
    /// - Returns: The items.
    /// - Throws: ``OutboxError`` if the outbox can't be read.
    public func items(in lane: String? = nil) async throws(OutboxError) -> [OutboxItem] {
        do {
            return try await storage.store.read { try BoxStorage.items($0, lane: lane) }
        } catch {
            throw OutboxError(error)
        }
    }

    /// Cancels an item, whose outcome is then `cancelled`.
    ///
    /// - Throws: ``OutboxError``: `notFound` if it has ended, `isSending` if its bytes may be on the network, or if
    ///   it is in a batch that may have been processed.
    public func cancel(_ id: OutboxItem.ID) async throws(OutboxError) { try await perform(.cancel, on: id) }

    /// Holds an item back until it is released.
    ///
    /// - Throws: As ``cancel(_:)``.
    public func hold(_ id: OutboxItem.ID) async throws(OutboxError) { try await perform(.hold, on: id) }

    /// Releases an item that was held back.
    ///
    /// - Throws: As ``cancel(_:)``.
    public func release(_ id: OutboxItem.ID) async throws(OutboxError) { try await perform(.release, on: id) }

    private func perform(_ command: BoxStorage.Command, on id: OutboxItem.ID) async throws(OutboxError) {
        do { try await storage.perform(command, on: id.rawValue) } catch { throw OutboxError(error) }
    }

    /// Returns the contents in numbers.
    public func statistics() async throws(OutboxError) -> OutboxStatistics {
        do {
            return try await storage.store.read { try BoxStorage.statistics($0) }
        } catch {
            throw OutboxError(error)
        }
    }

    /// Calls a closure after each change of the outbox, by any process.
    package func listenForChanges(_ body: @escaping @Sendable () -> Void) -> Int { engine.listen(body) }

    /// Ends the calls of ``listenForChanges(_:)``.
    package func endListening(_ number: Int) { engine.unlisten(number) }

    /// Stops sending, and closes the outbox; the items stay for the next process.
    ///
    /// - Parameter limit: How long to wait for the items that are being sent; nil for their end. Items that wait for a
    ///   path or a credential are not waited for.
    public func shutdown(within limit: Duration? = nil) async {
        await engine.stop(within: limit)
        try? await BlockingWork.run { [storage] in storage.store.close() }
        // For those that began to wait for outcomes meanwhile.
        engine.changed()
    }
}

extension Outbox.Configuration {
    fileprivate var limits: BoxLimits {
        .init(items: maximumItems, bytes: maximumBytes, freeSpace: minimumFreeSpace, outcomes: maximumOutcomes)
    }
}
