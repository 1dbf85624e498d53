public import ReachabilityCore

/// Words for routes, as ip-route(8) has them.
public enum RouteText {
    /// A table: `main`, `default`, `local`, or its number.
    public static func table(_ table: RouteTableID) -> String {
        switch table {
        case .main: "main"
        case .default: "default"
        case .local: "local"
        default: String(table.rawValue)
        }
    }

    /// What the kernel selects: `via 192.0.2.1 dev wlan0 source 192.0.2.2 table main metric 600`.
    ///
    /// - Parameters:
    ///   - selection: The route.
    ///   - names: What interfaces are called.
    ///   - isFromModel: Whether table and metric are known; a look-up of the kernel does not say.
    /// - Returns: One line.
    public static func selection(_ selection: RouteSelection, names: InterfaceNames, isFromModel: Bool) -> String {
        var words = type(selection.type) + leg(selection.leg, names: names)
        words += ["source", selection.leg.source?.description ?? "none"]
        if isFromModel { words += ["table", table(selection.table), "metric", String(selection.metric)] }
        return words.joined(separator: " ")
    }

    /// The words for a type; none for unicast, as everywhere.
    public static func type(_ type: RouteType) -> [String] {
        switch type {
        case .unicast: []
        case .local: ["local"]
        case .broadcast: ["broadcast"]
        case .anycast: ["anycast"]
        case .multicast: ["multicast"]
        case .blackhole: ["blackhole"]
        case .unreachable: ["unreachable"]
        case .prohibit: ["prohibit"]
        case .throw: ["throw"]
        default: ["type", String(type.rawValue)]
        }
    }

    private static func leg(_ leg: SelectedLeg, names: InterfaceNames) -> [String] {
        (leg.gateway.map { ["via", $0.description] } ?? []) + ["dev", names.name(leg.interface)]
    }
}

/// What interfaces are called, made safe for a terminal.
public struct InterfaceNames: Sendable {
    private let snapshot: NetworkSnapshot

    /// Takes the model that knows them.
    public init(snapshot: NetworkSnapshot) { self.snapshot = snapshot }

    /// The name of an interface, or its number where it has none.
    public func name(_ index: InterfaceIndex) -> String {
        snapshot.link(index)?.name.escapedForTerminal ?? "if\(index)"
    }
}
