import ReachabilityCore

/// The WiFi links that are up, whether or not the path leads through them, as the kernel told of them last.
struct LiveRadios: Hashable {
    private var radios: [InterfaceIndex: Radio] = [:]

    /// None.
    init() {}

    /// Takes those of a model.
    init(_ snapshot: NetworkSnapshot, _ context: EvaluationContext) {
        let evaluator = PathEvaluator(context: context)
        for link in snapshot.links where link.flags.contains(.up) {
            guard evaluator.describe(link.index, in: snapshot)?.kind == .wifi else { continue }
            radios[link.index] = .init(link: link, state: snapshot.wireless[link.index])
        }
    }

    /// Whether there is none.
    var isEmpty: Bool { radios.isEmpty }

    /// Whether one may have another network than before: the kernel tells of it anew when it gets or loses one.
    func mayTellOtherwise(than before: Self) -> Bool {
        radios.contains { $0.value.link.canCarry && before.radios[$0.key] != $0.value }
    }

    private struct Radio: Hashable {
        var link: Link
        var state: WirelessState?
    }
}
