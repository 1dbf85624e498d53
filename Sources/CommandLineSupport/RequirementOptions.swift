import ArgumentParser
import NetwatchCore
package import ReachabilityCore

/// Which paths will not do.
package struct RequirementOptions: ParsableArguments {
    @Flag(name: .customLong("no-cellular"), help: "Use no cellular path.")
    package var excludesCellular = false

    @Flag(name: .customLong("wifi-only"), help: "Use no path but WiFi; Ethernet is none.")
    package var isWiFiOnly = false

    @Flag(
        name: .customLong("no-expensive"),
        help: "Use no path that costs by volume: a cellular one, a phone's, or what --expensive names."
    )
    package var excludesExpensive = false

    package init() {}

    package func validate() throws {
        guard isWiFiOnly, excludesExpensive else { return }
        throw ValidationError("--wifi-only and --no-expensive can't be had together; give the one that matters more")
    }

    /// What a path must be.
    ///
    /// Whatever is not expensive is not cellular either, nor is WiFi.
    package var requirement: PathRequirement {
        isWiFiOnly ? .wifi : excludesExpensive ? .notExpensive : excludesCellular ? .notCellular : .any
    }
}

extension PathRequirement {
    /// The option that asks for it.
    package var option: String {
        switch self {
        case .any: "any path"
        case .notCellular: "--no-cellular"
        case .wifi: "--wifi-only"
        case .notExpensive: "--no-expensive"
        case .interface(let name): "--interface \(name.escapedForTerminal)"
        }
    }
}
