import CommandLineSupport
import LinuxSystem
import NetworkClient
import ReachabilityCore

/// A viewer that is connected, with its page.
final class FleetSession {
    /// The parameters of a session.
    struct Configuration {
        let viewer: FleetViewer.Configuration
        /// The broker's name, for the screen.
        let broker: String
        let binding: LocalBinding
        let isLoopback: Bool
    }

    let viewer: FleetViewer
    private let page: FleetPage?
    private let path: PathFollower

    /// Starts a viewer, and its page if there is an address for it.
    init(_ configuration: Configuration, listen: LoopbackAddress?) throws(ToolError) {
        viewer = try FleetViewer(configuration.viewer)
        page = try listen.map { (address) throws(ToolError) in try FleetPage(address, broker: configuration.broker) }
        do throws(SystemError) { try viewer.start() } catch { throw error.toolError("follow the fleet") }
        path = PathFollower(configuration.binding, isLoopback: configuration.isLoopback, use: viewer.routeUser)
    }

    /// When ``advance()`` has to be called at the latest.
    var deadline: Instant { viewer.deadline }

    /// Takes what was received, and lets time pass.
    ///
    /// - Returns: Whether anything may have changed that is shown.
    func advance() -> Bool {
        guard viewer.advance() else { return false }
        page?.publish(viewer)
        return true
    }

    /// Ends the connection and the page.
    func stop() {
        path.stop()
        viewer.stop()
        page?.stop()
    }
}
