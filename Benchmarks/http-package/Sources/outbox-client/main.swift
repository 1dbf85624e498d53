import Glibc
import NetworkClient
import Outbox

/// Says what is wrong, and ends.
func fail(_ text: String, _ code: Int32) -> Never {
    (text + "\n").withCString { if write(STDERR_FILENO, $0, strlen($0)) < 0 { exit(code) } }
    exit(code)
}

/// A line of /proc/self/status in KiB: VmRSS, or VmHWM for the maximum.
func memory(_ name: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split { $0 == ":" || $0.isWhitespace }
        if words.first.map(String.init) == name, words.count > 1 { return Int(words[1]) ?? 0 }
    }
    return 0
}

/// The seconds since a moment.
func seconds(since start: ContinuousClock.Instant) -> Double { start.duration(to: .now) / .seconds(1) }

/// Runs a closure for each number, in several tasks; returns the seconds.
func measure(_ count: Int, tasks: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
            group.addTask { for number in stride(from: task, to: count, by: tasks) { try await body(number) } }
        }
        try await group.waitForAll()
    }
    return seconds(since: start)
}

let usage = """
    usage: outbox-client add FOLDER COUNT TASKS URL | open FOLDER URL | drain FOLDER | send COUNT URL | first URL
    """
let arguments = Array(CommandLine.arguments.dropFirst())
let counts = ["add": 5, "open": 3, "drain": 2, "send": 3, "first": 2]
guard let command = arguments.first, counts[command] == arguments.count else { fail(usage, 64) }
let body = String(repeating: "x", count: 200)
let session = try HTTPSession(configuration: .init(maximumConnectionsPerHost: 64, proxy: .direct))

/// Opens the outbox of the second argument.
func open(sends: Bool) async throws -> Outbox {
    let configuration = Outbox.Configuration(maximumItems: 2_000_000, minimumFreeSpace: 0, sends: sends)
    return try await Outbox(at: arguments[1], session: session, configuration: configuration)
}

switch command {
case "add":
    guard let count = Int(arguments[2]), let tasks = Int(arguments[3]), tasks > 0 else { fail(usage, 64) }
    let outbox = try await open(sends: false)
    let rules = LaneOptions(order: .unordered(width: 64), confirmation: .any)
    let lane = outbox.lane("lane", to: arguments[4], rules)
    let duration = try await measure(count, tasks: tasks) { _ in try await lane.post("take", .text(body)) }
    // Items per second.
    print(Double(count) / duration)
    await outbox.shutdown()
case "open":
    let before = memory("VmRSS")
    let preparing = try await open(sends: false)
    // One item at a time, so that the first does not wait for others.
    try await preparing.lane("lane", to: arguments[2], .init(order: .ordered(isStrict: true), confirmation: .any))
        .update()
    await preparing.shutdown()
    let start = ContinuousClock.now
    let outbox = try await open(sends: true)
    let opened = seconds(since: start)
    for try await _ in outbox.outcomes { break }
    // Milliseconds until it is open, and until the first item is delivered; the KiB that this has cost.
    print(opened * 1_000, seconds(since: start) * 1_000, memory("VmRSS") - before)
    await outbox.shutdown()
    let again = try await open(sends: false)
    var left = try await again.statistics().outcomes
    for try await outcome in again.outcomes {
        try await outcome.acknowledge()
        left -= 1
        if left == 0 { break }
    }
    await again.shutdown()
case "drain":
    let start = ContinuousClock.now
    let outbox = try await open(sends: true)
    let count = try await outbox.statistics().items
    while try await outbox.statistics().items > 0 { try await Task.sleep(for: .milliseconds(20)) }
    // Requests per second, KiB at most.
    print(Double(count) / seconds(since: start), memory("VmHWM"))
    await outbox.shutdown()
case "first":
    let before = memory("VmRSS")
    _ = try await session.post(arguments[1], body: .text(body)).response()
    // The KiB that the session's first request has cost.
    print(memory("VmRSS") - before)
default:
    guard let count = Int(arguments[1]) else { fail(usage, 64) }
    let duration = try await measure(count, tasks: 64) { number in
        let options = RequestOptions(idempotencyKey: .custom("\"key-\(number)\""))
        _ = try await session.post(arguments[2], body: .text(body), options: options).response()
    }
    print(Double(count) / duration, memory("VmHWM"))
}
