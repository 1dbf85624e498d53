/// The content of an `RTM_NEWNDUSEROPT` message: options of a router advertisement that the kernel leaves to programs
/// (`include/uapi/linux/rtnetlink.h`, `struct nduseroptmsg`).
///
/// The kernel sends one message for each option, to the group `RTNLGRP_ND_USEROPT`, whenever an advertisement with it is
/// received; it keeps none of them.
package struct RouterOptionMessage: Sendable, Hashable {
    /// `nduseropt_ifindex`: the interface that received the advertisement.
    package var index: InterfaceIndex
    /// `NDUSEROPT_SRCADDR`: the router's link-local address; nil from kernels that do not tell it.
    package var router: IPAddress?
    /// The options that are decoded; not empty.
    package var options: [RouterOption]

    /// Creates a message.
    package init(index: InterfaceIndex, router: IPAddress?, options: [RouterOption]) {
        self.index = index
        self.router = router
        self.options = options
    }
}

/// An option of a router advertisement.
package enum RouterOption: Sendable, Hashable {
    /// The URI of the captive portal's API (RFC 8910, 2.3), as written; a network without a portal announces
    /// ``unrestrictedURI``.
    case captivePortal(String)
    /// The prefix of a translator for IPv4 destinations, and for how long it is valid (RFC 8781); zero withdraws it.
    case nat64(NAT64Prefix, lifetime: Duration)

    /// The URI of a network that has no captive portal (RFC 8910, 2).
    package static let unrestrictedURI = "urn:ietf:params:capport:unrestricted"
}

// MARK: - Decoding

extension RouterOptionMessage {
    /// `sizeof(struct nduseroptmsg)`.
    static let bodySize = 16

    /// Decodes the payload of an `RTM_NEWNDUSEROPT` message.
    ///
    /// Returns nil if it holds no option that is decoded.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        let isAdvertisement = body.byte(8, bytes) == ND.routerAdvertisement && body.byte(9, bytes) == 0
        guard body.byte(0, bytes) == AF.inet6, isAdvertisement else { return nil }
        let length = Int(body.load(2, bytes) as UInt16)
        try body.require(Self.bodySize + length)
        let start = body.start + Self.bodySize
        let options = try Self.options(.init(start: start, end: start + length, isForeign: false), bytes)
        guard !options.isEmpty else { return nil }
        let router = try Self.router(body.attributes(after: Self.bodySize + length), bytes)
        self.init(index: body.load(4, bytes), router: router, options: options)
    }

    private static func router(
        _ attributes: AttributeCursor,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> IPAddress? {
        var cursor = attributes
        var found: IPAddress?
        while let attribute = try cursor.next(bytes) {
            guard attribute.type == ND.sourceAddress else { continue }
            found = try attribute.address(.ipv6, bytes, "NDUSEROPT_SRCADDR")
        }
        return found
    }

    /// Decodes options in the form of RFC 4861, 4.6: type, length in units of 8 octets with these two, content.
    private static func options(_ region: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) -> [RouterOption] {
        var options: [RouterOption] = []
        var position = region.start
        while region.end - position >= 2 {
            let head = WireRegion(start: position, end: region.end, isForeign: false)
            let length = Int(head.byte(1, bytes)) * 8
            guard length > 0, length <= head.count else {
                let fault = NetlinkDecodeError.Fault.invalidEntryLength(
                    attribute: "nduseropt_opts",
                    length: UInt16(length),
                    available: head.count
                )
                throw .init(fault, at: position)
            }
            let option = WireRegion(start: position, end: position + length, isForeign: false)
            if let option = RouterOption(option, bytes) { options.append(option) }
            position += length
        }
        return options
    }
}

extension RouterOption {
    /// Decodes an option of which the length is checked; nil for other types, and for what the RFCs tell to ignore.
    fileprivate init?(_ option: WireRegion, _ bytes: RawSpan) {
        switch option.byte(0, bytes) {
        case ND.captivePortal: self.init(captivePortal: option, bytes)
        case ND.pref64: self.init(pref64: option, bytes)
        default: return nil
        }
    }

    /// The URI is padded with NULs; what is empty or not UTF-8 is no URI.
    private init?(captivePortal option: WireRegion, _ bytes: RawSpan) {
        let content = bytes.extracting(option.start + 2..<option.end).withUnsafeBytes { [UInt8]($0) }
        let end = content.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        guard end > 0, let text = String(validating: content[..<end], as: UTF8.self) else { return nil }
        self = .captivePortal(text)
    }

    /// 13 bits of lifetime in units of 8 seconds, 3 bits for the prefix length, and the first 96 bits of the prefix; a length
    /// other than 2, or an unknown prefix length, has the receiver ignore the option (RFC 8781, 4).
    private init?(pref64 option: WireRegion, _ bytes: RawSpan) {
        guard option.count == 16 else { return nil }
        let first = UInt16(option.byte(2, bytes)) << 8 | UInt16(option.byte(3, bytes))
        guard let length = ND.prefixLengths[first & 7] else { return nil }
        let bits = (4..<16).reduce(UInt128(0)) { $0 << 8 | UInt128(option.byte($1, bytes)) } << 32
        guard let prefix = NAT64Prefix(.init(.init(family: .ipv6, bits: bits), length: length)) else { return nil }
        self = .nat64(prefix, lifetime: .seconds(first & ~7))
    }
}

// MARK: - Encoding

extension RouterOptionMessage {
    /// Appends `struct nduseroptmsg`, the options and the router's address.
    func append(to builder: inout NetlinkMessageBuilder) {
        let content = options.flatMap(\.bytes)
        builder.append(bytes: [AF.inet6, 0])
        builder.append(UInt16(truncatingIfNeeded: content.count))
        builder.append(index)
        builder.append(bytes: [ND.routerAdvertisement, 0, 0, 0, 0, 0, 0, 0])
        builder.append(bytes: content)
        if let router { builder.attribute(ND.sourceAddress, router) }
    }
}

extension RouterOption {
    /// The option as an advertisement has it; empty for a URI that does not fit.
    fileprivate var bytes: [UInt8] {
        switch self {
        case .captivePortal(let text):
            let content = Array(text.utf8)
            let units = (content.count + 2 + 7) / 8
            guard units <= UInt8.max else { return [] }
            let padding = [UInt8](repeating: 0, count: units * 8 - 2 - content.count)
            return [ND.captivePortal, UInt8(units)] + content + padding
        case .nat64(let prefix, let lifetime):
            let seconds = UInt16(clamping: lifetime.components.seconds) & ~7
            let code = ND.prefixLengths.first { $0.value == prefix.prefix.length }?.key ?? 0
            let first = seconds | code
            let bits = (0..<12).map { UInt8(truncatingIfNeeded: prefix.prefix.address.bits >> UInt128(120 - 8 * $0)) }
            return [ND.pref64, 2, UInt8(first >> 8), UInt8(truncatingIfNeeded: first)] + bits
        }
    }
}

// MARK: - Numbers

/// `ND_OPT_*`, `NDUSEROPT_*` and ICMPv6 types (`icmpv6.h`, RFC 4861).
enum ND {
    /// The ICMPv6 type of a router advertisement.
    static let routerAdvertisement: UInt8 = 134
    /// `NDUSEROPT_SRCADDR`.
    static let sourceAddress: UInt16 = 1
    /// `ND_OPT_CAPTIVE_PORTAL`.
    static let captivePortal: UInt8 = 37
    /// `ND_OPT_PREF64`.
    static let pref64: UInt8 = 38
    /// The prefix lengths of PREF64 by their codes (RFC 8781, 4).
    static let prefixLengths: [UInt16: UInt8] = [0: 96, 1: 64, 2: 56, 3: 48, 4: 40, 5: 32]
}
