import NetworkLab
import ReachabilityCore

extension OracleStory {
    /// Adds, changes or removes an address.
    mutating func changeAddresses() throws {
        let present = addresses
        if present.count > 16 || dice.once(in: 3), let address = present.isEmpty ? nil : dice.pick(present) {
            return attempt("addr del \(address.line)") { [world] in try world.rtnl.deleteAddress(address) }
        }
        let address = dice.once(in: 2) ? drawIPv4() : drawIPv6()
        attempt("addr replace \(address.line)") { [world] in try world.rtnl.replaceAddress(address) }
    }

    /// None on a loopback that is down: whether its subnets are local depends on whether it was up when they were added.
    private mutating func drawIPv4() -> AddressMessage {
        let drawn = dice.pick(OracleWorld.interfaces)
        let name = drawn == "lo" && !world.hasLoopback ? OracleWorld.block : drawn
        let number = OracleWorld.number(of: name)
        let network = name == "lo" ? "198.51.100" : "10.0.\(number)"
        let text = dice.once(in: 8) ? "169.254.\(number).1" : "\(network).\(dice.roll(1...4))"
        var message = AddressMessage(index: world.index(of: name), prefix: "\(text)/\(dice.pick([24, 24, 32, 29]))")
        message.scope = dice.pick([.universe, .universe, .universe, .universe, .universe, .site, .link, .host])
        if dice.once(in: 10) { message.peer = IPAddress("10.0.9.\(dice.roll(1...2))") }
        return message
    }

    private mutating func drawIPv6() -> AddressMessage {
        let name = dice.pick(OracleWorld.interfaces)
        let number = OracleWorld.number(of: name)
        let place = "\(dice.roll(1...3))"
        let networks = [
            "2001:db8:\(number)::", "2001:db8:\(number)::", "2d00:\(number)::", "3d00:\(number)::",
            "fd00:\(number)::", "fe80::", "fec0:\(number)::", "2002:\(number)::", "2001:10:\(number)::",
            "2001:0:\(number)::", "3ffe:\(number)::", "::ffff:10.9.\(number).",
        ]
        var message = AddressMessage(
            index: world.index(of: name),
            prefix: "\(dice.pick(networks))\(place)/\(dice.pick([64, 64, 128, 48]))"
        )
        message.flags = dice.pick([.noDuplicateDetection, .noDuplicateDetection, [], .optimistic])
        if dice.once(in: 4) {
            message.preferredLifetime = 0
            message.validLifetime = .max
        }
        return message
    }
}

extension AddressMessage {
    /// Makes a message from text that is known to be valid.
    fileprivate init(index: InterfaceIndex, prefix: String) {
        let prefix = IPPrefix(lab: prefix)
        self.init(index: index, address: prefix.address, prefixLength: prefix.length)
    }
}

extension IPPrefix {
    /// Parses a prefix that a test contains; any other text is a mistake in the test.
    init(lab text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let address = IPAddress(String(parts[0])), let length = UInt8(parts[1]) else {
            preconditionFailure("'\(text)' is no prefix")
        }
        self.init(address, length: length)
    }
}
