extension NetworkSnapshot {
    /// Takes one message of the kernel into the model, as the kernel means it, and says what it changed.
    ///
    /// What the kernel removes without a message when it sends this one is removed as well, by prediction. Applying
    /// what is known already changes nothing, so a dump may be replayed over the model, and events over a dump.
    ///
    /// - Parameters:
    ///   - event: The message. Control messages, requests and what nothing here asks for change nothing.
    ///   - header: The message's head: its flags tell replacing, appending and prepending apart, and answers to a
    ///     dump (`NLM_F_MULTI`), which come in the kernel's order, from notifications.
    ///   - now: When the message was received; lifetimes count from here.
    /// - Returns: What changed.
    @discardableResult
    public mutating func apply(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) -> SnapshotEffect {
        var effect = SnapshotEffect()
        switch event {
        case .route(let message): insert(message, header.flags, at: now, &effect)
        case .routeRemoved(let message): remove(message, &effect)
        case .link(let message): insert(message, &effect)
        case .linkRemoved(let message): remove(message, &effect)
        case .address(let message): insert(message, header.flags, &effect)
        case .addressRemoved(let message): remove(message, &effect)
        case .nexthop, .nexthopRemoved, .rule, .ruleRemoved: applyPolicy(event, &effect)
        case .neighbour, .neighbourRemoved, .netconf, .netconfRemoved, .uevent, .wireless, .wireGuard, .team,
            .l2tp:
            applyEvidence(event, &effect)
        case .traffic, .family, .familiesRequested, .done, .error, .overrun, .request, .ignored: break
        }
        return effect
    }

    private mutating func applyPolicy(_ event: KernelEvent, _ effect: inout SnapshotEffect) {
        switch event {
        case .nexthop(let message): insert(message, &effect)
        case .nexthopRemoved(let message): removeNexthops([message.id], &effect)
        case .rule(let message): insert(message, &effect)
        case .ruleRemoved(let message): remove(message, &effect)
        default: break
        }
    }

    private mutating func applyEvidence(_ event: KernelEvent, _ effect: inout SnapshotEffect) {
        switch event {
        case .neighbour(let message): insert(message, &effect)
        case .neighbourRemoved(let message): remove(message, &effect)
        case .netconf(let message): insert(message, &effect)
        case .netconfRemoved(let message): remove(message, &effect)
        case .uevent(let message): apply(message, &effect)
        case .wireless(let message): apply(message, &effect)
        case .wireGuard(let message): apply(message, &effect)
        case .team(let message): apply(message, &effect)
        case .l2tp(let message): apply(message, &effect)
        default: break
        }
    }
}
