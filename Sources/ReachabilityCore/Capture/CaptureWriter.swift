/// Writes netlink captures for tcpdump and Wireshark: pcap in nanoseconds, `LINKTYPE_NETLINK`.
///
/// A file consists of the ``header`` and a ``record(at:_:protocol:type:)`` for each datagram.
package struct CaptureWriter: Sendable {
    /// The byte order of the file's numbers.
    package var byteOrder: ByteOrder

    /// The maximum number of bytes of a packet that readers accept: libpcap's limit.
    static let snapLength = 262_144

    /// Creates a writer; by default with this machine's byte order, which readers assume for the datagrams, too.
    package init(byteOrder: ByteOrder = .host) { self.byteOrder = byteOrder }

    /// The header of the file (pcap-savefile(5)).
    package var header: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(0xA1B2_3C4D as UInt32, in: byteOrder)
        bytes.append(2 as UInt16, in: byteOrder)
        bytes.append(4 as UInt16, in: byteOrder)
        bytes.append(0 as UInt64, in: byteOrder)
        bytes.append(UInt32(Self.snapLength), in: byteOrder)
        bytes.append(UInt32(CookedHeader.linkType), in: byteOrder)
        return bytes
    }

    /// Returns the record of a datagram.
    ///
    /// - Parameters:
    ///   - time: The time in nanoseconds since 1970-01-01 00:00 UTC, clamped to the years 1970 to 2106.
    ///   - datagram: The datagram; one that is too long for readers is truncated and marked as such.
    ///   - netlinkProtocol: The netlink family, such as ``NetlinkDecoder/route``.
    ///   - type: The direction of the datagram.
    /// - Returns: The bytes to append to the file.
    package func record(
        at time: Int64,
        _ datagram: some Collection<UInt8>,
        protocol netlinkProtocol: UInt16 = NetlinkDecoder.route,
        type: CapturePacketType = .outgoing
    ) -> [UInt8] {
        let kept = datagram.prefix(Self.snapLength - CookedHeader.size)
        let (seconds, fraction) = Self.split(time)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32 + kept.count)
        bytes.append(seconds, in: byteOrder)
        bytes.append(fraction, in: byteOrder)
        bytes.append(UInt32(CookedHeader.size + kept.count), in: byteOrder)
        bytes.append(UInt32(clamping: CookedHeader.size + datagram.count), in: byteOrder)
        bytes.append(type.rawValue, in: .big)
        bytes.append(CookedHeader.hardwareType, in: .big)
        bytes.append(contentsOf: repeatElement(0, count: 10))
        bytes.append(netlinkProtocol, in: .big)
        bytes.append(contentsOf: kept)
        return bytes
    }

    private static func split(_ time: Int64) -> (seconds: UInt32, fraction: UInt32) {
        let time = min(max(time, 0), Int64(UInt32.max) * 1_000_000_000 + 999_999_999)
        let (seconds, fraction) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        return (UInt32(seconds), UInt32(fraction))
    }
}
