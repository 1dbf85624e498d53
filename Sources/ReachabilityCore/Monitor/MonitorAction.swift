/// What the state machine wants done; each is done before the machine is asked for the next.
public enum MonitorAction: Sendable, Hashable {
    /// Hand a notice to the subscribers.
    case publish(StateChange)
    /// Look up the probe addresses, and hand over the answers with ``MonitorStateMachine/answered(_:at:)``.
    ///
    /// In detail: also from which route each answer comes.
    case lookup(inDetail: Bool)
    /// Ask for a dump, with this sequence number.
    case dump(DumpSubject, sequence: UInt32)
    /// Find out what device is behind an interface, without keeping the machine waiting, and hand that over with
    /// ``MonitorStateMachine/receiveDevice(_:_:at:)``.
    case probe(InterfaceIndex, name: String)
    /// Join the group of neighbours' changes, or leave it.
    case watchNeighbours(Bool)
    /// Close all netlink sockets and open them again; then say so with ``MonitorStateMachine/reopened(at:)``.
    case reopen
}
