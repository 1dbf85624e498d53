import Glibc

/// Has a client make requests, so many at a time, and prints what that took.
///
/// Called as: CLIENT URL IN-FLIGHT REQUESTS. Prints requests per second, CPU microseconds a request, and allocations a
/// request (with `count-allocations.so` preloaded, else -1); the first tenth, at least 100, warms up and is not
/// counted.
public struct ClientRun: Sendable {
    /// The request.
    public let url: String
    /// How many requests are made at a time.
    public let inFlight: Int
    private let requests: Int

    /// Reads the arguments.
    public init() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let inFlight = Int(arguments[2]), let requests = Int(arguments[3]) else {
            let usage = "usage: \(arguments[0]) URL IN-FLIGHT REQUESTS\n"
            _ = usage.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            exit(64)
        }
        (url, self.inFlight, self.requests) = (arguments[1], inFlight, requests)
    }

    /// Runs it.
    ///
    /// - Parameter request: Makes one request, and gives the length of the response's body.
    /// - Throws: What a request throws.
    public func run(_ request: @escaping @Sendable () async throws -> Int) async throws {
        try await make(max(100, requests / 10), request)
        let before = Reading()
        try await make(requests, request)
        let after = Reading()
        let seconds = Double(after.wall - before.wall) / 1e9
        let count = Double(requests)
        let allocations = before.allocations < 0 ? -1 : Double(after.allocations - before.allocations) / count
        print(count / seconds, Double(after.cpu - before.cpu) / 1e3 / count, allocations)
    }

    private func make(_ count: Int, _ request: @escaping @Sendable () async throws -> Int) async throws {
        let share = count / inFlight
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    for _ in 0..<share {
                        let length = try await request()
                        guard length == 1_024 else { throw UnexpectedLength(length: length) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private struct UnexpectedLength: Error { var length: Int }

    /// The times and counters of a run.
    private struct Reading {
        let wall = nanoseconds()
        let cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
        let allocations = allocationCount()
    }
}
