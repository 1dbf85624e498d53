import CommandLineLab
import CommandLineSupport
import Glibc
import HTTPLab
import NetwatchCore
import NetworkLab
import Testing
import ValidationCore

/// A validator whose `netwatch-validate` is a shell with a script.
@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct ValidatorTests {
    private let folder: LabFolder
    private let reports = LabInbox<ValidationVerdict?>()

    init() throws { folder = try LabFolder() }

    private static let validated = ValidationSummary(verdict: .validated, since: .init(seconds: 0, nanoseconds: 0)).json
    private static let portal = ValidationSummary(verdict: .portal(.init()), since: .init(seconds: 0, nanoseconds: 0))
        .json

    /// Starts a validator.
    private func validator(
        _ script: String,
        _ arguments: [String] = [],
        for user: Validator.User = .service
    ) throws -> Validator {
        // A file that was written cannot be executed while another thread's child still has it open.
        #expect(symlink("/bin/sh", folder.path + "/netwatch-validate") == 0)
        let words = ["-c", "cd '\(folder.path)'; \(script)", "sh"] + arguments
        let validator = try Validator(words, for: user, folder: folder.path) { [reports] in reports.put($0?.verdict) }
        try validator.start()
        return validator
    }

    private func contents(_ name: String) throws -> String {
        String(decoding: try Repository.bytes(of: folder.path + "/" + name), as: UTF8.self)
    }

    /// Whether a process runs; one that has ended and was not reaped does not.
    private static func runs(_ process: pid_t) -> Bool {
        let status = try? String(decoding: Repository.bytes(of: "/proc/\(process)/stat"), as: UTF8.self)
        return status.map { !$0.contains(") Z ") } ?? false
    }

    @Test func `each line is a report, and the process ends with the validator`() throws {
        let script =
            "echo $$ >pid; printf '%s\\n' \"$@\" >arguments; echo '\(Self.portal)'; echo '\(Self.validated)'; exec cat"
        let validator = try validator(script, ["--validate", "http://a/ b"])
        try reports.wait(for: "two reports") { $0.count == 2 }
        #expect(reports.all == [.portal(.init()), .validated])
        #expect(try contents("arguments") == "--validate\nhttp://a/ b\n")
        let process = try #require(pid_t(contents("pid").trimmingLineFeed))
        #expect(Self.runs(process))
        validator.stop()
        #expect(!Self.runs(process))
        #expect(reports.all.count == 2 && validator.failure == nil)
    }

    @Test func `a process that ends is started again, and nothing is known meanwhile`() throws {
        let validator = try validator(
            "[ -e again ] && echo '\(Self.validated)' && exec cat; touch again; echo '\(Self.portal)'"
        )
        try reports.wait(for: "a report of the second process") { $0.last == .validated }
        validator.stop()
        #expect(reports.all == [.portal(.init()), nil, .validated])
    }

    @Test(arguments: ["echo '{}'", "echo '{'", "echo", "yes x | tr -d '\\n'"])
    func `a process that prints something else is ended, and started again`(output: String) throws {
        let validator = try validator(
            "[ -e again ] && echo '\(Self.validated)' && exec cat; touch again; \(output); exec cat"
        )
        try reports.wait(for: "a report of the second process") { $0.last == .validated }
        validator.stop()
        #expect(reports.all == [nil, .validated])
    }

    @Test func `arguments that the process does not take are a failure for good`() throws {
        let validator = try validator("echo x >>starts; exit 64")
        try reports.wait(for: "its end") { !$0.isEmpty }
        validator.stop()
        #expect(validator.failure?.status == .usage && reports.all == [nil])
        #expect(try contents("starts") == "x\n")
    }

    @Test func `a command gets the error of a process that ends without a report`() throws {
        let validator = try validator("echo 'netwatch: no such namespace; name one' >&2; exit 77", for: .command)
        try reports.wait(for: "its end") { !$0.isEmpty }
        validator.stop()
        #expect(validator.failure == .init("no such namespace; name one", exit: .notPermitted) && reports.all == [nil])
    }

    @Test func `for a command, too, a process that is killed before its first report is started again`() throws {
        let validator = try validator(
            "[ -e again ] && echo '\(Self.validated)' && exec cat; touch again; kill -9 $$",
            for: .command
        )
        try reports.wait(for: "a report of the second process") { $0.last == .validated }
        validator.stop()
        #expect(reports.all == [nil, .validated] && validator.failure == nil)
    }

    @Test func `a validator that is not installed is an error that names the package`() throws {
        let error = #expect(throws: ToolError.self) { try Validator([], for: .service, folder: folder.path) { _ in } }
        #expect(error?.message.hasSuffix("; install the package netwatch-validate") == true)
        #expect(error?.status == .commandNotFound)
    }
}

extension String {
    fileprivate var trimmingLineFeed: String { filter { !$0.isNewline } }
}
