import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct ValidationSummaryTests {
    private static func decoded(_ text: String) throws -> ValidationSummary {
        try ValidationSummary(decoding: Array(text.utf8)[...])
    }

    private static let path = ValidationPath(
        interface: 3,
        name: "wlan0",
        gateways: [.init(ipv4: 0xC000_0201)],
        networks: [.init(.init(ipv4: 0xC000_0207), length: 32)],
        isMetered: true
    )

    @Test func `a portal's report is written with all members in their order`() {
        let summary = ValidationSummary(
            verdict: .portal(.init(loginURL: "https://hotel.example/\"\u{1B}[2J")),
            since: .init(seconds: 1_795_651_200, nanoseconds: 1_000),
            checkedAt: .init(seconds: 1_795_651_201, nanoseconds: 0),
            basis: .probes,
            path: Self.path,
            trouble: [.init(endpoint: "http://a.example/", meaning: .portal)],
            pendingTrigger: .requestFailed
        )
        let expected =
            #"{"verdict":"portal","since":"2026-11-26T00:00:00.000001Z","checked":"2026-11-26T00:00:01.000000Z","#
            + #""basis":"probes","reason":null,"detail":null,"loginURL":"https://hotel.example/\"\u001b[2J","#
            + #""venueURL":null,"expires":null,"bytesLeft":null,"#
            + #""path":{"interface":"wlan0","index":3,"gateways":["192.0.2.1"],"networks":["192.0.2.7/32"],"metered":true},"#
            + #""trouble":[{"endpoint":"http://a.example/","meaning":"portal","detail":null}],"pending":"requestFailed"}"#
        #expect(summary.json == expected)
    }

    @Test func `every report that is written is read back unchanged`() throws {
        var generator = SeededGenerator(seed: 22)
        for _ in 0..<5_000 {
            let summary = ValidationSummary.random(&generator)
            #expect(try Self.decoded(summary.json) == summary, "\(summary.json)")
        }
    }

    @Test func `changed, shortened and lengthened texts are read or refused`() throws {
        var generator = SeededGenerator(seed: 23)
        var refused = 0
        for _ in 0..<5_000 {
            var bytes = Array(ValidationSummary.random(&generator).json.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[position] = .random(in: 0 ... .max, using: &generator)
                case 1: bytes.removeSubrange(position..<min(position + 9, bytes.count))
                default: bytes.insert(contentsOf: bytes.prefix(9), at: position)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            do { _ = try ValidationSummary(decoding: bytes[...]) } catch { refused += 1 }
        }
        #expect(refused > 2_500)
    }

    @Test(arguments: [
        ("", "it is no JSON: line 1, column 1: a value is missing"), ("[]", "the report is no object"),
        ("{}", "'verdict' is missing"), (#"{"verdict":7}"#, "'verdict' is no string"),
        (#"{"verdict":"fine"}"#, "'verdict' is unknown"), (#"{"verdict":"noInternet"}"#, "'reason' is missing"),
        (#"{"verdict":"noInternet","reason":"x"}"#, "'reason' is unknown"),
        (#"{"verdict":"validated"}"#, "'since' is missing"),
        (#"{"verdict":"validated","since":"2026-13-01T00:00:00Z"}"#, "'since' is no time as RFC 3339 has it"),
    ])
    func `a report that is none is refused, and the member is named`(text: String, words: String) throws {
        let error = try #require(throws: ValidationSummaryError.self) { try Self.decoded(text) }
        #expect(error.reason == words)
        #expect(error.description == "the validation report can't be read: \(words)")
    }

    @Test(arguments: [
        (#""basis":"guess""#, "'basis' is unknown"),
        (#""bytesLeft":-1"#, "'bytesLeft' is no whole number in its range"),
        (#""bytesLeft":18446744073709551615"#, "'bytesLeft' is no whole number in its range"),
        (#""path":[]"#, "'path' is no object"), (#""path":{"index":1,"metered":false}"#, "'interface' is missing"),
        (#""path":{"index":99999999999,"interface":"a"}"#, "'index' is no whole number in its range"),
        (
            #""path":{"index":1,"interface":"a","gateways":["x"],"networks":[],"metered":false}"#,
            "an element of 'gateways' is invalid"
        ),
        (
            #""path":{"index":1,"interface":"a","gateways":[],"networks":["192.0.2.0/33"],"metered":false}"#,
            "an element of 'networks' is invalid"
        ),
        (#""trouble":{}"#, "'trouble' is no array"), (#""trouble":[1]"#, "an element of 'trouble' is no object"),
        (#""trouble":[{"endpoint":"a"}]"#, "'meaning' is missing"), (#""pending":"later""#, "'pending' is unknown"),
    ])
    func `a wrong member is refused`(member: String, words: String) throws {
        let name = member.prefix { $0 != ":" }
        let rest = [
            #""verdict":"validated""#, #""since":"2026-11-26T00:00:00Z""#, #""basis":"none""#, #""trouble":[]"#,
        ]
        let text = "{" + (rest.filter { !$0.hasPrefix(name) } + [member]).joined(separator: ",") + "}"
        let error = try #require(throws: ValidationSummaryError.self) { try Self.decoded(text) }
        #expect(error.reason == words)
    }

    @Test func `members of later versions are ignored`() throws {
        let text =
            #"{"verdict":"notChecked","since":"2026-11-26T01:00:00+01:00","basis":"none","trouble":[],"new":{"a":[]}}"#
        let summary = try Self.decoded(text)
        #expect(summary == .init(verdict: .notChecked, since: .init(seconds: 1_795_651_200, nanoseconds: 0)))
    }

    @Test func `a report's instants become times of the calendar`() throws {
        let second: Int64 = 1_000_000_000
        let endpoint = try #require(ValidationEndpoint.http("http://a.example/"))
        let finding = EndpointFinding(endpoint: endpoint, meaning: .failed(.timedOut), time: .init(nanoseconds: second))
        let proof = EndpointFinding(
            endpoint: .tls("b.example"),
            meaning: .succeeded(.authenticated),
            time: finding.time
        )
        let report = ValidationReport(
            verdict: .validated,
            path: Self.path,
            since: .init(nanoseconds: second),
            checkedAt: .init(nanoseconds: 3 * second),
            evidence: .probes([finding, proof]),
            session: .init(end: .init(nanoseconds: 15 * second), bytesLeft: 7)
        )
        let summary = ValidationSummary(
            report,
            at: .init(nanoseconds: 5 * second),
            is: .init(seconds: 1_000, nanoseconds: 5)
        )
        #expect(summary.since == .init(seconds: 996, nanoseconds: 5))
        #expect(summary.checkedAt == .init(seconds: 998, nanoseconds: 5))
        #expect(summary.sessionEnd == .init(seconds: 1_010, nanoseconds: 5))
        #expect(summary.bytesLeft == 7 && summary.basis == .probes && summary.path == Self.path)
        #expect(summary.trouble == [.init(endpoint: "http://a.example/", meaning: .timedOut)])
    }

    @Test func `a time that no clock can show is limited`() {
        let report = ValidationReport(
            verdict: .validated,
            path: nil,
            since: .init(nanoseconds: .min),
            session: .init(end: .init(nanoseconds: .max))
        )
        let summary = ValidationSummary(
            report,
            at: .init(nanoseconds: 0),
            is: .init(seconds: 2_000_000_000, nanoseconds: 0)
        )
        #expect(summary.sessionEnd == .init(nanosecondsSinceEpoch: .max))
        #expect(summary.since < .init(seconds: 0, nanoseconds: 0))
    }

    @Test(arguments: [
        ("https://hotel.example/login", 0, "https://hotel.example/login"),
        ("https://hotel.example:8443/", 3_000, "https://hotel.example:8443/"), ("https://", 3_000, nil),
    ])
    func `a portal's URL that is too long leads to its server, if that has a name of usual length`(
        start: String,
        excess: Int,
        expected: String?
    ) {
        let report = ValidationReport(
            verdict: .portal(.init(loginURL: start + String(repeating: "x", count: excess))),
            path: nil,
            since: .init(nanoseconds: 0)
        )
        let summary = ValidationSummary(report, at: .init(nanoseconds: 0), is: .init(seconds: 0, nanoseconds: 0))
        #expect(summary.verdict == .portal(.init(loginURL: expected)))
    }
}

extension ValidationSummary {
    /// A report with members that follow from the generator, of all kinds.
    fileprivate static func random(_ generator: inout SeededGenerator) -> Self {
        .init(
            verdict: verdict(&generator),
            since: time(&generator),
            checkedAt: Bool.random(using: &generator) ? time(&generator) : nil,
            basis: ValidationBasis.allCases.randomElement(using: &generator) ?? .none,
            path: Bool.random(using: &generator) ? path(&generator) : nil,
            trouble: (0..<Int.random(in: 0...3, using: &generator)).map { _ in trouble(&generator) },
            pendingTrigger: Bool.random(using: &generator)
                ? ValidationTrigger.allCases.randomElement(using: &generator) : nil,
            sessionEnd: Bool.random(using: &generator) ? time(&generator) : nil,
            bytesLeft: Bool.random(using: &generator) ? .random(in: 0 ... .max, using: &generator) : nil
        )
    }

    private static func verdict(_ generator: inout SeededGenerator) -> ValidationVerdict {
        let reasons: [NoInternetReason] = [
            .noResponse, .unreachable, .refused, .connectionCut, .nameServer, .unknownNames, .proxyLogin,
            .interception(text(&generator)),
        ]
        let verdicts: [ValidationVerdict] = [
            .validated, .notChecked, .portal(.init(loginURL: text(&generator))),
            .portal(.init(venueURL: text(&generator))),
        ]
        return (verdicts + reasons.map { .noInternet($0) }).randomElement(using: &generator) ?? .notChecked
    }

    private static func path(_ generator: inout SeededGenerator) -> ValidationPath {
        let ipv4 = IPAddress(ipv4: .random(in: 0 ... .max, using: &generator))
        let ipv6 = IPAddress(family: .ipv6, bits: .random(in: 0 ... .max, using: &generator))
        return .init(
            interface: .random(in: 0 ... .max, using: &generator),
            name: text(&generator),
            gateways: [ipv4, ipv6].filter { _ in Bool.random(using: &generator) },
            networks: [.init(ipv4, length: 32), .init(ipv6, length: 64)].filter { _ in Bool.random(using: &generator) },
            isMetered: .random(using: &generator)
        )
    }

    private static func trouble(_ generator: inout SeededGenerator) -> EndpointTrouble {
        .init(
            endpoint: text(&generator),
            meaning: EndpointTrouble.Meaning.allCases.randomElement(using: &generator) ?? .fault,
            detail: Bool.random(using: &generator) ? text(&generator) : nil
        )
    }

    private static func time(_ generator: inout SeededGenerator) -> Timestamp {
        .init(
            seconds: .random(in: 0...9_000_000_000, using: &generator),
            nanoseconds: .random(in: 0..<1_000_000, using: &generator) * 1_000
        )
    }

    /// Text with characters of all planes, controls and quotation marks among them.
    private static func text(_ generator: inout SeededGenerator) -> String {
        let limits: [UInt32] = [0x20, 0x80, 0xA0, 0x2070, 0xFFFF, 0x10FFFF]
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let limit = limits.randomElement(using: &generator) ?? 0x80
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &generator)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
