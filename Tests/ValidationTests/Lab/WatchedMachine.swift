import Glibc
import HTTPLab
import NetworkLab
import Testing

/// A program on the machine of a ``ProbedNetwork``, which follows the path and its verdict with a validator.
struct WatchedMachine {
    /// A line of its output.
    struct Line {
        let time: Int64
        let path: String
        /// The number of packets that the path's interface had sent when the program received the verdict.
        let packets: UInt64
        let verdict: String

        init?(_ text: Substring) {
            let words = text.split(separator: " ", maxSplits: 3)
            guard words.count == 4, let time = Int64(words[0]), let packets = UInt64(words[2]) else { return nil }
            (self.time, path, self.packets, verdict) = (time, String(words[1]), packets, String(words[3]))
        }
    }

    /// Lives as long as the program.
    private let network: ProbedNetwork
    private let process: LabProcess
    private let folder: LabFolder

    /// Starts the program, and waits until it follows the path.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - nameServer: The address in its `/etc/resolv.conf`.
    ///   - network: The network.
    /// - Throws: Why it can't be started.
    init(_ arguments: [String], nameServer: String = "192.0.2.1", on network: ProbedNetwork) throws {
        self.network = network
        let folder = try LabFolder()
        let setup = try folder.write("resolv.conf", "nameserver \(nameServer)\n")
        let started = LabInbox<Result<LabProcess, any Error>>()
        // The mount is the thread's own, and the program inherits it.
        let thread = try LabThread {
            started.put(
                Result {
                    try LabMount.cover("/etc/resolv.conf", with: setup)
                    return try network.machine.run { try LabProcess(Self.program, arguments) }
                }
            )
        }
        thread.join()
        self.folder = folder
        process = try started.wait(for: "the program") { !$0.isEmpty }[0].get()
        try process.waitForOutput { $0.contains("\n") }
    }

    /// Next to the running test bundle.
    private static let program: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        let runner = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "/" + runner.split(separator: "/").dropLast().joined(separator: "/") + "/validation-watcher"
    }()

    /// The verdicts so far, in order.
    func verdicts(upTo condition: (Line) -> Bool) throws -> [Line] {
        let text = try process.waitForOutput { Self.lines($0).contains(where: condition) }
        return Self.lines(text)
    }

    /// Only whole lines count.
    private static func lines(_ text: String) -> [Line] {
        guard let end = text.lastIndex(of: "\n") else { return [] }
        return text[..<end].split(separator: "\n").compactMap(Line.init)
    }

    /// Waits for a verdict, and prints after what time it came, and how many packets the machine had sent until then.
    ///
    /// - Parameters:
    ///   - verdict: The verdict.
    ///   - what: What it is a verdict on, for the line that is printed.
    ///   - event: When the event took place, as ``ProbedNetwork/now``.
    ///   - before: The number of packets at that time.
    /// - Returns: The number of packets since then, as the program counted them when the verdict came, and all lines.
    /// - Throws: `ETIMEDOUT` if the verdict does not come.
    @discardableResult
    func measure(
        _ verdict: String,
        of what: String,
        since event: Int64,
        packets before: UInt64
    ) throws -> (packets: UInt64, lines: [Line]) {
        let isAwaited = { (line: Line) in line.verdict == verdict && line.time >= event }
        let lines = try verdicts(upTo: isAwaited)
        let line = try #require(lines.first(where: isAwaited))
        let packets = line.packets - before
        let milliseconds = (line.time - event) / 1_000_000
        print("validation lab: \(what): '\(verdict)' after \(milliseconds) ms, \(packets) packets sent")
        return (packets, lines)
    }
}
