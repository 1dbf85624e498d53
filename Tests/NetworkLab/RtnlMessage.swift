import Glibc
package import ReachabilityCore

/// One message from the kernel, whole, with what is needed to match it to its request.
package struct RtnlMessage: Sendable {
    /// The message with its header.
    package let bytes: [UInt8]

    /// `nlmsg_type`.
    package var type: UInt16 { load(4) }
    /// `nlmsg_flags`.
    package var flags: NetlinkFlags { .init(rawValue: load(6)) }
    /// `nlmsg_seq`.
    package var sequence: UInt32 { load(8) }

    /// The event that the project's decoder returns.
    package func event() throws(LabError) -> KernelEvent {
        var result: KernelEvent?
        do {
            try NetlinkDecoder().decode(bytes.span.bytes) { result = $1 }
        } catch {
            throw LabError("decode a message of type \(type): \(error)", errno: EBADMSG)
        }
        return result ?? .ignored
    }

    /// The errno of `NLMSG_ERROR` or `NLMSG_DONE`, 0 for success; nil for any other message.
    var errno: Int32? {
        guard type == NLMSG.error || type == NLMSG.done else { return nil }
        guard bytes.count >= NetlinkHeader.size + 4 else { return 0 }
        return -Int32(bitPattern: load(NetlinkHeader.size))
    }

    /// `NLMSGERR_ATTR_MSG`: the kernel's own message (`NETLINK_EXT_ACK`).
    var errorText: String? {
        guard type == NLMSG.error, flags.contains(.extendedAcknowledge) else { return nil }
        var position = NetlinkHeader.size + 4 + NetlinkHeader.size
        while position + 4 <= bytes.count {
            let length = Int(load(position) as UInt16)
            guard length >= 4, position + length <= bytes.count else { return nil }
            if load(position + 2) as UInt16 == NLMSGERR.message {
                return String(decoding: bytes[position + 4..<position + length].prefix { $0 != 0 }, as: UTF8.self)
            }
            position += (length + 3) & ~3
        }
        return nil
    }

    /// Splits a datagram into its messages.
    static func split(_ datagram: [UInt8]) -> [RtnlMessage] {
        var rest = datagram[...]
        var messages: [RtnlMessage] = []
        while rest.count >= NetlinkHeader.size {
            let length = Int(rest.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
            guard length >= NetlinkHeader.size, length <= rest.count else { break }
            messages.append(.init(bytes: Array(rest.prefix(length))))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return messages
    }

    private func load<Value: FixedWidthInteger>(_ offset: Int) -> Value {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
    }
}
