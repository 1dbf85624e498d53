import Glibc
import ReachabilityCore

/// What hooks are told by their environment.
enum HookEnvironment {
    /// The variables for a notice.
    ///
    /// - Parameters:
    ///   - change: The notice.
    ///   - told: The state that the hook was told before; nil for the first.
    /// - Returns: Names and values.
    static func variables(for change: StateChange, after told: ReachabilityStatus?) -> [(String, String)] {
        [
            ("NETWATCH_STATUS", change.status.name), ("NETWATCH_PREVIOUS", told?.name ?? ""),
            ("NETWATCH_INTERFACE", change.path.interface?.name ?? ""),
        ]
    }

    /// This process's variables, byte for byte, but those that others take the place of.
    ///
    /// - Parameter variables: The others.
    /// - Returns: Pointers that last as long as the environment does.
    static func own(without variables: [(String, String)]) -> [UnsafeMutablePointer<CChar>] {
        var own: [UnsafeMutablePointer<CChar>] = []
        let prefixes = variables.map { $0.0 + "=" }
        var next = environ
        while let entry = next.pointee {
            if !prefixes.contains(where: { strncmp(entry, $0, $0.utf8.count) == 0 }) { own.append(entry) }
            next += 1
        }
        return own
    }
}
