import CZlib

/// Compression formats.
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

/// One gzip member of a block over and over, compressed piece by piece, so that the whole is never in memory.
final class RepeatedBlockGzip {
    private var block: [UInt8]
    private var blocksLeft: Int
    /// Stays where it is: zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes one of a block that is repeated `count` times.
    init(_ block: [UInt8], count: Int) {
        self.block = block
        blocksLeft = count
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        netwatch_deflate_init(stream, 1, Wrapping.gzip.rawValue)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Returns what the next block adds, which may be nothing; nil after the last.
    func next() -> [UInt8]? {
        guard blocksLeft > 0 else { return nil }
        blocksLeft -= 1
        var output = [UInt8](repeating: 0, count: Int(deflateBound(stream, uLong(block.count))) + 1_024)
        let count = block.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.pointee.next_in = source.baseAddress
                stream.pointee.avail_in = uInt(source.count)
                stream.pointee.next_out = target.baseAddress
                stream.pointee.avail_out = uInt(target.count)
                deflate(stream, blocksLeft == 0 ? Z_FINISH : Z_NO_FLUSH)
                return target.count - Int(stream.pointee.avail_out)
            }
        }
        return Array(output.prefix(count))
    }
}
