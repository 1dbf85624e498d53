/// Whether a path costs money, or is to be used sparingly: by what carries it, and by what the user declared.
struct PathCost {
    let context: EvaluationContext
    let snapshot: NetworkSnapshot

    /// Whether traffic through an interface, over its carriers, may be metered.
    func isExpensive(_ interface: NetworkInterface, over carriers: [NetworkInterface]) -> Bool {
        carriers.contains { $0.kind == .cellular || isPhone($0) } || isDeclared(context.expensive, interface, carriers)
    }

    /// Whether the user declared an interface or a carrier of it as one to spare.
    func isConstrained(_ interface: NetworkInterface, over carriers: [NetworkInterface]) -> Bool {
        isDeclared(context.constrained, interface, carriers)
    }

    private func isDeclared(
        _ patterns: [String],
        _ interface: NetworkInterface,
        _ carriers: [NetworkInterface]
    ) -> Bool {
        guard !patterns.isEmpty else { return false }
        return ([interface] + carriers).contains { one in patterns.contains { GlobPattern.matches($0, one.name) } }
    }

    /// Whether a phone is on the other end that shares its own connection.
    private func isPhone(_ interface: NetworkInterface) -> Bool {
        guard !snapshot.devices.isEmpty, let device = snapshot.devices[interface.index] else { return false }
        return device.driver == "ipheth" || device.deviceType == "bluetooth"
    }
}
