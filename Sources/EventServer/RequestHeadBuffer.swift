import EventCore
import NIOCore

/// The bytes that a client has sent, from which the heads of requests are taken.
struct RequestHeadBuffer {
    private var bytes = ByteBuffer()
    /// The number of bytes that cannot be the start of the head's end.
    private var searched = 0

    private static let end = Array("\r\n\r\n".utf8)

    var isEmpty: Bool { bytes.readableBytes == 0 }

    /// Whether there is more than a head may have; to be asked when there is no whole head.
    var isTooLong: Bool { bytes.readableBytes > RequestHead.maximumLength }

    mutating func append(_ received: ByteBuffer) { bytes.writeImmutableBuffer(received) }

    /// Takes out a whole head; nil if there is none, or it is too long.
    mutating func nextHead() -> [UInt8]? {
        let end = Self.end
        let view = bytes.readableBytesView
        let limit = min(view.count, RequestHead.maximumLength)
        var offset = searched
        while offset + end.count <= limit {
            if view[view.startIndex + offset] == end[0], view[(view.startIndex + offset)...].starts(with: end) {
                searched = 0
                let head = bytes.readBytes(length: offset + end.count)
                bytes.discardReadBytes()
                return head
            }
            offset += 1
        }
        searched = max(0, limit - end.count + 1)
        return nil
    }
}
