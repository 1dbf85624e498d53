import NetworkLab
import ReachabilityCore

/// Messages of generic netlink.
extension SeededGenerator {
    mutating func genericFamily() -> GenericFamily {
        var family = GenericFamily(name: name(), id: .random(in: 16 ... .max, using: &self))
        for _ in 0..<Int.random(in: 0...3, using: &self) { family.groups[name()] = number() }
        return family
    }

    mutating func wireless() -> WirelessMessage {
        let commands: [WirelessMessage.Command] = [
            .setInterface, .newInterface, .deleteInterface, .newStation, .deleteStation, .scanResult, .authenticate,
            .associate,
            .deauthenticate, .disassociate, .connect, .roam, .disconnect,
        ]
        var message = WirelessMessage(pick(commands), index: .random(in: 1 ... .max, using: &self))
        message.mode = maybe { .init(rawValue: $0.pick([0, 1, 2, 3, 6, 7, 8, $0.number()])) }
        message.radio = maybe { $0.number() }
        message.ssid = maybe { generator in
            (0..<Int.random(in: 0...32, using: &generator)).map { _ in generator.number() }
        }
        message.address = maybe { generator in (0..<6).map { _ in generator.number() } }
        message.frequency = maybe { $0.number() }
        message.status = maybe { $0.pick([0, 1, $0.number()]) }
        message.hasTimedOut = flip()
        message.isOwnNetwork = flip()
        message.signal = maybe { Int8(bitPattern: $0.number()) }
        return message
    }

    mutating func team() -> TeamMessage {
        var message = TeamMessage(index: .random(in: 1 ... .max, using: &self))
        message.mode = maybe { $0.name() }
        message.activePort = maybe { $0.number() }
        for _ in 0..<Int.random(in: 0...3, using: &self) {
            message.enabledPorts[.random(in: 1 ... .max, using: &self)] = flip()
        }
        return message
    }

    mutating func l2tp() -> L2TPMessage {
        var message = L2TPMessage(interface: maybe { $0.name() }, tunnel: number())
        let family = family()
        message.source = maybe { $0.address(family) }
        message.remote = maybe { $0.address(family) }
        return message
    }

    mutating func wireGuard() -> WireGuardMessage {
        var message = WireGuardMessage(index: number())
        message.mark = number()
        for _ in 0..<Int.random(in: 0...3, using: &self) {
            var peer = WireGuardMessage.Peer()
            let family = family()
            peer.endpoint = maybe { $0.address(family) }
            if peer.endpoint != nil { peer.port = number() }
            for _ in 0..<Int.random(in: 0...3, using: &self) { peer.allowed.append(prefix(self.family())) }
            message.peers.append(peer)
        }
        return message
    }
}
