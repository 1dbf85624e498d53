import ReachabilityCore

extension StateChange {
    /// Tells what caused the change, then why there is no path or what is wrong with it, each reason once.
    @inline(__always)
    func forEachReason(_ body: (Reason) -> Void) {
        for reason in reasons { body(reason) }
        for reason in path.reasons where !reasons.contains(reason) { body(reason) }
    }
}
