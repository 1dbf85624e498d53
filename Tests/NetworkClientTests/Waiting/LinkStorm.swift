import Glibc
import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab

/// A link that goes down and up at random times.
struct LinkStorm {
    /// NETWATCH_FLAPS: the number of outages.
    static let flaps = number("NETWATCH_FLAPS") ?? 25
    /// NETWATCH_SEED: the seed of the random numbers.
    static let seed = UInt64(number("NETWATCH_SEED") ?? 1)

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    /// Takes the link down and up a number of times, with every kind of ``Outage``.
    ///
    /// It is there for up to 100 ms, and away for up to 40 ms; one time in four for up to 300 ms, since an address may
    /// be away for 100 ms without consequence.
    func rage(over lab: UplinkLab) async throws {
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<Self.flaps {
            let outage = Outage.allCases.randomElement(using: &generator) ?? .linkDown
            try await pause(.random(in: 0..<100_000, using: &generator))
            try lab.begin(outage)
            let isLong = Int.random(in: 0..<4, using: &generator) == 0
            try await pause(.random(in: 0..<(isLong ? 300_000 : 40_000), using: &generator))
            try lab.end(outage)
        }
    }

    private func pause(_ microseconds: Int64) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await loop.scheduleTask(in: .microseconds(microseconds)) {}.futureResult.get()
    }
}
