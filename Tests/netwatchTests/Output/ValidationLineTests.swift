import CommandLineLab
import CommandLineSupport
import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@testable import netwatch

@Suite struct ValidationLineTests {
    private static func told(_ verdict: ValidationVerdict, isOfValidation: Bool = true) -> ValidatedChange {
        let summary = ValidationSummary(
            verdict: verdict,
            since: Samples.time,
            checkedAt: Samples.time,
            basis: .probes,
            path: ValidationPath(Samples.wifiPath),
            trouble: EndpointTrouble.Meaning.allCases.map {
                .init(endpoint: "http://a.example/", meaning: $0, detail: $0 == .fault ? "\u{1B}" : nil)
            },
            pendingTrigger: .requestFailed,
            sessionEnd: Samples.time,
            bytesLeft: 7
        )
        return .init(change: Samples.first, validation: summary, isOfValidation: isOfValidation)
    }

    private func line(_ format: ChangeFormat, _ told: ValidatedChange) -> String {
        var line = ChangeLine(format, clock: .init { _ in 3600 })
        line.set(told, at: Samples.time)
        return String(decoding: line.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ValidationVerdict.validated, .notChecked, .portal(.init(loginURL: "http://a/", venueURL: "https://b/")),
        .noInternet(.noResponse), .noInternet(.unreachable), .noInternet(.refused), .noInternet(.connectionCut),
        .noInternet(.nameServer), .noInternet(.unknownNames), .noInternet(.interception("x")), .noInternet(.proxyLogin),
    ])
    func `a line of JSON with a verdict is valid by the schema`(verdict: ValidationVerdict) throws {
        for isOfValidation in [true, false] {
            var line = ChangeLine(.detailedJSON)
            line.set(Self.told(verdict, isOfValidation: isOfValidation), at: Samples.time)
            let value = try EventSchema.parse(String(decoding: line.bytes, as: UTF8.self))
            #expect(value["event"] == .string(isOfValidation ? "validation" : "state"))
            #expect(value["validation"]?["verdict"] == .string(verdict.name))
            #expect(value["validation"]?["trouble"]?.elements?.count == EndpointTrouble.Meaning.allCases.count)
        }
    }

    @Test(arguments: ValidationTrigger.allCases)
    func `the schema knows each event after which a verdict is checked again`(trigger: ValidationTrigger) throws {
        let told = Self.told(.validated)
        var summary = try #require(told.validation)
        summary.pendingTrigger = trigger
        var line = ChangeLine(.json)
        line.set(.init(change: told.change, validation: summary, isOfValidation: true), at: Samples.time)
        #expect(try EventSchema.parse(String(decoding: line.bytes, as: UTF8.self))["validation"] != nil)
    }

    @Test func `a verdict is a line of text, and a change keeps its own`() {
        let portal = Self.told(.portal(.init(loginURL: "https://hotel.example/")))
        let text = line(.text, portal)
        #expect(text.hasSuffix(" validation: cellular, but a portal asks for a login at https://hotel.example/\n"))
        #expect(line(.text, Self.told(.validated, isOfValidation: false)) == Samples.first.textLine())
    }

    @Test func `without a report a line is what it is without validation`() {
        for format in [ChangeFormat.text, .detailedJSON] {
            #expect(
                format.line(ValidatedChange(change: Samples.first), at: Samples.time)
                    == format.line(Samples.first, at: Samples.time)
            )
        }
    }

    @Test func `a template has fields for the verdict and the portal's page`() throws {
        let format = ChangeFormat.template(try .init("{event} {validation} {login}"))
        #expect(line(format, Self.told(.portal(.init(loginURL: "https://a/")))) == "validation portal https://a/\n")
        #expect(line(format, Self.told(.validated, isOfValidation: false)) == "state validated -\n")
        #expect(line(format, .init(change: Samples.first)) == "state - -\n")
    }
}
