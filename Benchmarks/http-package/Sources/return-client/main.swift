import ClientRun
import Glibc
import NetworkClient
import Reachability

// One request at a time that is made while the link is away: with a gate, or by the usual means without one.
//
// return-client URL gate|sleep|poll ROUNDS: says 'waiting' on stdout when a request waits, for return-driver to set the
// link up. 'sleep' tries again a second after each failure; 'poll' looks at the status every 100 ms.

let arguments = CommandLine.arguments
guard arguments.count == 4, let rounds = Int(arguments[3]) else { exit(64) }
let (url, strategy) = (arguments[1], arguments[2])
let monitor = ReachabilityMonitor.shared
let session = try HTTPSession(
    configuration: .init(gate: strategy == "gate" ? .waitsForConnectivity(nil) : .startsImmediately)
)

func make() async throws {
    switch strategy {
    case "sleep":
        while (try? await session.get(url).response()) == nil { try await Task.sleep(for: .seconds(1)) }
    case "poll":
        while monitor.status == .notReachable { try await Task.sleep(for: .milliseconds(100)) }
        _ = try await session.get(url).response()
    default:
        _ = try await session.get(url).response()
    }
}

for _ in 0..<rounds {
    try await monitor.wait(for: .notReachable)
    async let request: Void = make()
    tell("waiting")
    try await request
}
