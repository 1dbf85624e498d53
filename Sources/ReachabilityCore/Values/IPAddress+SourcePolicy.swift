/// What the rules of source selection ask of an IPv6 address.
extension IPAddress {
    /// `__ipv6_addr_src_scope`: 2 for the link, 5 for the site, 14 for the world.
    ///
    /// The loopback address counts as one of the link (RFC 6724, 3.4).
    var ipv6Scope: UInt8 {
        if bits == 1 { return 2 }
        switch bits >> 118 {
        case 0x3FA: return 2
        case 0x3FB: return 5
        default: return 14
        }
    }

    /// Loopback, IPv4-mapped and IPv4-compatible addresses count as preferred whatever their flags.
    var isAlwaysPreferred: Bool { bits >> 32 == 0 || isIPv4Mapped }

    /// ::ffff:0:0/96.
    var isIPv4Mapped: Bool { bits >> 32 == 0xFFFF }

    /// 2001:10::/28 (RFC 4843).
    var isORCHID: Bool { bits >> 100 == 0x200_1001 }

    /// The label of the default policy table (RFC 6724, 2.1, as `net/ipv6/addrlabel.c` has it).
    ///
    /// A table that was changed with ip-addrlabel(8) is not read.
    var policyLabel: UInt8 {
        let first = UInt16(truncatingIfNeeded: bits >> 112)
        switch first {
        case 0: return lowLabel
        case 0x2001: return teredoOrORCHIDLabel
        case 0x2002: return 2
        case 0x3FFE: return 12
        case 0xFC00...0xFDFF: return 5
        case 0xFEC0...0xFEFF: return 11
        default: return 1
        }
    }

    /// ::1, ::ffff:0:0/96 and ::/96.
    private var lowLabel: UInt8 {
        if bits == 1 { return 0 }
        switch bits >> 32 {
        case 0: return 3
        case 0xFFFF: return 4
        default: return 1
        }
    }

    /// 2001::/32 and 2001:10::/28.
    private var teredoOrORCHIDLabel: UInt8 {
        if bits >> 96 == 0x2001_0000 { return 6 }
        return isORCHID ? 7 : 1
    }
}
