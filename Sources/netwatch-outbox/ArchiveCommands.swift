import ArgumentParser
import CommandLineSupport
import DurableStore
import Glibc
import LinuxSystem
import NetwatchCore
import Outbox

/// `netwatch outbox export`: items with their bodies, in one file.
struct ExportCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write items with their bodies to a file; they stay in the outbox."
    )

    @OptionGroup var box: BoxOptions
    @Option(help: .init("Only the items of this lane.", valueName: "name"))
    var lane: String?
    @Option(
        name: .shortAndLong,
        help: .init("The file, which must not exist; stdout by default.", valueName: "file"),
        completion: .file()
    )
    var output: String?
    @Flag(help: "Print a line of JSON with the numbers, to stderr.")
    var json = false
    @Argument(
        help: .init("The numbers of the items; all without one.", valueName: "id"),
        transform: ItemNumberArgument.parse
    )
    var ids: [Int64] = []

    func execute() throws(ToolError) -> ExitStatus {
        guard let output, output != "-" else {
            guard isatty(STDOUT_FILENO) == 0 else {
                throw .init("an archive is no text for a terminal; give --output FILE, or a pipe", exit: .usage)
            }
            return try report(export(to: STDOUT_FILENO, "stdout"))
        }
        let file = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            let error = SystemError.last
            let status: ExitStatus = [EACCES, EPERM].contains(error.code) ? .notPermitted : .notCreated
            throw .init("cannot create '\(output.escapedForTerminal)': \(error)", exit: status)
        }
        defer { close(file) }
        do throws(ToolError) {
            let result = try export(to: file, output)
            guard fsync(file) == 0 else {
                throw .init("cannot write '\(output)': \(SystemError.last)", exit: .outputFailure)
            }
            return try report(result)
        } catch {
            unlink(output)
            throw error
        }
    }

    private func export(to descriptor: Int32, _ name: String) throws(ToolError) -> BoxExport.Result {
        try box.read { database in
            if let lane, try !BoxStorage.lanes(database).contains(where: { $0.name == lane }) {
                throw OutboxError(.notFound, reason: "there is no lane '\(lane)'; see 'netwatch outbox list'")
            }
            let writer = try ArchiveWriter(to: descriptor, named: name)
            return try BoxExport(database, folder: box.path).write(lane: lane, ids: ids, to: writer)
        }
    }

    private func report(_ result: BoxExport.Result) throws(ToolError) -> ExitStatus {
        var lines = result.skipped.map { "netwatch: item \($0.id) is not exported: \($0.reason)" }
        if json {
            let skipped = JSONLine.Value.number(Int64(result.skipped.count))
            lines = [JSONLine.object([("exported", .number(Int64(result.written))), ("skipped", skipped)])]
        }
        try? LineOutput.standardError.write(lines.map { $0 + "\n" }.joined())
        return .success
    }
}

/// `netwatch outbox import`: the items of an archive.
struct ImportCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the items of an exported file; an item that was imported before is not added again."
    )

    @OptionGroup var box: BoxOptions
    @Flag(help: "Print a line of JSON.")
    var json = false
    @Argument(help: .init("The file, or - for stdin.", valueName: "file"), completion: .file())
    var file: String

    func execute() throws(ToolError) -> ExitStatus {
        let descriptor = file == "-" ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw .init("cannot read '\(file.escapedForTerminal)': \(SystemError.last)", exit: .noInput)
        }
        defer { close(descriptor) }
        let name = file == "-" ? "stdin" : file
        let storage = try box.createdStorage()
        let result = try waiting {
            defer { storage.store.close() }
            return try await BoxImport(into: storage).read(ArchiveReader(of: descriptor, named: name))
        }
        let existing = result.existing == 0 ? "" : ", \(result.existing) were there already"
        let text = "\(result.added) \(result.added == 1 ? "item" : "items") added\(existing)"
        let numbers = [("added", result.added), ("existing", result.existing)]
        let line = JSONLine.object(numbers.map { ($0.0, .number(Int64($0.1))) })
        return try StandardOutput.write((json ? line : text) + "\n")
    }
}
