import CommandLineSupport
import NetwatchCore
import ReachabilityCore

/// The destination of a trace, and the link of one that is link-local.
struct TraceHost: Hashable {
    /// The host.
    var host: Host
    /// The zone of a link-local address (RFC 4007): the name or the number of an interface.
    var zone: String?

    /// The given text, without the zone.
    var text: String {
        switch host {
        case .address(let address): address.description
        case .name(let name): name
        }
    }
}

/// Reads the destination of a trace.
enum TraceHostArgument {
    /// Reads an address, also with a zone, or a name.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> TraceHost {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        let parts = bare.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, let address = IPAddress(parts[0]) { return try link(address, zone: parts[1]) }
        let host = try HostArgument.parse(text)
        if case .address(let address) = host { try check(address) }
        return .init(host: host)
    }

    private static func link(_ address: IPAddress, zone: String) throws(ArgumentError) -> TraceHost {
        guard address.family == .ipv6, address.isLinkLocal else {
            throw .init("only link-local IPv6 addresses have a zone; leave it out")
        }
        guard !zone.isEmpty else { throw .init("the zone is empty; write fe80::1%eth0") }
        return .init(host: .address(address), zone: zone)
    }

    private static func check(_ address: IPAddress) throws(ArgumentError) {
        guard !address.isMulticast, !address.isUnspecified else {
            throw .init("it is the address of no single host; give one such as 192.0.2.7")
        }
    }
}

/// Reads whole numbers within limits.
enum NumberArgument {
    /// Reads the largest number of hops.
    static func hops(_ text: String) throws(ArgumentError) -> Int {
        try parse(text, TraceSettings.hopLimits)
    }

    /// Reads a port.
    static func port(_ text: String) throws(ArgumentError) -> UInt16 {
        UInt16(try parse(text, 1...65535))
    }

    /// Reads the size of a probe.
    static func size(_ text: String) throws(ArgumentError) -> Int { try parse(text, TraceSettings.sizes) }

    private static func parse(_ text: String, _ limits: ClosedRange<Int>) throws(ArgumentError) -> Int {
        guard !text.isEmpty, text.allSatisfy(\.isASCIIDigit), let number = Int(text), limits.contains(number) else {
            throw .init("write a whole number from \(limits.lowerBound) to \(limits.upperBound)")
        }
        return number
    }
}
