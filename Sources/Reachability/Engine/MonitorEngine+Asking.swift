public import ReachabilityCore

extension MonitorEngine {
    /// What the engine knows, once the model has been read whole and agrees with the kernel.
    ///
    /// Blocks the caller until then; called on the event thread, it answers at once.
    ///
    /// - Parameter timeout: How long to wait for an agreement; after that, the view as it is.
    /// - Returns: The model and the verdict of one moment.
    /// - Throws: ``MonitorError/Code/notRunning`` if the engine is not running, or is stopped meanwhile.
    public func view(within timeout: Duration = .seconds(5)) throws(MonitorError) -> MonitorView {
        let run = try currentRun()
        if let loop = run.currentLoop { return loop.view(at: Clock.now) }
        let gate = Gate<MonitorView?>()
        let deadline = Clock.now.advanced(by: min(max(timeout, .zero), .seconds(86_400)))
        guard run.perform({ $0.add(.init(gate: gate, deadline: deadline)) }), let view = gate.wait() else {
            throw MonitorError(.notRunning, errno: 0, "monitor")
        }
        return view
    }

    /// Asks the kernel for the way to a destination, on the caller's thread, in a few microseconds.
    ///
    /// - Parameter destination: The address, which is looked up and never sent to.
    /// - Returns: The way, or the kernel's refusal.
    /// - Throws: ``MonitorError/Code/notRunning``, or ``MonitorError/Code/netlinkFailed`` if the kernel does not answer.
    public func path(to destination: IPAddress) throws(MonitorError) -> DestinationPath {
        let run = try currentRun()
        let user = state.configuration.user ?? state.effectiveUser
        let answer = try run.look(up: .init(to: destination, user: user))
        if let loop = run.currentLoop { return loop.path(to: destination, answer, at: Clock.now) }
        let gate = Gate<DestinationPath?>()
        let isAsked = run.perform { loop in
            gate.open(loop.machine.evaluation == nil ? nil : loop.path(to: destination, answer, at: Clock.now))
        }
        if isAsked, let path = gate.wait() { return path }
        // The links are not read yet: they are by the time the model has settled.
        let view = try view()
        let evaluator = PathEvaluator(context: state.configuration.context(user: user))
        return .init(destination, answer, evaluator, view.snapshot, at: view.instant)
    }

    /// Asks the kernel for the way of a socket that may only use paths which meet a requirement.
    ///
    /// - Parameters:
    ///   - destination: The address, which is looked up and never sent to.
    ///   - requirement: What the path must be.
    /// - Returns: The way, with the interface to bind to; or why there is none.
    /// - Throws: ``MonitorError/Code/notRunning``, or ``MonitorError/Code/netlinkFailed`` if the kernel does not answer.
    public func path(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(MonitorError) -> DestinationPath {
        guard requirement != .any else { return try path(to: destination) }
        let run = try currentRun()
        if let loop = run.currentLoop { return try loop.answer(destination, requirement).get() }
        // The links are not read yet: they are by the time the model has settled.
        if try run.ask({ $0.consult { $0.evaluation == nil } }) { _ = try view() }
        return try run.ask { $0.answer(destination, requirement) }.get()
    }

    /// Watches the way to a destination until the watch is cancelled.
    ///
    /// Also routes that are not default-like are then heard, if they could cover the destination.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - body: Called on the event thread, first with the way as it is, then with each that differs; must not block.
    /// - Returns: The watch; it outlives ``stop()`` and works again after the next ``start()``.
    public func watch(
        _ destination: IPAddress,
        _ body: @escaping @Sendable (DestinationPath) -> Void
    ) -> DestinationWatch {
        watch([destination], .path(body))
    }

    /// Watches for anything that may give a look-up another answer, until the watch is cancelled.
    ///
    /// - Parameters:
    ///   - destinations: Addresses whose own routes are to be heard too, beside the default-like ones.
    ///   - body: Called on the event thread, once the watch has begun, and then after each change, when the engine has
    ///     taken it in: ``path(to:requiring:)`` knows of it. In a storm of changes no more often than every 5 ms; must
    ///     not block.
    /// - Returns: The watch; it outlives ``stop()`` and works again after the next ``start()``.
    public func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> DestinationWatch {
        watch(destinations, .change(body))
    }

    private func watch(_ destinations: [IPAddress], _ interest: WatchRegistry.Interest) -> DestinationWatch {
        let id = state.watches.add(destinations, interest)
        (try? currentRun())?.wakeUp.signal()
        return DestinationWatch { [state, weak self] in
            state.watches.remove(id)
            (try? self?.currentRun())?.wakeUp.signal()
        }
    }
}
