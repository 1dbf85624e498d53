package import ReachabilityCore

/// An input of those targets that decode netlink: a byte that says how to read, and what is to be read.
package struct FuzzInput {
    /// How the input wants to be read.
    package let decoder: NetlinkDecoder
    /// What is to be read, bounded as libFuzzer allocated it, so that a step past its end is found.
    package let payload: UnsafeRawBufferPointer

    /// Splits an input; an empty one is an empty datagram.
    package init(_ input: UnsafeRawBufferPointer) {
        let options = input.first ?? 0
        decoder = NetlinkDecoder(
            byteOrder: options & 1 == 0 ? .little : .big,
            protocolNumber: Self.protocolNumber(options),
            defaultLikeRoutesOnly: options & 4 != 0,
            families: Self.families
        )
        payload = UnsafeRawBufferPointer(rebasing: input.dropFirst())
    }

    /// The numbers that the seeds have for the families of generic netlink.
    package static let families: GenericFamilies = {
        var families = GenericFamilies()
        families.note(.init(name: "nl80211", id: 0x1C))
        families.note(.init(name: "wireguard", id: 0x1D))
        return families
    }()

    private static func protocolNumber(_ options: UInt8) -> UInt16 {
        switch (options & 2, options & 8) {
        case (0, 0): NetlinkDecoder.route
        case (0, _): NetlinkDecoder.generic
        default: NetlinkDecoder.uevent
        }
    }
}
