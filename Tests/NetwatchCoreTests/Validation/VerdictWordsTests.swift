import NetwatchCore
import Testing
import ValidationCore

@Suite struct VerdictWordsTests {
    @Test(arguments: [
        (ValidationVerdict.validated, "validated", false), (.notChecked, "not checked", false),
        (.portal(.init()), "portal", true),
        (.portal(.init(venueURL: "https://h.example/")), "portal at https://h.example/", true),
        (
            .portal(.init(loginURL: "http://h.example/login", venueURL: "https://h.example/")),
            "portal at http://h.example/login", true
        ),
        (.noInternet(.noResponse), "no internet: no server answers", true),
        (
            .noInternet(.interception("issued by Hotel")),
            "no internet: another answers with a certificate of its own (issued by Hotel)", true
        ),
        (.noInternet(.interception("")), "no internet: another answers with a certificate of its own", true),
    ])
    func `a verdict has words`(verdict: ValidationVerdict, words: String, isLimited: Bool) {
        #expect(verdict.words == words && verdict.isLimited == isLimited)
    }

    @Test func `each reason has words of its own`() {
        let reasons: [NoInternetReason] = [
            .noResponse, .unreachable, .refused, .connectionCut, .nameServer, .unknownNames, .interception("x"),
            .proxyLogin,
        ]
        #expect(Set(reasons.map(\.words)).count == reasons.count)
    }
}
