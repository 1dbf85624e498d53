import Glibc
package import LinuxSystem

/// Reads whole files into memory.
package enum FileContents {
    /// The bytes of a file (open(2), read(2)).
    ///
    /// - Throws: The errno; `EFBIG` for a file that is larger than the limit.
    package static func read(_ path: String, atMost limit: Int = .max) throws(SystemError) -> [UInt8] {
        let descriptor = try retryingOnInterrupt { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
        defer { close(descriptor) }
        return try contents(of: descriptor, limit)
    }

    /// The bytes of stdin, up to its end.
    ///
    /// - Throws: As ``read(_:atMost:)``.
    package static func readStandardInput(atMost limit: Int = .max) throws(SystemError) -> [UInt8] {
        try contents(of: STDIN_FILENO, limit)
    }

    /// The bytes of a line of stdin, without its end.
    ///
    /// They are read one by one, so that what follows is left for others.
    ///
    /// - Throws: As ``read(_:atMost:)``.
    package static func readStandardInputLine(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var (line, byte) = ([UInt8](), UInt8(0))
        while true {
            let count = try retryingOnInterrupt { Glibc.read(STDIN_FILENO, &byte, 1) }
            guard count == 1, byte != UInt8(ascii: "\n") else { return line }
            guard line.count < limit else { throw .init(code: EFBIG) }
            line.append(byte)
        }
    }

    private static func contents(of descriptor: Int32, _ limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try retryingOnInterrupt { Glibc.read(descriptor, &buffer, buffer.count) }
            guard count > 0 else { return bytes }
            guard bytes.count <= limit - count else { throw .init(code: EFBIG) }
            bytes += buffer[..<count]
        }
    }
}

/// The permissions that new files do not get (umask(2)).
package enum CreationMask {
    /// The process's.
    ///
    /// Read from /proc/self/status (proc_pid_status(5)): umask(2) returns it only by changing it, and other threads make
    /// files too. Where that cannot be read, none but the owner has rights.
    package static var current: UInt32 {
        guard let bytes = try? FileContents.read("/proc/self/status", atMost: 1 << 20) else { return 0o077 }
        return mask(in: String(decoding: bytes, as: UTF8.self)) ?? 0o077
    }

    /// Returns the mask in a status file; nil if there is none.
    package static func mask(in status: String) -> UInt32? {
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        guard let digits = line?.dropFirst("Umask:".count).drop(while: \.isWhitespace) else { return nil }
        return UInt32(digits, radix: 8)
    }
}
