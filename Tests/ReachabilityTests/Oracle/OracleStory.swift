import NetworkLab
import ReachabilityCore

/// Draws random changes of a machine and makes them; the same for a seed.
struct OracleStory {
    let world: OracleWorld
    var dice: Dice
    var coverage = Coverage()
    /// The state before the change: what may be removed or changed is drawn from it.
    var snapshot = NetworkSnapshot()
    /// The changes that were made, a line each.
    var log: [String] = []

    init(_ world: OracleWorld, seed: UInt64) {
        self.world = world
        dice = Dice(seed: seed)
    }

    /// Makes one change; a change that the kernel refuses does not count.
    mutating func step() throws {
        switch dice.roll(0...99) {
        case 0..<32: try changeRules()
        case 32..<68: try changeRoutes()
        case 68..<81: try changeAddresses()
        case 81..<88: try changeLinks()
        case 88..<92: try changeNeighbours()
        case 92..<96: try changeNexthops()
        default: try changeSettings()
        }
    }

    /// Tries a change; records it, and what it covers, if the kernel accepts it.
    mutating func attempt(_ line: String, covering names: [String] = [], _ change: () throws -> Void) {
        do {
            try change()
            coverage.note(names)
            log.append(line)
        } catch {
            log.append("# refused: \(line): \(error)")
        }
    }

    /// The rules, as the snapshot lists them.
    func rules(_ family: AddressFamily) -> [RuleMessage] { snapshot.rules(family) }

    /// All routes.
    var routes: [RouteMessage] {
        // A dictionary's order differs between runs; a story must not.
        let keys = snapshot.routes.keys.sorted {
            ($0.family.rawValue, $0.table.rawValue) < ($1.family.rawValue, $1.table.rawValue)
        }
        return keys.flatMap { key in (snapshot.routes[key] ?? []).map(\.message) }
    }

    /// All addresses except the permanent ones: of the loopback network and of 10.9.0.0/16.
    var addresses: [AddressMessage] {
        snapshot.links.flatMap { snapshot.addresses[$0.index] ?? [] }.filter {
            !$0.address.isLoopback && $0.address.bits >> 112 != 0x0A09
        }
    }
}
