import NetwatchCore
import ReachabilityCore

extension PathRequirement {
    /// Whether a program that binds to nothing keeps to the requirement: it takes the default path of either family.
    func allows(_ path: NetworkPath) -> Bool {
        [path.ipv4, path.ipv6].compactMap(\.self).allSatisfy {
            allows($0.interface, over: $0.carriers, isExpensive: $0.isExpensive)
        }
    }

    /// The option that asks for it.
    var option: String {
        switch self {
        case .any: "any path"
        case .notCellular: "--no-cellular"
        case .wifi: "--wifi-only"
        case .notExpensive: "--no-expensive"
        case .interface(let name): "--interface \(name.escapedForTerminal)"
        }
    }
}
