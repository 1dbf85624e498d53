import ReachabilityCore

/// What is wrong with a family that has a path.
enum FamilyBlemish {
    /// The sentences; none where nothing is known to be wrong.
    static func of(_ family: FamilyExplanation, _ scene: WhyScene) -> [Sentence] {
        [deadLeg(family, scene), silentGateway(family, scene)].compactMap(\.self)
    }

    private static func deadLeg(_ family: FamilyExplanation, _ scene: WhyScene) -> Sentence? {
        guard family.reasons.contains(.deadLeg) else { return nil }
        let legs = family.probes.compactMap(\.decision).flatMap(\.chosen).flatMap(\.legs)
        guard let leg = legs.first(where: { $0.fate != .usable })?.leg else { return nil }
        let name = scene.name(leg.interface)
        let setting = SettingText.linkDown(name, family.family)
        return .init(
            "some connections fail: a leg of the default route leads through \(name), which can't carry",
            cure: "remove the leg, or 'sysctl \(setting)=1' and add the route again"
        )
    }

    /// The kernel goes on sending to a gateway that does not answer, so that the state stays what it is.
    private static func silentGateway(_ family: FamilyExplanation, _ scene: WhyScene) -> Sentence? {
        guard let path = family.path, let gateway = path.gateway,
            let state = scene.snapshot.neighbours[.init(index: path.interface.index, address: gateway)],
            state.contains(.failed)
        else { return nil }
        let name = scene.name(path.interface.index)
        return .init(
            "the gateway \(gateway) on \(name) does not answer",
            cure: "look at the router, and at the cables and switches on the way to it"
        )
    }
}
