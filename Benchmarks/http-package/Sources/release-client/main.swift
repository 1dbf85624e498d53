import ClientRun
import Glibc
import NetworkClient
import Reachability
import Synchronization

// Requests that waited through an outage, let out to a server that refuses above a number: by the session's gate and
// scheduler; or by the same session without a gate as soon as the path is back, all at once or doubling with each
// response.
//
// release-client URL gate|all|doubling REQUESTS: says 'ready' on stdout once all wait; then prints how many failed, and
// the seconds from the path's return to the last response.

/// Lets one more go with each response.
actor Doubling {
    private var free = 1
    private var line: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { line.append($0) }
    }

    func leave(well: Bool) {
        free += well ? 2 : 1
        while free > 0, let first = line.popLast() {
            free -= 1
            first.resume()
        }
    }
}

/// The moments that count.
final class Moments: Sendable {
    let back = Atomic(0)
    let last = Atomic(0)
    let failed = Atomic(0)
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[3]) else { exit(64) }
let (url, strategy) = (arguments[1], arguments[2])
let monitor = ReachabilityMonitor.shared
try await monitor.wait(for: .notReachable)
let moments = Moments()
let subscription = monitor.subscribe(on: .immediate) { change in
    if change.status != .notReachable, change.previous != nil {
        _ = moments.back.compareExchange(expected: 0, desired: nanoseconds(), ordering: .relaxed)
    }
}
let session = try HTTPSession(
    configuration: .init(
        timeouts: .init(connect: .seconds(600), firstByte: .seconds(600)),
        maximumConnectionsPerHost: 100_000,
        gate: strategy == "gate" ? .waitsForConnectivity(nil) : .startsImmediately,
        retry: .standard
    )
)
let doubling = Doubling()

func make() async {
    if strategy != "gate" { _ = try? await monitor.wait(for: .reachable) }
    if strategy == "doubling" { await doubling.enter() }
    let isWell = (try? await session.get(url).response().head.status.code == 200) ?? false
    if strategy == "doubling" { await doubling.leave(well: isWell) }
    if isWell {
        moments.last.store(nanoseconds(), ordering: .relaxed)
    } else {
        moments.failed.add(1, ordering: .relaxed)
    }
}

await withTaskGroup(of: Void.self) { group in
    for _ in 0..<count { group.addTask { await make() } }
    // Those that wait say nothing; after this long all do.
    try? await Task.sleep(for: .seconds(2))
    tell("ready")
}
let seconds = Double(moments.last.load(ordering: .relaxed) - moments.back.load(ordering: .relaxed)) / 1e9
tell("\(moments.failed.load(ordering: .relaxed)) \(seconds)")
subscription.cancel()
