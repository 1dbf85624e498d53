import ArgumentParser
import CommandLineSupport
import DurableStore
import Glibc
import LinuxSystem
import NetwatchCore
import Outbox

/// `netwatch outbox run`: sends.
struct RunCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send what is in the outbox, if no other process does, until a signal ends it."
    )

    @OptionGroup var box: BoxOptions
    @Flag(help: "End when nothing is left.")
    var once = false

    func execute() throws(ToolError) -> ExitStatus {
        let signals: SignalDescriptor
        let wakeup: Wakeup
        do throws(SystemError) {
            signals = try SignalDescriptor([SIGINT, SIGTERM])
            wakeup = try Wakeup()
        } catch {
            throw error.toolError("receive signals")
        }
        let path = box.path
        if once { _ = try box.storage() }
        let outbox = try waiting { try await Outbox(at: path, session: try Self.session()) }
        let watch = once ? Task { await Self.waitUntilEmpty(outbox, wakeup) } : nil
        let end = try Self.end(signals, wakeup)
        watch?.cancel()
        try waiting { await outbox.shutdown(within: .seconds(5)) }
        return end
    }

    private static func session() throws -> HTTPSession {
        try HTTPSession(configuration: .init(gate: .waitsForConnectivity(nil), retry: .standard))
    }

    /// Waits for a signal, or for the end of the work.
    private static func end(_ signals: SignalDescriptor, _ wakeup: Wakeup) throws(ToolError) -> ExitStatus {
        let wait = MainWait(signals: signals, wakeup: wakeup)
        do throws(SystemError) {
            while true {
                switch try wait.next() {
                case .signal, .wakeup: return .success
                default: continue
                }
            }
        } catch {
            throw error.toolError("wait for signals")
        }
    }

    /// Wakes the main thread when no item is left.
    private static func waitUntilEmpty(_ outbox: Outbox, _ wakeup: Wakeup) async {
        let changes = AsyncStream { continuation in
            let number = outbox.listenForChanges { continuation.yield() }
            continuation.onTermination = { _ in outbox.endListening(number) }
            continuation.yield()
        }
        for await _ in changes {
            if let statistics = try? await outbox.statistics(), statistics.items == 0 { return wakeup.signal() }
        }
    }
}

/// `netwatch outbox wait`: the end of an item.
struct WaitCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until an item has ended, and print its outcome."
    )

    @OptionGroup var box: BoxOptions
    @Argument(help: .init("The number of the item.", valueName: "id"))
    var id: Int64
    @Option(help: .init("How long to wait, such as 60s; without limit by default.", valueName: "duration"))
    var timeout: String?

    func execute() throws(ToolError) -> ExitStatus {
        let limit: Duration?
        do throws(ArgumentError) {
            limit = try timeout.map { (text) throws(ArgumentError) in try DurationArgument.parse(text) }
        } catch {
            throw .init("the value of --timeout can't be used: \(error)", exit: .usage)
        }
        let storage = try box.storage()
        let id = id
        let outcome = try waiting {
            defer { storage.store.close() }
            return try await withDeadline(limit ?? .seconds(10 * 365 * 86_400)) {
                try await storage.waitForEnd(of: id)
            }
        }
        guard let outcome else { throw .init("item \(id) has not ended in time", exit: .timedOut) }
        return try StandardOutput.write(
            outcome.line + "\n",
            thenExit: outcome.end == .delivered ? .success : .endedOtherwise
        )
    }
}

/// `netwatch outbox outcomes`: how items ended.
struct OutcomesCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "outcomes",
        abstract: "Print the outcomes that are not acknowledged."
    )

    @OptionGroup var box: BoxOptions
    @Flag(help: "Acknowledge them: they are not printed again.")
    var acknowledge = false
    @Flag(help: "Print JSON lines.")
    var json = false

    func execute() throws(ToolError) -> ExitStatus {
        let storage = try box.storage()
        let outcomes = try waiting { try await storage.outcomes(after: 0, limit: .max) }
        let text = outcomes.map { (json ? $0.jsonLine : $0.line) + "\n" }.joined()
        let status = try StandardOutput.write(text)
        let acknowledge = acknowledge
        try waiting {
            if acknowledge { for outcome in outcomes { try await outcome.acknowledge() } }
            storage.store.close()
        }
        return status
    }
}
