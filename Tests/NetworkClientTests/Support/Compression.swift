import CZlib

/// How a test compresses.
enum Wrapping: Int32, CaseIterable {
    /// A gzip member.
    case gzip = 31
    /// A zlib stream.
    case zlib = 15
    /// Bare deflate data.
    case bare = -15
}

/// Compresses with zlib's own deflate.
func compressed(_ bytes: [UInt8], _ wrapping: Wrapping = .gzip, level: Int32 = 9) -> [UInt8] {
    var stream = z_stream()
    netwatch_deflate_init(&stream, level, wrapping.rawValue)
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))) + 32)
    return input.withUnsafeMutableBufferPointer { source in
        output.withUnsafeMutableBufferPointer { target in
            stream.next_in = source.baseAddress
            stream.avail_in = uInt(source.count)
            stream.next_out = target.baseAddress
            stream.avail_out = uInt(target.count)
            deflate(&stream, Z_FINISH)
            return Array(target.prefix(Int(stream.total_out)))
        }
    }
}
