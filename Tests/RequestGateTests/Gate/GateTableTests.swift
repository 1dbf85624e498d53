import ReachabilityCore
import RequestGate
import Testing

/// Tests of the gate's decision table, with one case per row.
@Suite struct GateTableTests {
    /// A row of the table: the inputs and the decision.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let question: GateQuestion
        let verdict: GateVerdict

        init(_ name: String, _ question: GateQuestion, _ verdict: GateVerdict) {
            testDescription = name
            self.question = question
            self.verdict = verdict
        }
    }

    static let rows: [Row] = [
        .init("a Unix socket, whatever the network", .init(.wifi, .notReachable, .unixSocket), .go),
        .init("a Unix socket, not known yet", .init(.wifi, .unknown, .unixSocket), .go),
        .init("any path, not known yet", .init(.any, .unknown, .name(.notAsked)), .go),
        .init("WiFi, not known yet", .init(.wifi, .unknown, .name(.notAsked)), .wait(.firstState)),
        .init("WiFi to an address, not known yet", .init(.wifi, .unknown, .addresses(nil)), .wait(.firstState)),
        .init("any path, online, a name", .init(.any, .wifi, .name(.notAsked)), .go),
        .init("any path, online by a modem, an address", .init(.any, .cellular, .addresses(nil)), .go),
        .init("any path, online, but doubted", .init(.any, .wifi, .addresses(nil), isDoubted: true), .judgeAddresses),
        .init("any path, online, a name, but doubted", .init(.any, .wifi, .name(.notAsked), isDoubted: true), .lookup),
        .init("any path, offline, an address", .init(.any, .notReachable, .addresses(nil)), .judgeAddresses),
        .init(
            "any path, offline, this machine's address",
            .init(.any, .notReachable, .addresses([.here])),
            .goTo([0], boundTo: nil)
        ),
        .init(
            "any path, offline, a host on the link",
            .init(.any, .notReachable, .addresses([.none, .through(3), .here, .none, .through(4)])),
            .goTo([1, 2, 4], boundTo: nil)
        ),
        .init("any path, offline, no way", .init(.any, .notReachable, .addresses([.none, .none])), .wait(.path)),
        .init("any path, offline, no addresses", .init(.any, .notReachable, .addresses([])), .wait(.path)),
        .init("WiFi, online, an address", .init(.wifi, .wifi, .addresses(nil)), .judgeAddresses),
        .init(
            "WiFi, two ways: by the first one alone",
            .init(.wifi, .cellular, .addresses([.none, .through(4), .through(3), .through(4)])),
            .goTo([1, 3], boundTo: 4)
        ),
        .init(
            "WiFi, this machine's address needs no interface",
            .init(.wifi, .cellular, .addresses([.here, .through(4)])),
            .goTo([0], boundTo: nil)
        ),
        .init("WiFi, no way by it", .init(.wifi, .cellular, .addresses([.none])), .wait(.path)),
        .init("any path, offline, a name", .init(.any, .notReachable, .name(.notAsked)), .lookup),
        .init("WiFi, no path by it, a name", .init(.wifi, .cellular, .name(.notAsked)), .wait(.path)),
        .init(
            "WiFi, a path by it, a name",
            .init(.wifi, .cellular, .name(.notAsked), defaultInterface: 4),
            .lookup
        ),
        .init("WiFi, offline, localhost", .init(.wifi, .notReachable, .name(.local)), .lookup),
        .init("a name that is looked up", .init(.any, .notReachable, .name(.looking)), .wait(.name)),
        .init("no name server", .init(.any, .notReachable, .name(.temporaryFailure)), .wait(.nameServer)),
        .init(
            "no name server, though there is a path",
            .init(.wifi, .wifi, .name(.temporaryFailure), defaultInterface: 4),
            .wait(.nameServer)
        ),
        .init("no such name, offline", .init(.any, .notReachable, .name(.failure)), .wait(.path)),
        .init("no such name, online", .init(.any, .wifi, .name(.failure), isDoubted: true), .go),
        .init("no such name, no path by WiFi", .init(.wifi, .cellular, .name(.failure)), .wait(.path)),
        .init(
            "no such name, a path by WiFi: bound all the same",
            .init(.wifi, .cellular, .name(.failure), defaultInterface: 4),
            .goTo(nil, boundTo: 4)
        ),
    ]

    @Test(arguments: rows)
    func `each row`(row: Row) {
        #expect(GateTable.verdict(row.question) == row.verdict)
    }

    @Test func `nothing that is restricted goes unbound, but to this machine`() {
        let requirements: [PathRequirement] = [.notCellular, .wifi, .notExpensive, .interface("wlan0")]
        let ways: [GateWay] = [.here, .through(3), .none]
        for requirement in requirements {
            for status in [ReachabilityStatus.unknown, .notReachable, .cellular, .wifi] {
                for way in ways {
                    for other in ways {
                        let question = GateQuestion(requirement, status, .addresses([way, other]))
                        let verdict = GateTable.verdict(question)
                        #expect(verdict != .go)
                        guard case .goTo(let positions?, boundTo: nil) = verdict else { continue }
                        #expect(positions.allSatisfy { [way, other][$0] == .here })
                    }
                }
                for name in [GateName.notAsked, .local, .looking, .temporaryFailure, .failure] {
                    #expect(GateTable.verdict(.init(requirement, status, .name(name))) != .go)
                }
            }
        }
    }
}
