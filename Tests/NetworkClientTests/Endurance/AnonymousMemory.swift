import FoundationEssentials
import Glibc
import Locking
import NetworkLab
import Synchronization
import Testing

/// The peak of this process's anonymous memory, which a thread reads every millisecond.
///
/// What is mapped of files is left out: how much of the executable is resident depends on the page cache, and differs by
/// tens of MiB from run to run.
final class AnonymousMemory: Sendable {
    private let peak = Lock(0)
    private let isEnded = Atomic(false)
    private let thread = Lock<LabThread?>(nil)

    /// Starts to watch.
    init() throws {
        try record()
        let thread = try LabThread { [weak self] in
            while let self, !isEnded.load(ordering: .relaxed) {
                try? record()
                usleep(1_000)
            }
        }
        self.thread.withLock { $0 = thread }
    }

    private func record() throws {
        let now = try Self.current()
        peak.withLock { $0 = max($0, now) }
    }

    /// Stops watching.
    ///
    /// - Returns: The peak, in bytes.
    func end() throws -> Int {
        isEnded.store(true, ordering: .relaxed)
        thread.withLock { $0 }?.join()
        try record()
        return peak.withLock { $0 }
    }

    /// RssAnon of proc_pid_status(5), in bytes.
    static func current() throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }) << 10
    }
}
