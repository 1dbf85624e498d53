import CommandLineSupport
import NetwatchCore
import Reachability
import ReachabilityCore

/// Asks the kernel for its route to the destination of a trace.
struct TraceLookup {
    /// The monitor that asks.
    let session: MonitorSession
    /// The interface to send through, by its name or number; nil for the one that the kernel selects.
    var link: String?
    /// The limits of the trace, and its packets.
    let settings: TraceSettings

    /// Returns the destination: of several addresses, the first to which the kernel has a route.
    ///
    /// - Parameter addresses: The addresses, at least one.
    /// - Returns: The destination.
    /// - Throws: An error with a text for the user, if there is no such interface, or the kernel cannot be asked.
    func destination(among addresses: [IPAddress]) throws(ToolError) -> TraceDestination {
        var first: TraceDestination?
        for address in addresses {
            let destination = try destination(address)
            if destination.verdict == nil { return destination }
            first = first ?? destination
        }
        guard let first else { throw .init("the host has no address", exit: .unknown) }
        return first
    }

    private func destination(_ address: IPAddress) throws(ToolError) -> TraceDestination {
        let path = try lookup(address)
        guard !TraceDestination.isBroadcast(path) else {
            throw .init("'\(address)' is a broadcast address; give the address of one host", exit: .usage)
        }
        var destination = TraceDestination(path, settings)
        if let link { try bind(&destination, to: link) }
        return destination
    }

    private func bind(_ destination: inout TraceDestination, to link: String) throws(ToolError) {
        let (name, index) = try interface(link)
        let address = destination.target.address
        let isLinkLocal = address.family == .ipv6 && address.isLinkLocal
        let path = isLinkLocal ? nil : try lookup(address, meeting: .interface(name))
        destination.bind(to: name, index: index, path)
    }

    private func lookup(
        _ address: IPAddress,
        meeting requirement: PathRequirement = .any
    ) throws(ToolError) -> DestinationPath {
        try ToolError.wrapping(try session.monitor.lookup(address, meeting: requirement))
    }

    /// The name and the index of the interface.
    private func interface(_ text: String) throws(ToolError) -> (name: String, index: InterfaceIndex) {
        let links = try ToolError.wrapping(try session.monitor.view().snapshot.links)
        let found = links.first { $0.name == text } ?? links.first { String($0.index) == text }
        guard let found else {
            let names = links.map(\.name.escapedForTerminal).joined(separator: ", ")
            throw .init("there is no interface '\(text.escapedForTerminal)'; there are \(names)", exit: .usage)
        }
        return (found.name, found.index)
    }
}
