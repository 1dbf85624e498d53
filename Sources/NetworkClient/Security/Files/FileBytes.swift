import Glibc

/// Reads small files, those that certificates and keys are in.
enum FileBytes {
    /// The largest file that is read: no bundle of certificates comes near.
    static let limit = 16 << 20

    /// The bytes of a file, which has to be smaller than ``limit``.
    static func read(_ path: String) throws(HTTPError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            let part = try readPart(of: descriptor, path)
            guard !part.isEmpty else { return bytes }
            bytes += part
            guard bytes.count <= limit else {
                throw .badCertificate("\(path) is larger than 16 MiB: give a file of certificates or a key")
            }
        }
    }

    /// The next bytes; none at the end of the file.
    private static func readPart(of descriptor: Int32, _ path: String) throws(HTTPError) -> [UInt8] {
        var problem: Int32 = 0
        let part = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            var result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            while result < 0, errno == EINTR { result = Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
            if result < 0 { problem = errno }
            count = max(result, 0)
        }
        guard problem == 0 else { throw unreadable(path, problem) }
        return part
    }

    private static func unreadable(_ path: String, _ number: Int32) -> HTTPError {
        let words = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        return HTTPError(
            .invalidConfiguration,
            .neverSent,
            "\(path) can't be read: \(words)",
            errno: number
        )
    }
}
