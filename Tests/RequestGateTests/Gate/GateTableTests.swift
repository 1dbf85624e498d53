import ReachabilityCore
import RequestGate
import Testing

/// Tests of the gate's decision table, with one case per row.
@Suite struct GateTableTests {
    /// A row of the table: the inputs and the decision.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let context: GateContext
        let verdict: GateVerdict

        init(_ name: String, _ context: GateContext, _ verdict: GateVerdict) {
            testDescription = name
            self.context = context
            self.verdict = verdict
        }
    }

    static let rows: [Row] = [
        .init("a Unix socket, any network", .init(.wifi, .notReachable, .unixSocket), .go),
        .init("a Unix socket, not known yet", .init(.wifi, .unknown, .unixSocket), .go),
        .init("any path, not known yet", .init(.any, .unknown, .name(.unresolved)), .go),
        .init("WiFi, not known yet", .init(.wifi, .unknown, .name(.unresolved)), .wait(.firstState)),
        .init("WiFi to an address, not known yet", .init(.wifi, .unknown, .addresses(nil)), .wait(.firstState)),
        .init("any path, online, a name", .init(.any, .wifi, .name(.unresolved)), .go),
        .init("any path, online by a modem, an address", .init(.any, .cellular, .addresses(nil)), .go),
        .init(
            "any path, online, to be revalidated",
            .init(.any, .wifi, .addresses(nil), needsRevalidation: true),
            .lookupRoutes
        ),
        .init(
            "any path, online, a name, to be revalidated",
            .init(.any, .wifi, .name(.unresolved), needsRevalidation: true),
            .lookup
        ),
        .init("any path, offline, an address", .init(.any, .notReachable, .addresses(nil)), .lookupRoutes),
        .init(
            "any path, offline, this machine's address",
            .init(.any, .notReachable, .addresses([.local])),
            .goTo([0], boundTo: nil)
        ),
        .init(
            "any path, offline, a host on the link",
            .init(.any, .notReachable, .addresses([.none, .interface(3), .local, .none, .interface(4)])),
            .goTo([1, 2, 4], boundTo: nil)
        ),
        .init("any path, offline, no route", .init(.any, .notReachable, .addresses([.none, .none])), .wait(.path)),
        .init("any path, offline, no addresses", .init(.any, .notReachable, .addresses([])), .wait(.path)),
        .init("WiFi, online, an address", .init(.wifi, .wifi, .addresses(nil)), .lookupRoutes),
        .init(
            "WiFi, two routes: only through the first",
            .init(.wifi, .cellular, .addresses([.none, .interface(4), .interface(3), .interface(4)])),
            .goTo([1, 3], boundTo: 4)
        ),
        .init(
            "WiFi, this machine's address needs no interface",
            .init(.wifi, .cellular, .addresses([.local, .interface(4)])),
            .goTo([0], boundTo: nil)
        ),
        .init("WiFi, no route through it", .init(.wifi, .cellular, .addresses([.none])), .wait(.path)),
        .init("any path, offline, a name", .init(.any, .notReachable, .name(.unresolved)), .lookup),
        .init("WiFi, no path through it, a name", .init(.wifi, .cellular, .name(.unresolved)), .wait(.path)),
        .init(
            "WiFi, a path through it, a name",
            .init(.wifi, .cellular, .name(.unresolved), defaultInterface: 4),
            .lookup
        ),
        .init("WiFi, offline, localhost", .init(.wifi, .notReachable, .name(.local)), .lookup),
        .init("a name that is being resolved", .init(.any, .notReachable, .name(.resolving)), .wait(.name)),
        .init("no name server", .init(.any, .notReachable, .name(.temporaryFailure)), .wait(.nameServer)),
        .init(
            "no name server despite a path",
            .init(.wifi, .wifi, .name(.temporaryFailure), defaultInterface: 4),
            .wait(.nameServer)
        ),
        .init("no such name, offline", .init(.any, .notReachable, .name(.failure)), .wait(.path)),
        .init("no such name, online", .init(.any, .wifi, .name(.failure), needsRevalidation: true), .go),
        .init("no such name, no path through WiFi", .init(.wifi, .cellular, .name(.failure)), .wait(.path)),
        .init(
            "no such name, a path through WiFi: still bound",
            .init(.wifi, .cellular, .name(.failure), defaultInterface: 4),
            .goTo(nil, boundTo: 4)
        ),
    ]

    @Test(arguments: rows)
    func `each row of the table holds`(row: Row) {
        #expect(GateTable.verdict(row.context) == row.verdict)
    }

    @Test func `a restricted request is never sent unbound except to this machine`() {
        let requirements: [PathRequirement] = [.notCellular, .wifi, .notExpensive, .interface("wlan0")]
        let routes: [RouteResult] = [.local, .interface(3), .none]
        for requirement in requirements {
            for status in [ReachabilityStatus.unknown, .notReachable, .cellular, .wifi] {
                for route in routes {
                    for other in routes {
                        let context = GateContext(requirement, status, .addresses([route, other]))
                        let verdict = GateTable.verdict(context)
                        #expect(verdict != .go)
                        guard case .goTo(let positions?, boundTo: nil) = verdict else { continue }
                        #expect(positions.allSatisfy { [route, other][$0] == .local })
                    }
                }
                for name in [GateName.unresolved, .local, .resolving, .temporaryFailure, .failure] {
                    #expect(GateTable.verdict(.init(requirement, status, .name(name))) != .go)
                }
            }
        }
    }
}
