extension NetlinkDecoder {
    /// The byte order in which a datagram's first message has a length that it can have; nil if none, or both, do.
    ///
    /// A capture's own byte order is that of the program that wrote the file, which may have run elsewhere.
    public static func byteOrder(of bytes: RawSpan) -> ByteOrder? {
        guard bytes.byteCount >= NetlinkHeader.size else { return nil }
        let length = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
        let possible = NetlinkHeader.size...bytes.byteCount
        let isNative = possible.contains(Int(length))
        guard isNative != possible.contains(Int(length.byteSwapped)) else { return nil }
        return isNative ? .host : .host.opposite
    }
}
