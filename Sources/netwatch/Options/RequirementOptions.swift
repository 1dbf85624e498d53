import ArgumentParser
import ReachabilityCore

/// Which paths will not do.
struct RequirementOptions: ParsableArguments {
    @Flag(name: .customLong("no-cellular"), help: "Use no cellular path.")
    var excludesCellular = false

    @Flag(name: .customLong("wifi-only"), help: "Use no path but WiFi; Ethernet is none.")
    var isWiFiOnly = false

    @Flag(
        name: .customLong("no-expensive"),
        help: "Use no path that costs by volume: a cellular one, a phone's, or what --expensive names."
    )
    var excludesExpensive = false

    func validate() throws {
        guard isWiFiOnly, excludesExpensive else { return }
        throw ValidationError("--wifi-only and --no-expensive can't be had together; give the one that matters more")
    }

    /// What a path must be.
    ///
    /// Whatever is not expensive is not cellular either, nor is WiFi.
    var requirement: PathRequirement {
        isWiFiOnly ? .wifi : excludesExpensive ? .notExpensive : excludesCellular ? .notCellular : .any
    }
}
