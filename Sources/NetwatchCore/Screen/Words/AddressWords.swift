import ReachabilityCore

/// Words for an interface's addresses.
enum AddressWords {
    /// IPv4 first, then IPv6, last what is link-local or on its way out; each group in the kernel's order.
    static func addresses(_ messages: [AddressMessage]) -> [String] {
        messages.enumerated()
            .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
            .map { text($0.element) }
    }

    private static func rank(_ message: AddressMessage) -> Int {
        if message.address.isLinkLocal { return 3 }
        if !message.flags.isDisjoint(with: [.deprecated, .duplicate, .tentative]) { return 2 }
        return message.address.family == .ipv4 ? 0 : 1
    }

    /// `192.0.2.2/24`, and what keeps it from being used.
    private static func text(_ message: AddressMessage) -> String {
        let flags: [(AddressFlags, String)] = [
            (.duplicate, "duplicate"), (.tentative, "tentative"), (.deprecated, "deprecated"),
        ]
        let word = flags.first { message.flags.contains($0.0) }.map { " " + $0.1 } ?? ""
        let peer = message.peer.map { " peer \($0)" } ?? ""
        return "\(message.address)\(peer)/\(message.prefixLength)\(word)"
    }
}
