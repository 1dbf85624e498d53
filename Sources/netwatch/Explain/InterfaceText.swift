import ReachabilityCore

/// Tells what the interfaces are that the look-ups lead to, how that is known, and what carries them.
enum InterfaceText {
    /// The lines; none where no look-up leads to an interface.
    static func lines(_ explanation: PathExplanation) -> [String] {
        var named: [NetworkInterface] = []
        for case .selected(let selection) in explanation.families.flatMap(\.probes).map(\.outcome) {
            for leg in selection.alternatives.isEmpty ? [selection.leg] : selection.alternatives {
                guard let interface = explanation.interfaces[leg.interface], !named.contains(interface) else {
                    continue
                }
                named.append(interface)
            }
        }
        return (named.isEmpty ? [] : ["interfaces:"])
            + named.flatMap { interface in
                let path = explanation.families.compactMap(\.path).first { $0.interface.index == interface.index }
                let carriers = (path?.carriers ?? []).filter { $0.index != interface.index }
                return ["  " + text(interface)] + carriers.map { "    carried by " + text($0) }
            }
    }

    /// What an interface is, and how that is known: `wlan0 (wifi): by its device's type (devtype)`.
    static func text(_ interface: NetworkInterface) -> String {
        let why =
            switch interface.kindSource {
            case .rule: "as --kind says"
            case .infoKind: "by its driver's kind"
            case .arphrd: "by its hardware type"
            case .devtype: "by its device's type"
            case .nl80211: "as nl80211 knows it"
            case .driver: "by its driver's name"
            case .plain: "Ethernet of which nothing else is known"
            }
        return "\(ChangeText.named(interface)): \(why) (\(interface.kindSource.rawValue))"
    }
}
