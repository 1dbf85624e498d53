import Glibc

/// Which rights new files are not given (umask(2)).
package enum CreationMask {
    /// The process's.
    ///
    /// Read from /proc/self/status (proc_pid_status(5)): umask(2) tells it only by changing it, and other threads make
    /// files too. Where that can't be read, none but the owner has rights.
    package static var current: UInt32 {
        guard let bytes = try? FileContents.read("/proc/self/status", atMost: 1 << 20) else { return 0o077 }
        return mask(in: String(decoding: bytes, as: UTF8.self)) ?? 0o077
    }

    /// What a status says; nil for nothing.
    package static func mask(in status: String) -> UInt32? {
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        guard let digits = line?.dropFirst("Umask:".count).drop(while: \.isWhitespace) else { return nil }
        return UInt32(digits, radix: 8)
    }
}
