import ReachabilityCore

extension EventLoop {
    /// Looks up the watched destinations, if something changed that could matter to them; tells those who want to know
    /// of any change.
    func serveWatches() {
        watcher.note(revision: consult { $0.revision })
        // Before the first verdict the links are not known that carry the paths.
        guard watcher.isDue, consult({ $0.evaluation != nil }) else { return }
        let now = Clock.now
        let entries = watcher.takeDue(at: now)
        guard !entries.isEmpty else { return }
        do throws(NetlinkError) {
            let flows = entries.compactMap { entry in entry.flow(of: user) }
            var answers = try sockets.lookups.resolve(flows)[...]
            for entry in entries {
                switch entry.interest {
                case .path(let body):
                    guard let answer = answers.popFirst() else { continue }
                    report(answer, to: entry, body, at: now)
                case .change(let body): if watcher.isWatched(entry) { body() }
                }
            }
        } catch {
            watcher.invalidate()
            alterMachine { $0.failed(at: now) }
        }
    }

    /// Makes a path of the kernel's answer for a destination.
    func path(to destination: IPAddress, _ answer: ProbeAnswer, at now: Instant) -> DestinationPath {
        .init(destination, answer, evaluator, machine.snapshot, at: now)
    }

    /// Knows the user's own rules for kinds of interfaces.
    var evaluator: PathEvaluator { .init(context: configuration.context(user: user)) }

    /// Tells that nothing is known any more.
    func endWatches() {
        for entry in watcher.listeners where watcher.isWatched(entry) {
            if case .change(let body) = entry.interest { body() }
        }
    }

    private func report(
        _ answer: ProbeAnswer,
        to entry: WatchRegistry.Entry,
        _ body: @Sendable (DestinationPath) -> Void,
        at now: Instant
    ) {
        guard let destination = entry.destinations.first else { return }
        let path = path(to: destination, answer, at: now)
        if watcher.learn(path, for: entry) { body(path) }
    }
}

extension WatchRegistry.Entry {
    /// What is looked up for it, if its way is wanted.
    fileprivate func flow(of user: UInt32) -> ProbeFlow? {
        guard case .path = interest, let destination = destinations.first else { return nil }
        return ProbeFlow(to: destination, user: user)
    }
}
