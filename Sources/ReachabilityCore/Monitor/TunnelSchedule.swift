/// When the kernel is asked where the tunnels that are in use lead.
///
/// A tunnel's endpoint changes without a message, and the path to it with any route; so each is asked about when a
/// verdict first rests on it, and again after what may have changed the path, one question at a time.
struct TunnelSchedule: Sendable, Hashable {
    private var tunnels: [InterfaceIndex: Tunnel] = [:]
    private var hasChanged = false

    private struct Tunnel: Sendable, Hashable {
        var name: String
        /// When to ask next; nil if nothing has changed since.
        var due: Instant?
        /// When it was asked about last.
        var asked: Instant?
        var isAsked = false
        var wasAnswered = false
        /// The answer was that nobody may ask.
        var isForbidden = false
    }

    /// How soon the kernel is asked again, however much changes.
    private static let pause = Duration.milliseconds(2)

    /// Learns of a change after which a tunnel's packets may leave another way.
    mutating func noteChange() {
        if !tunnels.isEmpty { hasChanged = true }
    }

    /// Learns that a route changed which may carry a tunnel's packets, and which the model does not hold.
    mutating func noteHiddenChange(at now: Instant) {
        for (index, tunnel) in tunnels where !tunnel.isForbidden && tunnel.due == nil {
            tunnels[index]?.due = tunnel.asked.map { max(now, $0.advanced(by: Self.pause)) } ?? now
        }
    }

    /// The tunnels that the last verdict rests on.
    var used: [InterfaceIndex] { Array(tunnels.keys) }

    /// Learns which tunnels a new verdict rests on; those that none rests on any more are forgotten.
    mutating func use(_ used: [InterfaceIndex], in snapshot: NetworkSnapshot, at now: Instant) {
        guard !used.isEmpty || !tunnels.isEmpty else { return }
        defer { hasChanged = false }
        for index in tunnels.keys where !used.contains(index) { tunnels[index] = nil }
        for index in used {
            guard let link = snapshot.link(index), snapshot.mayTellEgress(of: link) else { continue }
            if tunnels[index]?.name != link.name {
                tunnels[index] = .init(name: link.name, due: now, wasAnswered: snapshot.hasToldEgress(of: link))
            } else if let tunnel = tunnels[index], hasChanged, !tunnel.isForbidden, tunnel.due == nil {
                tunnels[index]?.due = tunnel.asked.map { max(now, $0.advanced(by: Self.pause)) } ?? now
            }
        }
    }

    /// When ``next(at:)`` has something.
    var deadline: Instant? { tunnels.values.lazy.filter { !$0.isAsked }.compactMap(\.due).min() }

    /// The tunnel to ask about now.
    mutating func next(at now: Instant) -> DeviceQueue.Device? {
        guard !tunnels.isEmpty else { return nil }
        for (index, tunnel) in tunnels where !tunnel.isAsked {
            guard let due = tunnel.due, due <= now else { continue }
            tunnels[index]?.due = nil
            tunnels[index]?.isAsked = true
            tunnels[index]?.asked = now
            return .init(index: index, name: tunnel.name)
        }
        return nil
    }

    /// Whether an answer is about a tunnel that was asked for.
    func expects(_ index: InterfaceIndex, name: String) -> Bool {
        tunnels[index].map { $0.isAsked && $0.name == name } ?? false
    }

    /// Whether an answer about a tunnel is missing.
    func isAsking(_ index: InterfaceIndex) -> Bool { tunnels[index]?.isAsked ?? false }

    /// Takes the end of an answer.
    mutating func answered(_ message: UeventMessage) {
        guard let probe = message.probe, tunnels[message.index]?.name == message.interface else { return }
        tunnels[message.index]?.isAsked = false
        tunnels[message.index]?.wasAnswered = true
        guard case .failed = probe else { return }
        tunnels[message.index]?.isForbidden = true
        tunnels[message.index]?.due = nil
    }

    /// Whether an answer is missing that there never was.
    var awaitsFirstAnswer: Bool { tunnels.values.contains { !$0.wasAnswered } }

    /// Whether an answer is missing, or about to be asked for.
    var isPending: Bool { tunnels.values.contains { $0.isAsked || $0.due != nil } }

    /// Asks everything anew.
    mutating func forgetAll() { self = .init() }
}

extension NetworkSnapshot {
    /// Whether a tunnel's endpoint is known, or can be asked for; or the active port of a team.
    ///
    /// A session of L2TP is asked about once its device is known.
    fileprivate func mayTellEgress(of link: Link) -> Bool {
        if isL2TP(link) { return !awaitedDevices.contains(link.index) }
        return link.kind == "wireguard" || link.kind == "team" || link.tunnelRemote != nil
    }

    /// Whether that was asked for before, and answered.
    ///
    /// The answer about a session of L2TP follows one about its device.
    fileprivate func hasToldEgress(of link: Link) -> Bool {
        isL2TP(link) ? l2tp[link.index] != nil : devices[link.index]?.probe != nil
    }
}
