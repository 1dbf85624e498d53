import Reachability
import ReachabilityCore

/// Asks for ways, and while many are judged at once, asks for none twice.
///
/// Belongs to the session's event loop.
final class PathMemory {
    let connectivity: any Connectivity
    private var paths: [Question: DestinationPath] = [:]
    private var remembers = false

    private struct Question: Hashable {
        let destination: IPAddress
        let requirement: PathRequirement
    }

    init(_ connectivity: any Connectivity) { self.connectivity = connectivity }

    /// From now on an answer holds, until ``end()``.
    func begin() {
        paths = [:]
        remembers = true
    }

    /// From now on each question is asked.
    func end() {
        paths = [:]
        remembers = false
    }

    /// As ``Connectivity/path(to:requiring:)``.
    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        let question = Question(destination: destination, requirement: requirement)
        if remembers, let path = paths[question] { return path }
        let path = try connectivity.path(to: destination, requiring: requirement)
        if remembers { paths[question] = path }
        return path
    }
}
