import ArgumentParser
import CommandLineSupport
import DurableStore
import LinuxSystem
import NetwatchCore
import Outbox

/// `netwatch outbox wait`: the end of an item.
struct WaitCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until an item has ended, and print its outcome."
    )

    @OptionGroup var box: BoxOptions
    @Argument(help: .init("The number of the item.", valueName: "id"), transform: ItemNumberArgument.parse)
    var id: Int64
    @Option(help: .init("How long to wait, such as 60s; without limit by default.", valueName: "duration"))
    var timeout: String?
    @Flag(help: "Print a line of JSON.")
    var json = false

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
            (json ? outcome.jsonLine : outcome.line) + "\n",
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

    /// The number of outcomes that are read, printed and acknowledged together.
    private static let portion = 100

    func execute() throws(ToolError) -> ExitStatus {
        let storage = try box.storage()
        defer { storage.store.close() }
        var position: Int64 = 0
        while case let outcomes = try read(after: position, from: storage), let last = outcomes.last {
            do throws(OutputFailure) {
                try LineOutput.standard.write(outcomes.map { (json ? $0.jsonLine : $0.line) + "\n" }.joined())
            } catch {
                // What nobody received is printed again.
                return try error.end(writing: "stdout")
            }
            if acknowledge { try forget(outcomes, in: storage) }
            position = last.sequence
        }
        return .success
    }

    private func read(after position: Int64, from storage: BoxStorage) throws(ToolError) -> [OutboxOutcome] {
        try waiting { try await storage.outcomes(after: position, limit: Self.portion, hasBodies: false) }
    }

    private func forget(_ outcomes: [OutboxOutcome], in storage: BoxStorage) throws(ToolError) {
        try waiting { try await storage.forget(outcomes.map(\.sequence)) }
    }
}
