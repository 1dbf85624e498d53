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

    /// An nginx with files of some sizes.
    static func nginx(_ options: Nginx.Options = .init()) throws -> Nginx {
        let nginx = try Nginx(options)
        try nginx.files.write("small.txt", String(repeating: "x", count: 1000))
        try nginx.files.write("large.bin", [UInt8](repeating: 0x61, count: 1_000_000))
        return nginx
    }
}
