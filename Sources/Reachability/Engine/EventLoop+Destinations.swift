import ReachabilityCore

extension EventLoop {
    /// Looks up the watched destinations, if something changed that could matter to them.
    func serveWatches() {
        // Before the first verdict the links are not known that carry the paths.
        guard watcher.isDue, consult({ $0.evaluation != nil }) else { return }
        let now = Clock.now
        let entries = watcher.takeDue(at: now)
        guard !entries.isEmpty else { return }
        do throws(NetlinkError) {
            let flows = entries.map { ProbeFlow(to: $0.destination, user: user) }
            let answers = try sockets.lookups.resolve(flows)
            for (entry, answer) in zip(entries, answers) { report(answer.outcome, to: entry, at: now) }
        } catch {
            watcher.invalidate()
            alterMachine { $0.failed(at: now) }
        }
    }

    /// Makes a path of the kernel's answer for a destination.
    func path(to destination: IPAddress, _ outcome: LookupOutcome, at now: Instant) -> DestinationPath {
        .init(destination, outcome, evaluator, machine.snapshot, at: now)
    }

    /// Knows the user's own rules for kinds of interfaces.
    var evaluator: PathEvaluator { .init(context: configuration.context(user: user)) }

    private func report(_ outcome: LookupOutcome, to entry: WatchRegistry.Entry, at now: Instant) {
        let path = path(to: entry.destination, outcome, at: now)
        if watcher.learn(path, for: entry) { entry.body(path) }
    }
}
