import NetworkLab
import ReachabilityCore

extension OracleStory {
    /// Sets a link up or down, removes or restores its carrier, changes its group or its name, or plugs it in again.
    mutating func changeLinks() throws {
        let name = dice.pick(OracleWorld.cables)
        let isUp = !dice.once(in: 3)
        switch dice.roll(0...10) {
        case 0..<4: setFlags(name, isUp)
        case 4..<8: setCarrier(name, isUp)
        case 8:
            let group = dice.roll(UInt32(0)...1)
            attempt("link set \(name) group \(group)") { [world] in try world.rtnl.setGroup(name, to: group) }
        case 9: setFlags(OracleWorld.block, isUp)
        default: replug(name)
        }
    }

    private mutating func setFlags(_ name: String, _ isUp: Bool) {
        attempt("link set \(name) \(isUp ? "up" : "down")") { [world] in
            if isUp { try world.rtnl.setUp(name) } else { try world.rtnl.setDown(name) }
        }
    }

    private mutating func setCarrier(_ name: String, _ isUp: Bool) {
        attempt("link set \(name) carrier \(isUp ? "on" : "off")") { [world] in
            if isUp { try world.far.rtnl.setUp("far" + name) } else { try world.far.rtnl.setDown("far" + name) }
        }
    }

    private mutating func replug(_ name: String) {
        attempt("link replug \(name)") { [world] in
            try world.rtnl.deleteLink(name)
            try world.plug(name)
        }
    }
}
