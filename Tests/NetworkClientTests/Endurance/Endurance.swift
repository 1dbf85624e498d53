import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import Testing

/// The amount of work: enough for a test in the suite, and more by environment variables.
enum Endurance {
    /// NETWATCH_CANCELS: the number of cancelled requests.
    static let cancels = number("NETWATCH_CANCELS", or: 1500)
    /// NETWATCH_REQUESTS: the number of sequential and concurrent requests.
    static let requests = number("NETWATCH_REQUESTS", or: 4000)
    /// NETWATCH_HTTP2_REQUESTS: the number of requests over HTTP/2 that are cancelled, or whose connections end.
    static let multiplexedRequests = number("NETWATCH_HTTP2_REQUESTS", or: 3000)
    /// NETWATCH_DOWNLOAD_MIB: how large a large download is, in MiB, decompressed; here in bytes.
    static let downloadSize = number("NETWATCH_DOWNLOAD_MIB", or: 256) << 20
    /// NETWATCH_SEED: the seed of the random numbers.
    static let seed = UInt64(number("NETWATCH_SEED", or: 1))

    private static func number(_ name: String, or standard: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? standard
    }

    /// Returns the peak resident memory of this process, in bytes: VmHWM of proc_pid_status(5).
    static func peakMemory() throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").dropFirst().first { Int($0) != nil }.flatMap { Int($0) }) << 10
    }

    /// An nginx with files of some sizes.
    static func nginx(_ options: Nginx.Options = .init()) throws -> Nginx {
        let nginx = try Nginx(options)
        try nginx.files.write("small.txt", String(repeating: "x", count: 1000))
        try nginx.files.write("large.bin", [UInt8](repeating: 0x61, count: 1_000_000))
        return nginx
    }
}
