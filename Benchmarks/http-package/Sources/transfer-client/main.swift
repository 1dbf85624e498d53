import Glibc
import NetworkClient

/// Says what is wrong, and ends.
func fail(_ text: String, _ code: Int32) -> Never {
    (text + "\n").withCString { if write(STDERR_FILENO, $0, strlen($0)) < 0 { exit(code) } }
    exit(code)
}

// transfer-client down URL FILE | transfer-client up URL FILE
guard CommandLine.arguments.count == 4 else {
    fail("usage: transfer-client down|up URL FILE", 64)
}
let (direction, url, path) = (CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])
let http2: HTTP2Policy = getenv("NETWATCH_BENCH_HTTP2") == nil ? .automatic : .priorKnowledge
let session = try HTTPSession(configuration: .init(timeouts: .init(total: .seconds(600)), http2: http2))
let clock = ContinuousClock()
let start = clock.now
var count: Int64 = 0
if direction == "down" {
    count = try await session.download(url, to: path, options: .init(isSynced: false)).response().file.size
} else {
    let response = try await session.put(url, body: .file(path)).response()
    guard (200...299).contains(response.status) else {
        fail("the server answered \(response.status)", 1)
    }
    count = Int64(response.metrics.bodyBytesSent)
}
let time = start.duration(to: clock.now)
var usage = rusage()
getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
let cpu = Double(seconds) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
// Bytes, seconds of the transfer, seconds of processor time of the whole process, KiB resident at most.
print(count, time / .seconds(1), cpu, usage.ru_maxrss)
