import ReachabilityCore

/// What sentences are made of, and words for it.
struct WhyScene {
    /// Why the state is what it is.
    let explanation: PathExplanation
    /// The model from which that was made.
    let snapshot: NetworkSnapshot

    /// The name of an interface.
    func name(_ index: InterfaceIndex) -> String { InterfaceNames(snapshot: snapshot).name(index) }

    /// What an interface is.
    func kind(_ index: InterfaceIndex) -> InterfaceKind { explanation.interfaces[index]?.kind ?? .other }

    /// `eth0`, `eth0 and eth1`, `eth0, eth1 and 3 more`.
    func names(_ indexes: [InterfaceIndex]) -> String {
        let names = indexes.map(name)
        switch names.count {
        case 0...1: return names.joined()
        case 2...3: return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
        default: return names.prefix(2).joined(separator: ", ") + " and \(names.count - 2) more"
        }
    }

    /// `ip` or `ip -6`.
    static func ip(_ family: AddressFamily) -> String { family == .ipv4 ? "ip" : "ip -6" }

    /// `IPv4` or `IPv6`.
    static func name(_ family: AddressFamily) -> String { family == .ipv4 ? "IPv4" : "IPv6" }
}
