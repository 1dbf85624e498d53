/// Writes captures of netlink that tcpdump and Wireshark read: pcap with nanoseconds, `LINKTYPE_NETLINK`.
///
/// A file is ``head``, then one ``record(at:_:protocol:type:)`` after the other.
public struct CaptureWriter: Sendable {
    /// The order of the file's numbers.
    public var byteOrder: ByteOrder

    /// The most bytes of a packet that readers take: libpcap's limit.
    static let snapLength = 262_144

    /// Makes a writer; by default for this machine's order, which readers take the datagrams to be in too.
    public init(byteOrder: ByteOrder = .host) { self.byteOrder = byteOrder }

    /// The head of the file (pcap-savefile(5)).
    public var head: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(0xA1B2_3C4D as UInt32, in: byteOrder)
        bytes.append(2 as UInt16, in: byteOrder)
        bytes.append(4 as UInt16, in: byteOrder)
        bytes.append(0 as UInt64, in: byteOrder)
        bytes.append(UInt32(Self.snapLength), in: byteOrder)
        bytes.append(UInt32(CookedHeader.linkType), in: byteOrder)
        return bytes
    }

    /// One record.
    ///
    /// - Parameters:
    ///   - time: Nanoseconds since 1970-01-01 00:00 UTC, up to 2106; outside of that, the nearest that the file holds.
    ///   - datagram: What was received or sent; what is longer than readers take is cut, and marked as cut.
    ///   - netlinkProtocol: The netlink family: ``NetlinkDecoder/route`` or another.
    ///   - type: Which way it went.
    /// - Returns: The bytes to append to the file.
    public func record(
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
