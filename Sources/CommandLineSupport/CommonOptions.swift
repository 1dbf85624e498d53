package import ArgumentParser
package import Reachability
package import ReachabilityCore

/// The options of all commands that watch the machine.
package struct CommonOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init("Watch a network namespace (privileged).", valueName: "name|path|pid"),
        completion: .shellCommand("ls /run/netns 2>/dev/null"),
        transform: NamespaceArgument.parse
    )
    package var netns: NetworkNamespace = .current

    @Option(
        parsing: .unconditional,
        help: .init(
            "Report once quiet for this long (at most 5 times).",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    package var settle: Duration = .zero

    @OptionGroup package var kinds: KindOptions

    package init() {}

    /// The monitor's configuration that follows from the options.
    package var configuration: MonitorConfiguration {
        var configuration = MonitorConfiguration()
        configuration.namespace = netns
        configuration.settle = settle
        configuration.kindRules = kinds.kind
        configuration.expensiveInterfaces = kinds.expensive
        configuration.constrainedInterfaces = kinds.constrained
        return configuration
    }

    /// The options as arguments, for another executable of the tool that is to watch the same.
    package var arguments: [String] {
        let total = settle.components.seconds * 1_000_000 + settle.components.attoseconds / 1_000_000_000_000
        let (seconds, microseconds) = total.quotientAndRemainder(dividingBy: 1_000_000)
        let fraction = String(String(1_000_000 + microseconds).dropFirst())
        var arguments: [String] = []
        if let name = netns.text { arguments += ["--netns", name] }
        if settle > .zero { arguments += ["--settle", "\(seconds).\(fraction)s"] }
        for rule in kinds.kind { arguments += ["--kind", "\(rule.pattern)=\(rule.kind.rawValue)"] }
        for pattern in kinds.expensive { arguments += ["--expensive", pattern] }
        for pattern in kinds.constrained { arguments += ["--constrained", pattern] }
        return arguments
    }
}

extension NetworkNamespace {
    /// As the user wrote it; nil for the own one.
    package var text: String? {
        switch self {
        case .current: nil
        case .name(let name): name
        case .path(let path): path
        case .process(let process): String(process)
        }
    }
}

/// A destination.
package enum Host: Hashable {
    /// An address.
    case address(IPAddress)
    /// A name, to be resolved.
    case name(String)
}

/// Reads a host.
package enum HostArgument {
    /// Reads an address or a name.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> Host {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        if let address = IPAddress(bare) {
            // The kernel sends packets of IPv4 to an IPv4-mapped address (RFC 4291, 2.5.5.2).
            return .address(address.isIPv4Mapped ? .init(ipv4: UInt32(truncatingIfNeeded: address.bits)) : address)
        }
        guard !text.contains("%") else { throw .init("an address with a zone has one link only; leave out the zone") }
        guard !text.contains(where: { "/: []@".contains($0) }) else {
            throw .init("it is neither an address nor a name; leave out scheme, port and path")
        }
        let isPrintable = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard isPrintable, !text.isEmpty, text.utf8.count <= 253, !text.hasPrefix("-") else {
            throw .init("it is neither an address nor a name; write 192.0.2.7, 2001:db8::7 or server.example")
        }
        return .name(text)
    }
}
