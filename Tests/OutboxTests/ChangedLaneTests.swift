import CommandLineLab
import DurableStore
import Foundation
import Glibc
import HTTPLab
import Locking
import NetworkLab
import Outbox
import Testing

/// A lane is changed by another process while an item is added to it.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct ChangedLaneTests {
    private static let elsewhere = "https://192.0.2.7"
    private static let move = "UPDATE lane SET destination = '\(elsewhere)' WHERE name = 'l'"

    private let lab: OutboxLab
    private let clock = InterruptedClock()

    init() throws { lab = try OutboxLab() }

    /// Opens the outbox, which has a lane that sends to the lab's server.
    private func open() async throws -> BoxStorage {
        let storage = try BoxStorage(at: lab.path, clock: clock.machine)
        _ = try await storage.declare("l", to: lab.server.url, .init())
        return storage
    }

    /// Has another connection move the lane elsewhere when the clock is read next: between two transactions.
    private func moveLaneAtNextReading() {
        let path = "\(lab.path)/outbox.db"
        clock.interrupt { (try? Database(at: path).run(Self.move)) == 1 }
    }

    @Test func `the first item is stored with the destination of its lane`() async throws {
        let storage = try await open()
        let lane = OutboxLane(name: "l", destination: lab.server.url, options: .init(), storage: storage)
        moveLaneAtNextReading()
        // The clock is read before the item is stored.
        try await lane.request(.post, "a", .text("a"), .init(notBefore: 0))
        #expect(clock.wasInterrupted)
        #expect(try await storage.lanes().map(\.destination) == [lab.server.url])
        storage.store.close()
    }

    @Test func `an imported item is sent to no other destination than its own`() async throws {
        let source = try BoxStorage(at: lab.path + "-2")
        let lane = OutboxLane(name: "l", destination: lab.server.url, options: .init(), storage: source)
        try await lane.request(.post, "a", .text("a"), .init())
        source.store.close()
        let archive = Glibc.open("\(lab.folder.path)/archive", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(archive >= 0)
        defer { close(archive) }
        let copy = try StoreCopy(of: BoxStorage.files(of: lab.path + "-2"))
        let writer = try ArchiveWriter(to: archive, named: "archive")
        _ = try BoxExport(copy.database, folder: lab.path + "-2").write(lane: nil, ids: [], to: writer)
        lseek(archive, 0, SEEK_SET)
        let storage = try await open()
        moveLaneAtNextReading()
        let result = try await BoxImport(into: storage).read(ArchiveReader(of: archive, named: "archive"))
        #expect(result.added == 1 && clock.wasInterrupted)
        let lanes = try await storage.lanes()
        #expect(lanes.first { $0.name == "l" }?.destination == Self.elsewhere)
        let names = try await storage.store.read { try BoxStorage.items($0).map(\.lane) }
        let own = try #require(lanes.first { $0.name == names.first })
        #expect(names.count == 1 && own.destination == lab.server.url)
        storage.store.close()
    }

    private func spooledFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(lab.path)/spool")
    }

    /// Adds an item by a command, while another connection stores a change of its lane.
    private func add(while change: String) async throws -> LabProcess.Outcome {
        try await open().store.close()
        let large = try lab.folder.write("large", .init(repeating: 7, count: 100_000))
        let database = try Database(at: "\(lab.path)/outbox.db")
        try database.execute("BEGIN IMMEDIATE")
        let arguments = ["add", "--lane", "l", "--data", "@\(large)", "--box", lab.path, lab.server.url]
        let tool = try LabProcess(ToolBinary.path + "-outbox", arguments)
        // The command copies the body after it has read the lane, and before it stores the item.
        let deadline = ContinuousClock.now + .seconds(60)
        while try spooledFiles().isEmpty, ContinuousClock.now < deadline { await Polling.pause() }
        try database.execute("\(change); COMMIT")
        return try tool.finish()
    }

    @Test func `a command refuses an item for another host than the one to which its lane was moved`() async throws {
        let outcome = try await add(while: Self.move)
        #expect(outcome.code == 64 && outcome.errors.contains("lane 'l' sends to \(Self.elsewhere)"), "\(outcome)")
        let storage = try BoxStorage(at: lab.path)
        #expect(try await storage.lanes().map(\.destination) == [Self.elsewhere])
        #expect(try await storage.store.read { try BoxStorage.items($0).count } == 0)
        storage.store.close()
        #expect(try spooledFiles() == [])
    }

    @Test func `a command keeps the rules that its lane has when the item is stored`() async throws {
        let change = "UPDATE lane SET options = replace(options, '\"itemAttempts\":1', '\"itemAttempts\":5')"
        #expect(try await add(while: change).code == 0)
        let storage = try BoxStorage(at: lab.path)
        #expect(try await storage.lanes().map(\.options.itemAttempts) == [5])
        storage.store.close()
    }
}

/// The system's clock, which runs a closure at its next reading.
private final class InterruptedClock: Sendable {
    private struct State {
        var interruption: (@Sendable () -> Bool)?
        var wasInterrupted = false
    }

    private let state = Lock(State())

    /// Whether the closure has returned true.
    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }

    func interrupt(with body: @escaping @Sendable () -> Bool) { state.withLock { $0.interruption = body } }

    var machine: MachineClock {
        .init { [self] in
            let interruption = state.withLock { state in
                defer { state.interruption = nil }
                return state.interruption
            }
            if let interruption {
                let isDone = interruption()
                state.withLock { $0.wasInterrupted = isDone }
            }
            return MachineClock.system.read()
        }
    }
}
