extension SocketFilter {
    /// Drops the uevents of interfaces that no device stands behind.
    ///
    /// Each begins with `ACTION@/devices/…`; those of veth, bridges, tunnels and their like, and of their queues, lie
    /// under `/devices/virtual/net/`. Their kind is in `IFLA_INFO_KIND`, and a thousand containers make thousands.
    static let uevents: SocketFilter = {
        var filter = SocketFilter()
        for length in actionLengths { filter.appendDrop(ofVirtualInterfacesAt: length) }
        filter.append(.accept)
        return filter
    }()

    /// The lengths of `add`; `move`, `bind`; `remove`, `change`, `online`, `unbind`; `offline`.
    private static let actionLengths: [UInt32] = [3, 4, 6, 7]

    /// As many whole words of `/devices/virtual/net/` as there are; what is left is its last slash.
    private static let path: [UInt32] = [0x2F64_6576, 0x6963_6573, 0x2F76_6972, 0x7475_616C, 0x2F6E_6574]

    private static let at: UInt32 = 0x40

    private mutating func appendDrop(ofVirtualInterfacesAt offset: UInt32) {
        let compared = UInt8(2 * Self.path.count)
        append(.loadByte(offset), .ifEqual(Self.at, 0, else: compared + 2))
        for (position, word) in Self.path.enumerated() {
            let behind = compared - 2 * UInt8(position + 1)
            append(.loadWord(offset + 1 + 4 * UInt32(position)), .ifEqual(word, 0, else: behind + 1))
        }
        append(.drop, .accept)
    }
}
