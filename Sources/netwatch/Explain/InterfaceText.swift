import CommandLineSupport
import NetwatchCore
import ReachabilityCore

/// The lines about the interfaces that the lookups lead to: their kinds, the source of each kind, and what carries
/// them.
struct InterfaceText {
    /// The explanation of the interfaces.
    let explanation: PathExplanation

    /// The lines; none if no lookup leads to an interface.
    var lines: [String] {
        let named = chosen
        return (named.isEmpty ? [] : ["interfaces:"]) + named.flatMap(lines)
    }

    /// The interfaces that the lookups selected, each once.
    private var chosen: [NetworkInterface] {
        var named: [NetworkInterface] = []
        for case .selected(let selection) in explanation.families.flatMap(\.probes).map(\.outcome) {
            for nextHop in selection.alternatives.isEmpty ? [selection.nextHop] : selection.alternatives {
                guard let interface = explanation.interfaces[nextHop.interface], !named.contains(interface) else {
                    continue
                }
                named.append(interface)
            }
        }
        return named
    }

    private func lines(_ interface: NetworkInterface) -> [String] {
        let path = explanation.families.compactMap(\.path).first { $0.interface.index == interface.index }
        let carriers = (path?.carriers ?? []).filter { $0.index != interface.index }
        let basis = explanation.tunnels[interface.index].map { ", " + Self.text($0) } ?? ""
        var lines = ["  " + Self.text(interface)] + hint(about: interface, "    ")
        for carrier in carriers {
            lines.append("    carried by " + Self.text(carrier) + basis)
            lines += hint(about: carrier, "      ")
        }
        if carriers.isEmpty, !basis.isEmpty { lines.append("    its own path\(basis)") }
        return lines
    }

    private func hint(about interface: NetworkInterface, _ indentation: String) -> [String] {
        guard let hint = explanation.hints[interface.index] else { return [] }
        let name = interface.name.escapedForTerminal
        return [
            "\(indentation)hint: \(Self.text(hint))",
            "\(indentation)  \(Self.remedy(hint)) --kind '\(name)=cellular'",
        ]
    }

    /// Returns the kind of an interface, and its source: `wlan0 (wifi): by its device's type (devtype)`.
    static func text(_ interface: NetworkInterface) -> String {
        let why =
            switch interface.kindSource {
            case .rule: "as --kind says"
            case .infoKind: "by its driver's kind"
            case .arphrd: "by its hardware type"
            case .devtype: "by its device's type"
            case .nl80211: "as nl80211 knows it"
            case .driver: "by its driver's name"
            case .plain where interface.kind == .other: "what device is behind it is not known"
            case .plain: "Ethernet of which nothing else is known"
            }
        return "\(ChangeText.named(interface)): \(why) (\(interface.kindSource.rawValue))"
    }

    private static func text(_ hint: InterfaceHint) -> String {
        switch hint {
        case .tethering("ipheth"): "the driver ipheth serves the tethering of iPhones, and nothing else"
        case .tethering(let driver):
            "the driver \(driver.escapedForTerminal) serves Ethernet adapters and tethered phones alike"
        case .pointToPoint: "a point-to-point session may run over a modem or over DSL"
        case .unidentified(let why): "\(why.escapedForTerminal); it counts as not cellular"
        }
    }

    private static func remedy(_ hint: InterfaceHint) -> String {
        switch hint {
        case .tethering: "if a phone is behind it:"
        case .pointToPoint, .unidentified: "if a modem is behind it:"
        }
    }

    private static func text(_ basis: TunnelBasis) -> String {
        switch basis {
        case .endpoint(let address): "the kernel's path to the tunnel's other end, \(address)"
        case .defaultPath(let address): "the best default path outside the tunnel, whose other end is \(address)"
        case .anyDefaultPath(nil): "the best default path outside the tunnel, whose other end is not known"
        case .anyDefaultPath(let why?): "the best default path outside the tunnel: \(why.escapedForTerminal)"
        }
    }
}
