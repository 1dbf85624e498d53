public import ReachabilityCore

/// An input of those targets that decode netlink: a byte that says how to read, and what is to be read.
public struct FuzzInput {
    /// How the input wants to be read.
    public let decoder: NetlinkDecoder
    /// What is to be read, bounded as libFuzzer allocated it, so that a step past its end is found.
    public let payload: UnsafeRawBufferPointer

    /// Splits an input; an empty one is an empty datagram.
    public init(_ input: UnsafeRawBufferPointer) {
        let options = input.first ?? 0
        decoder = NetlinkDecoder(
            byteOrder: options & 1 == 0 ? .little : .big,
            protocolNumber: options & 2 == 0 ? NetlinkDecoder.route : NetlinkDecoder.uevent,
            defaultLikeRoutesOnly: options & 4 != 0
        )
        payload = UnsafeRawBufferPointer(rebasing: input.dropFirst())
    }
}
