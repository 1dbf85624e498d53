import Glibc
import NetworkLab

/// A file that is removed with this object.
package final class TemporaryFile {
    package let path: String

    /// Makes a file with the given bytes.
    package init(_ bytes: [UInt8] = []) throws {
        var template = Array("/tmp/netwatch-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw LabError("mkstemp", errno: errno) }
        defer { close(descriptor) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try LineOutputWriter.write(bytes, to: descriptor)
    }

    deinit { unlink(path) }
}

/// Writes all of some bytes.
package enum LineOutputWriter {
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw LabError("write", errno: errno) }
            rest = rest.dropFirst(count)
        }
    }
}
