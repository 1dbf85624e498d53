import CNetworkLab
import Glibc

/// The processors on which the calling thread may run, by its affinity (sched_setaffinity(2)).
package enum Processors {
    /// Large enough for any kernel's mask, in bytes.
    private static let size = 1_024

    /// Calls a body on each of them, and brings the thread back to where it may run.
    ///
    /// The kernel keeps some of what it remembers for each processor by itself.
    package static func onEach(_ body: () throws -> Void) throws {
        var all = [UInt8](repeating: 0, count: size)
        try systemCall("sched_getaffinity") { sched_getaffinity(0, UInt(size), &all) }
        defer { sched_setaffinity(0, UInt(size), all) }
        for number in 0..<size * 8 where all[number / 8] & 1 << (number % 8) != 0 {
            var one = [UInt8](repeating: 0, count: size)
            one[number / 8] = 1 << (number % 8)
            // One that was taken offline meanwhile has nothing to remember.
            guard sched_setaffinity(0, UInt(size), one) == 0 else { continue }
            try body()
        }
    }
}
