/// The order in which a machine lays the bytes of an integer in memory.
///
/// Netlink messages are in the order of the machine that wrote them; a capture from another machine may have the other.
public enum ByteOrder: Sendable, Hashable, CaseIterable {
    /// Least significant byte first.
    case little
    /// Most significant byte first.
    case big

    /// The order of the machine that this program was built for.
    public static var host: Self {
        #if _endian(little)
        .little
        #else
        .big
        #endif
    }

    /// The other order.
    var opposite: Self { self == .little ? .big : .little }
}
