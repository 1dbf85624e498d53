import ReachabilityCore

extension EventLoop {
    /// Asks the kernel for the way of a socket that may only use paths which meet a requirement.
    ///
    /// - Returns: The way; or that the kernel does not answer.
    func answer(_ destination: IPAddress, _ requirement: PathRequirement) -> Result<DestinationPath, MonitorError> {
        do throws(NetlinkError) {
            return .success(try path(to: destination, requiring: requirement))
        } catch {
            return .failure(.init(error))
        }
    }

    private func path(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(NetlinkError) -> DestinationPath {
        let now = Clock.now
        let answers = try sockets.lookups.resolve([ProbeFlow(to: destination, user: user)])
        guard let answer = answers.first else { throw NetlinkError("RTM_GETROUTE", errno: 0) }
        let plain = path(to: destination, answer, at: now)
        guard requirement != .any, !plain.staysOnThisMachine else { return plain }
        let (interfaces, ruledOut) = consult { evaluator.candidates(for: requirement, in: $0.snapshot, at: now) }
        let flows = interfaces.map { ProbeFlow(to: destination, user: user, boundTo: $0.index) }
        let ways = zip(interfaces, try sockets.lookups.resolveBound(flows)).map { interface, answer in
            BoundPath(interface, answer, path(to: destination, answer, at: now))
        }
        return RequiredPath(requirement, plain: plain, ways: ways, ruledOut: ruledOut).choice
    }
}
