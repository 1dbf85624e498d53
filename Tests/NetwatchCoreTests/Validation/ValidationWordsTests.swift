import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct ValidationWordsTests {
    private static func summary(
        _ verdict: ValidationVerdict,
        _ trouble: [EndpointTrouble] = [],
        isMetered: Bool = false
    ) -> ValidationSummary {
        .init(
            verdict: verdict,
            since: .init(seconds: 0, nanoseconds: 0),
            path: .init(interface: 4, name: "wlan0", isMetered: isMetered),
            trouble: trouble
        )
    }

    private static let silent = EndpointTrouble(endpoint: "http://a.example/", meaning: .timedOut)

    @Test(arguments: [
        (summary(.validated), "wifi, and servers on the internet answer"),
        (summary(.validated, [silent]), "wifi, and servers on the internet answer (in trouble: http://a.example/)"),
        (
            summary(.portal(.init(loginURL: "https://hotel.example/login"))),
            "wifi, but a portal asks for a login at https://hotel.example/login"
        ), (summary(.portal(.init())), "wifi, but a portal answers in the place of servers"),
        (summary(.noInternet(.noResponse), [silent]), "wifi, but http://a.example/ does not answer"),
        (summary(.noInternet(.noResponse), [silent, silent]), "wifi, but no server answers"),
        (
            summary(.noInternet(.interception("it is self-signed"))),
            "wifi, but another answers with a certificate that is not the server's: it is self-signed"
        ), (summary(.noInternet(.proxyLogin)), "wifi, but the proxy requires a login"),
        (summary(.notChecked), "wifi, not checked"),
        (summary(.notChecked, isMetered: true), "wifi, not checked: the path is metered"),
        (summary(.notChecked, [silent]), "wifi, not checked: http://a.example/: no answer"),
    ])
    func `a verdict is said in a line`(summary: ValidationSummary, line: String) {
        #expect(ValidationWords.line(summary, .wifi) == line)
    }

    @Test func `a portal's URL is shortened, and nothing in it is obeyed by a terminal`() {
        let url = "https://hotel.example/\u{1B}]0;x\u{7}\u{202E}\n" + String(repeating: "y", count: 500)
        let line = ValidationWords.line(Self.summary(.portal(.init(loginURL: url))), .wifi)
        #expect(
            line.hasPrefix(
                #"wifi, but a portal asks for a login at https://hotel.example/\u{1b}]0;x\u{7}\u{202e}\u{a}yyy"#
            )
        )
        #expect(line.hasSuffix("yyy...") && line.count < 150)
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F })
    }

    @Test func `every reason has a sentence and a fix`() {
        let reasons: [NoInternetReason] = [
            .noResponse, .unreachable, .refused, .connectionCut, .nameServer, .unknownNames, .interception("x"),
            .proxyLogin,
        ]
        let sentences = reasons.compactMap { ValidationWords.sentence(Self.summary(.noInternet($0))) }
        #expect(Set(sentences.map(\.text)).count == reasons.count)
        #expect(sentences.allSatisfy { $0.fix != nil })
        #expect(ValidationWords.sentence(Self.summary(.validated)) == nil)
    }

    @Test(arguments: EndpointTrouble.Meaning.allCases)
    func `each kind of trouble is said with its endpoint`(meaning: EndpointTrouble.Meaning) {
        let trouble = EndpointTrouble(endpoint: "tcp://a\u{1B}:80", meaning: meaning)
        let lines = ValidationWords.trouble(Self.summary(.validated, [trouble]))
        #expect(lines.count == 1 && lines[0].hasPrefix(#"tcp://a\u{1b}:80: "#))
    }
}
