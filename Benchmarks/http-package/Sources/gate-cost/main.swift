import ClientRun
import Glibc
import NetworkClient
import Reachability

// What a gate costs a request while the network is there: the same requests through a session with a gate and through
// one without, in turn, one at a time.
//
// gate-cost URL BLOCKS REQUESTS: prints, for a session without and for one with a gate, the median nanoseconds of CPU
// and of time a request over so many blocks of so many requests, the median of the differences between neighbouring
// blocks, and the allocations a request (with count-allocations.so preloaded).

struct Cost {
    var time: Double
    var cpu: Double
    var allocations: Double
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

let arguments = CommandLine.arguments
guard arguments.count == 4, let blocks = Int(arguments[2]), let requests = Int(arguments[3]) else { exit(64) }
let url = arguments[1]
try await ReachabilityMonitor.shared.wait(for: .reachable)
let plain = try HTTPSession()
let gated = try HTTPSession(configuration: .init(gate: .waitsForConnectivity(.seconds(60))))

func block(_ session: HTTPSession) async throws -> Cost {
    let start = (nanoseconds(), nanoseconds(CLOCK_PROCESS_CPUTIME_ID), allocationCount())
    for _ in 0..<requests { _ = try await session.get(url).response() }
    let end = (nanoseconds(), nanoseconds(CLOCK_PROCESS_CPUTIME_ID), allocationCount())
    let count = Double(requests)
    return Cost(
        time: Double(end.0 - start.0) / count,
        cpu: Double(end.1 - start.1) / count,
        allocations: Double(end.2 - start.2) / count
    )
}

_ = try await (block(plain), block(gated))
var costs: (plain: [Cost], gated: [Cost]) = ([], [])
for number in 0..<blocks {
    // The second finds warmer caches: each is first in turn.
    if number.isMultiple(of: 2) {
        costs.plain.append(try await block(plain))
        costs.gated.append(try await block(gated))
    } else {
        costs.gated.append(try await block(gated))
        costs.plain.append(try await block(plain))
    }
}

func row(_ name: String, _ values: [Cost]) -> String {
    "\(name) time \(median(values.map(\.time)).rounded()) cpu \(median(values.map(\.cpu)).rounded()) "
        + "allocations \(median(values.map(\.allocations)))"
}

print(row("without", costs.plain))
print(row("with", costs.gated))
let pairs = zip(costs.gated, costs.plain).map { gated, plain in
    Cost(
        time: gated.time - plain.time,
        cpu: gated.cpu - plain.cpu,
        allocations: gated.allocations - plain.allocations
    )
}
print(row("more", pairs))
