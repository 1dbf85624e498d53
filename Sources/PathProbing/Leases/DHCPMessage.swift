import ReachabilityCore

extension DHCPLease {
    /// Decodes a DHCP message (RFC 2131, 2), which dhcpcd stores as it was received.
    ///
    /// - Parameters:
    ///   - message: The content of `/var/lib/dhcpcd/NAME.lease`.
    ///   - start: When it was received, in seconds since 1970.
    package init?(message: [UInt8], from start: Int64) {
        guard message.count >= Self.optionsOffset, message.count <= Self.maximumLength, message[0] == Self.isReply
        else {
            return nil
        }
        guard message[Self.cookieOffset..<Self.optionsOffset].elementsEqual(Self.cookie) else { return nil }
        let address = IPAddress(ipv4: Self.number(message[16..<20]))
        guard var options = Self.options(message[Self.optionsOffset...]) else { return nil }
        let overload = options[Self.overloadOption]?.first ?? 0
        for (bit, field) in Self.overloadedFields where overload & bit != 0 {
            // Some servers set the option, and still write a name there.
            guard let others = Self.options(message[field]) else { continue }
            options.merge(others) { $0 + $1 }
        }
        let time = options[Self.leaseTimeOption].flatMap { $0.count == 4 ? Int64(Self.number($0[...])) : nil }
        let url = options[Self.portalOption].flatMap { String(validating: Self.text($0), as: UTF8.self) }
        self.init(address: address, end: Self.end(after: start, time), portalURL: url)
    }

    /// `BOOTREPLY`.
    private static let isReply: UInt8 = 2
    /// The offset of the magic cookie (RFC 2131, 3), which options follow.
    private static let cookieOffset = 236
    private static let optionsOffset = 240
    private static let cookie: [UInt8] = [0x63, 0x82, 0x53, 0x63]
    /// `IP Address Lease Time` (RFC 2132, 9.2).
    private static let leaseTimeOption: UInt8 = 51
    /// `Option Overload` (RFC 2132, 9.3).
    private static let overloadOption: UInt8 = 52
    /// The bits of its value, and the fields that hold further options: `file`, then `sname` (RFC 3396, 5).
    private static let overloadedFields: [(UInt8, Range<Int>)] = [(1, 108..<236), (2, 44..<108)]
    /// `Pad` and `End` (RFC 2132, 3.1 and 3.2).
    private static let padOption: UInt8 = 0
    private static let endOption: UInt8 = 255

    /// Returns the bytes of a text without NULs at its end, which some servers send (RFC 2132, 2).
    private static func text(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.lastIndex { $0 != 0 }.map { bytes[...$0] } ?? []
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    /// Returns the options by their codes; nil if one does not fit.
    ///
    /// The parts of an option that is repeated belong together (RFC 3396).
    private static func options(_ bytes: ArraySlice<UInt8>) -> [UInt8: [UInt8]]? {
        var found: [UInt8: [UInt8]] = [:]
        var rest = bytes
        while let code = rest.popFirst(), code != endOption {
            guard code != padOption else { continue }
            guard let length = rest.popFirst(), rest.count >= Int(length) else { return nil }
            found[code, default: []] += rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
        }
        return found
    }
}
