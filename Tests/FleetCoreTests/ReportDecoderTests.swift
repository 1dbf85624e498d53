import EventCore
import FleetCore
import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct ReportDecoderTests {
    private let decoder = ReportDecoder()
    private let node = FleetNode(group: "g", name: "n", labels: ["site": "Basel"])
    private let id = "00f3a2b1c4d5e6f7.42"

    private func payload(_ id: String?, _ object: String) throws -> [UInt8] {
        try #require(FleetEvent(id: id, object: Array(object.utf8))).payload(of: node)
    }

    private func object(_ members: String = "", event: String = "change") -> String {
        #"{"v":1,"seq":42,"time":"2026-11-23T02:00:00.000000Z","event":"\#(event)","status":"notReachable","#
            + #""previous":"wifi","reasons":["link.carrier.lost"],"path":{"interface":null}\#(members)}"#
    }

    @Test func `a link that was sent is read`() throws {
        let link = FleetLink(session: "s", boot: "b", keepAlive: 60, version: "1", time: "2026-11-23T02:00:00Z")
        let report = try decoder.decode(topic: node.linkTopic, payload: link.payload(of: node))
        let time = Timestamp(rfc3339: "2026-11-23T02:00:00Z")
        let expected = LinkReport(session: "s", boot: "b", time: time, keepAlive: 60, version: "1", labels: node.labels)
        #expect(report == .init(key: .init(group: "g", name: "n"), content: .link(expected)))
        var will = link
        (will.offline, will.time) = (.lost, nil)
        let lost = try decoder.decode(topic: node.linkTopic, payload: will.payload(of: node))
        guard case .link(let read) = lost.content else { return #expect(Bool(false)) }
        #expect(read.offline == .lost && read.time == nil)
    }

    @Test func `an event that was sent is read, on both topics`() throws {
        let payload = try payload(id, object())
        let expected = EventReport(
            id: try .init(parsing: id),
            time: try #require(Timestamp(rfc3339: "2026-11-23T02:00:00Z")),
            status: .notReachable,
            reasons: ["link.carrier.lost"]
        )
        #expect(try decoder.decode(topic: node.eventsTopic, payload: payload).content == .event(expected))
        #expect(try decoder.decode(topic: node.stateTopic, payload: payload).content == .state(expected))
    }

    @Test func `an event of a machine whose prefix, group and name are as long as they may be is read`() throws {
        let long = String(repeating: "x", count: ReportBounds.name)
        let node = FleetNode(prefix: String(repeating: "p", count: 200), group: long, name: long)
        let event = try #require(FleetEvent(id: id, object: Array(object().utf8)))
        let decoder = ReportDecoder(prefix: node.prefix)
        let report = try decoder.decode(topic: node.eventsTopic, payload: event.payload(of: node))
        #expect(report.key == .init(group: long, name: long))
    }

    @Test func `the path and a suspension are read`() throws {
        let text = object(#","suspended":12.5"#, event: "suspend").replacing(
            #"{"interface":null}"#,
            with: #"{"interface":{"index":3,"name":"wlan0","kind":"wifi"},"ipv4":null,"ipv6":{"gateway":"fe80::1"}}"#
        )
        let report = try decoder.decode(topic: node.eventsTopic, payload: payload(id, text))
        guard case .event(let event) = report.content else { return #expect(Bool(false)) }
        #expect(event.path == .init(interface: "wlan0", kind: "wifi", gateway: "fe80::1"))
        #expect(event.suspension == .seconds(12.5))
    }

    private func validation(_ member: String, event: String = "change") throws -> NodeValidation? {
        let text = object(#","validation":\#(member)"#, event: event)
        let report = try decoder.decode(topic: node.eventsTopic, payload: payload(id, text))
        guard case .event(let event) = report.content else { return nil }
        return event.validation
    }

    @Test func `the verdict on the path is read, also from an event of its own`() throws {
        let time = try #require(Timestamp(rfc3339: "2026-11-23T02:00:00Z"))
        for verdict in [
            ValidationVerdict.validated, .notChecked, .noInternet(.interception("Hotel")),
            .portal(.init(loginURL: "https://h.example/", venueURL: "https://v.example/")),
        ] {
            let summary = ValidationSummary(verdict: verdict, since: time, checkedAt: time, basis: .probes)
            let expected = NodeValidation(verdict: verdict, checkedAt: time)
            #expect(try validation(summary.json) == expected)
            #expect(try validation(summary.json, event: "validation") == expected)
        }
    }

    @Test(arguments: [
        "null", "7", "[]", "{}", #"{"verdict":"excellent","since":"2026-11-23T02:00:00Z","basis":"none","trouble":[]}"#,
        #"{"verdict":"noInternet","reason":"internet.new","since":"2026-11-23T02:00:00Z","basis":"none","trouble":[]}"#,
    ]) func `a verdict of a later version, or none, is left out, and the event is read`(member: String) throws {
        #expect(try validation(member) == nil)
    }

    @Test func `what a portal chose is limited`() throws {
        let long = String(repeating: "x", count: 1_025)
        let portal = ValidationVerdict.portal(
            .init(loginURL: "https://h.example/\(long)", venueURL: "https://v.example/")
        )
        let time = Timestamp(seconds: 0, nanoseconds: 0)
        let kept = try validation(ValidationSummary(verdict: portal, since: time).json)
        #expect(kept?.verdict == .portal(.init(venueURL: "https://v.example/")))
        let other = ValidationSummary(verdict: .noInternet(.interception(long)), since: time)
        #expect(try validation(other.json)?.verdict == .noInternet(.interception(String(long.prefix(128)))))
    }

    @Test func `a gap is read`() throws {
        let text = object(#","gap":{"from":"\#(id)","missed":7,"reason":"expired"}"#, event: "gap")
        let report = try decoder.decode(topic: node.eventsTopic, payload: payload(nil, text))
        guard case .gap(let gap) = report.content else { return #expect(Bool(false)) }
        #expect(gap.from == (try EventID(parsing: id)) && gap.missed == 7 && gap.reason == "expired")
    }

    @Test func `foreign members are ignored, and an empty retained payload is a removal`() throws {
        let text = object(#","future":{"a":[1,2]}"#)
        _ = try decoder.decode(topic: node.eventsTopic, payload: payload(id, text))
        #expect(try decoder.decode(topic: node.linkTopic, payload: []).content == .removed)
    }

    /// Replaces a part of a good message, and returns the error.
    private func error(_ topic: String, _ payload: [UInt8], _ part: String, _ other: String) -> String? {
        let changed = String(decoding: payload, as: UTF8.self).replacing(part, with: other)
        do {
            _ = try decoder.decode(topic: topic, payload: Array(changed.utf8))
            return nil
        } catch {
            return error.problem
        }
    }

    @Test(arguments: [
        ("\"online\":true", "\"online\":1", "'online' is not true or false"),
        ("\"online\":true", "\"online\":false", "'online' is false, but 'reason' is neither 'lost' nor 'stopped'"),
        ("\"reason\":null", "\"reason\":\"lost\"", "'online' is true, but there is a 'reason'"),
        ("\"v\":1", "\"v\":2", "'v' is 2; only version 1 is known"),
        ("\"node\":\"n\"", "\"node\":\"m\"", "'node' is 'm', but the topic says 'n'"),
        ("\"session\":\"s\",", "", "'session' is missing"),
        ("\"keepAlive\":60", "\"keepAlive\":70000", "'keepAlive' is not a whole number up to 65535"),
        ("\"Basel\"", "7", "'labels.site' is not a string"),
        ("{", "[", "the payload is no JSON object: line 1, column 5: a ',' or ']' is missing"),
    ]) func `a bad link is refused with what is wrong`(part: String, other: String, problem: String) {
        let link = FleetLink(session: "s", keepAlive: 60, version: "1", time: nil)
        #expect(error(node.linkTopic, link.payload(of: node), part, other) == problem)
    }

    @Test(arguments: [
        ("\"specversion\":\"1.0\"", "\"specversion\":\"2.0\"", "'specversion' is '2.0', not '1.0'"),
        ("netwatch/g/n", "netwatch/g/m", "'source' is 'netwatch/g/m', not 'netwatch/g/n'"),
        ("netwatch.change", "netwatch.state", "'type' is 'netwatch.state', but the event is 'change'"),
        ("\"seq\":42", "\"seq\":43", "'seq' is 43, but the id says 42"),
        ("f7.42", "f7", "'id' is not an event's: '00f3a2b1c4d5e6f7'"),
        ("\"status\":\"notReachable\"", "\"status\":\"lan\"", "there is no status 'lan'"),
        (
            "\"time\":\"2026-11-23T02:00:00.000000Z\",\"event\"", "\"time\":\"now\",\"event\"",
            "'data.time' is not a time as RFC 3339 has it"
        ),
        ("[\"link.carrier.lost\"]", "[7]", "'data.reasons' is not an array of strings of at most 128 bytes"),
        ("{\"interface\":null}", "{\"interface\":{\"name\":7}}", "'data.path.interface.name' is not a string"),
    ]) func `a bad event is refused with what is wrong`(part: String, other: String, problem: String) throws {
        #expect(error(node.eventsTopic, try payload(id, object()), part, other) == problem)
    }

    @Test func `texts and numbers without measure are refused`() throws {
        let long = String(repeating: "x", count: 129)
        let link = FleetLink(session: long, keepAlive: 60, version: "1", time: nil).payload(of: node)
        #expect(error(node.linkTopic, link, "", "") == "'session' is not a string of at most 128 bytes")
        let big = [UInt8](repeating: 0x20, count: ReportDecoder.maximumPayload + 1)
        #expect(throws: ReportError.self) { try decoder.decode(topic: node.linkTopic, payload: big) }
        for seconds in ["1e300", "-1"] {
            let text = object(#","suspended":\#(seconds)"#, event: "suspend")
            #expect(throws: ReportError.self) {
                try decoder.decode(topic: node.eventsTopic, payload: payload(id, text))
            }
        }
    }

    @Test(arguments: [
        "netwatch/g/n", "netwatch/g/n/config", "other/g/n/link", "netwatch//n/link", "netwatch/a/b/c/link",
    ])
    func `another topic is refused`(topic: String) {
        #expect(throws: ReportError.self) { try decoder.decode(topic: topic, payload: []) }
    }

    @Test func `the error names the topic, safe for a terminal`() {
        do {
            _ = try decoder.decode(topic: "netwatch/\u{1B}/n/link", payload: Array("{}".utf8))
            #expect(Bool(false))
        } catch {
            #expect(error.description == #"cannot read the message on 'netwatch/\u{1b}/n/link': 'v' is missing"#)
        }
    }

    @Test func `a message of the year 1 or 9999 is read, and computed with`() throws {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        for (sequence, year) in [(42, "0001"), (43, "9999")] {
            let text = object(#","suspended":1e9"#, event: "suspend").replacing("2026", with: year)
                .replacing("\"seq\":42", with: "\"seq\":\(sequence)")
            let payload = try payload("00f3a2b1c4d5e6f7.\(sequence)", text)
            let report = try decoder.decode(topic: node.eventsTopic, payload: payload)
            story.receive(report.content, at: 1)
        }
        #expect(try story.node().availability == nil)
    }
}
