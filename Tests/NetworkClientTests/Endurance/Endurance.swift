import Glibc
import HTTPLab
import NetworkClient

/// How much is done: enough for a test in the suite, and as much as one likes by environment variable.
enum Endurance {
    /// NETWATCH_CANCELS: how many requests are cancelled.
    static let cancels = number("NETWATCH_CANCELS", or: 1500)
    /// NETWATCH_REQUESTS: how many requests are made one after the other and beside each other.
    static let requests = number("NETWATCH_REQUESTS", or: 4000)
    /// NETWATCH_DOWNLOAD_MIB: how large a large download is, in MiB; here in bytes.
    static let downloadSize = number("NETWATCH_DOWNLOAD_MIB", or: 256) << 20
    /// NETWATCH_SEED: what chance begins with.
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
