import CommandLineLab
import Glibc
import NetworkLab
import ReachabilityCore

@testable import netwatch

/// Reads a capture from a pipe while it is recorded.
final class CaptureStream {
    /// The bytes received so far.
    private(set) var bytes: [UInt8] = []
    private let reader: LineReader

    init(_ reader: LineReader) { self.reader = reader }

    /// Reads until a replay of the bytes so far has a number of changes.
    func read(untilNotices count: Int) throws {
        while case let told = replayed(bytes), told.changes.count < count {
            do {
                guard let more = try reader.bytes() else { throw LabError("read", errno: EPIPE) }
                bytes += more
            } catch {
                throw LabError("record \(count) changes", errno: ETIMEDOUT, detail: "\(told)")
            }
        }
    }

    /// Reads to the end.
    func readToEnd() throws {
        while let more = try reader.bytes() { bytes += more }
    }
}

/// Replays a capture in this process.
func replayed(
    _ bytes: [UInt8],
    kindRules: [KindRule] = [],
    settle: Duration = .zero
) -> (changes: [ReplayedChange], fault: ReplayError?) {
    var replay = CaptureReplay(context: .init(user: 0, kindRules: kindRules), settle: settle)
    var all: [ReplayedChange] = []
    do throws(ReplayError) {
        while let changes = try replay.next(bytes.span.bytes) { all += changes }
        return (all + replay.finish(), nil)
    } catch {
        return (all, error)
    }
}
