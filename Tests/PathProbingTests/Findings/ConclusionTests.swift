import PathProbing
import Testing
import ValidationCore

struct ConclusionTests {
    private static let page = "http://hotel.example/"

    @Test(
        arguments: [
            ([.succeeded(.connection)], .validated),
            ([.succeeded(.content)], .validated),
            ([.succeeded(.authenticated)], .validated),
            ([.endpointFault("status 500")], .validated),
            ([.portal(page)], .portal(page)),
            ([.portal(nil)], .portal(nil)),
            ([.interception("self-signed")], .noInternet(.interception("self-signed"), isHard: true)),
            ([.proxyLogin], .noInternet(.proxyLogin, isHard: true)),
            ([.inconclusive("status 503")], .unknown),
            ([], .unknown),
        ] as [([ProbeMeaning], Conclusion)]
    )
    func `one answer is what it means`(results: [ProbeMeaning], expected: Conclusion) {
        #expect(Conclusion(results) == expected)
    }

    @Test(arguments: [
        ProbeMeaning.failed(.timedOut), .failed(.refused), .failed(.unreachable), .failed(.connectionCut),
        .failed(.nameServer), .failed(.unknownName), .inconclusive("status 503"), .portal(page),
    ])
    func `two endpoints that differ are an endpoint's trouble`(other: ProbeMeaning) {
        for proof in [ProbeMeaning.succeeded(.content), .succeeded(.authenticated), .endpointFault("status 500")] {
            #expect(Conclusion([other, proof]) == .validated)
            #expect(Conclusion([proof, other]) == .validated)
        }
    }

    @Test func `a portal lets connections and names through`() {
        #expect(Conclusion([.portal(Self.page), .succeeded(.connection)]) == .portal(Self.page))
        #expect(Conclusion([.succeeded(.connection), .failed(.timedOut), .portal(nil)]) == .portal(nil))
    }

    @Test func `the first page that a portal gives counts`() {
        #expect(Conclusion([.portal(nil), .portal(Self.page), .portal("http://other.example/")]) == .portal(Self.page))
    }

    @Test func `a foreign certificate outweighs content over plain HTTP, not another's certificate`() {
        let foreign = ProbeMeaning.interception("issued by Hotel")
        #expect(
            Conclusion([.succeeded(.content), foreign]) == .noInternet(.interception("issued by Hotel"), isHard: true)
        )
        #expect(Conclusion([.succeeded(.authenticated), foreign]) == .validated)
        #expect(Conclusion([.portal(Self.page), .succeeded(.content), foreign]) == .portal(Self.page))
        #expect(Conclusion([.portal(Self.page), foreign]) == .portal(Self.page))
    }

    @Test func `a proxy's login outweighs a mere connection`() {
        #expect(Conclusion([.proxyLogin, .succeeded(.connection)]) == .noInternet(.proxyLogin, isHard: true))
        #expect(Conclusion([.proxyLogin, .succeeded(.content)]) == .validated)
    }

    @Test(
        arguments: [
            ([.timedOut], .noInternet(.noResponse, isHard: false)),
            ([.timedOut, .timedOut], .noInternet(.noResponse, isHard: false)),
            ([.timedOut, .nameServer], .noInternet(.noResponse, isHard: false)),
            ([.connectionCut], .noInternet(.connectionCut, isHard: false)),
            ([.connectionCut, .nameServer], .noInternet(.connectionCut, isHard: false)),
            ([.unreachable], .noInternet(.unreachable, isHard: true)),
            ([.unreachable, .unreachable], .noInternet(.unreachable, isHard: true)),
            ([.unreachable, .timedOut], .noInternet(.unreachable, isHard: false)),
            ([.nameServer], .noInternet(.nameServer, isHard: false)),
            ([.nameServer, .nameServer], .noInternet(.nameServer, isHard: false)),
            // One endpoint that refuses is down; several are not, by chance.
            ([.refused], .unknown),
            ([.refused, .refused], .noInternet(.refused, isHard: true)),
            ([.refused, .timedOut], .unknown),
            ([.unknownName], .unknown),
            ([.unknownName, .unknownName], .noInternet(.unknownNames, isHard: false)),
            ([.unknownName, .timedOut], .unknown),
        ] as [([ProbeFailure], Conclusion)]
    )
    func `failures without any answer`(failures: [ProbeFailure], expected: Conclusion) {
        let results = failures.map(ProbeMeaning.failed)
        #expect(Conclusion(results) == expected)
        #expect(Conclusion(results.reversed()) == expected)
    }

    @Test func `an answer that allows no conclusion prevents one from failures`() {
        #expect(Conclusion([.inconclusive("status 503"), .failed(.timedOut)]) == .unknown)
    }

    @Test func `no combination with a proof is called 'no internet', but for a foreign certificate or a proxy's login`()
    {
        let kinds: [ProbeMeaning] =
            [.endpointFault(""), .portal(nil), .interception(""), .proxyLogin, .inconclusive("")]
            + ProofStrength.allCases.map(ProbeMeaning.succeeded)
            + [.timedOut, .refused, .unreachable, .connectionCut, .nameServer, .unknownName].map(ProbeMeaning.failed)
        for one in kinds {
            for two in kinds {
                for three in kinds {
                    let results = [one, two, three]
                    guard case .noInternet(let reason, _) = Conclusion(results) else { continue }
                    let proves = results.contains { if case .succeeded = $0 { true } else { $0 == .endpointFault("") } }
                    #expect(!proves || reason == .interception("") || reason == .proxyLogin, "\(results)")
                }
            }
        }
    }
}
