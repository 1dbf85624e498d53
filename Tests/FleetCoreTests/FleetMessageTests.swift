import FleetCore
import MQTTCore
import NetwatchCore
import Testing

@Suite struct FleetMessageTests {
    private let node = FleetNode(group: "g", name: "n", labels: ["site": "Basel \"1\""])

    private func event(_ number: Int) throws -> FleetEvent {
        let object = #"{"v":1,"time":"2026-11-23T02:00:00.000000Z","seq":\#(number),"event":"change","status":"wifi"}"#
        return try #require(FleetEvent(id: "r.\(number)", object: Array(object.utf8)))
    }

    private func members(_ payload: [UInt8]) throws -> [String: JSONText] {
        try #require(try JSONText(payload[...]).members)
    }

    @Test func `an event is a CloudEvent whose data is its object`() throws {
        let message = FleetMessage.event(try event(7), of: node)
        let members = try members(message.payload)
        #expect(message.topic == "netwatch/g/n/events" && message.qos == .atLeastOnce && !message.isRetained)
        #expect(members["id"]?.string == "r.7" && members["type"]?.string == "netwatch.change")
        #expect(members["source"]?.string == "netwatch/g/n" && members["subject"]?.string == "wifi")
        #expect(members["data"]?.members?["seq"]?.wholeNumber == 7)
        #expect(message.properties[text: .contentType] == "application/cloudevents+json")
    }

    @Test func `the report of a gap has an id of its own`() throws {
        let object =
            #"{"v":1,"time":"T","event":"gap","status":"wifi","gap":{"from":"r.3","missed":2,"reason":"slow"}}"#
        let gap = try #require(FleetEvent(id: nil, object: Array(object.utf8)))
        #expect(try members(gap.payload(of: node))["id"]?.string == "r.3+gap@T")
    }

    @Test func `the state and the link are retained, and expire`() throws {
        let link = FleetLink(session: "s", keepAlive: 60, version: "1", time: "T")
        let messages = [FleetMessage.state(try event(1), of: node), FleetMessage.link(link, of: node)]
        for message in messages {
            #expect(message.isRetained && message.properties[number: .messageExpiryInterval] == 2_592_000)
        }
        let members = try members(messages[1].payload)
        #expect(members["online"]?.isTrue == true && members["reason"]?.isNull == true)
        #expect(members["labels"]?.members?["site"]?.string == "Basel \"1\"")
    }

    @Test func `the will says that the machine was lost, without a time`() throws {
        let link = FleetLink(session: "s", keepAlive: 60, version: "1", time: "T")
        let will = FleetMessage.will(link, of: node, delay: 15)
        let members = try members(will.payload)
        #expect(
            will.topic == "netwatch/g/n/link" && will.isRetained && will.properties[number: .willDelayInterval] == 15
        )
        #expect(members["online"]?.isTrue == false && members["reason"]?.string == "lost")
        #expect(members["time"]?.isNull == true && members["session"]?.string == "s")
    }

    @Test func `the position moves over events that are acknowledged with all before them`() throws {
        var window = ForwardWindow(capacity: 3, position: "r.0", firstToken: 10)
        var tokens: [UInt64] = []
        for number in 1...3 { tokens.append(window.add(try event(number))) }
        #expect(tokens == [10, 11, 12] && !window.hasRoom)
        let steps: [(token: UInt64, moves: Bool, position: String)] = [
            (11, false, "r.0"), (10, true, "r.2"), (99, false, "r.2"), (12, true, "r.3"),
        ]
        for step in steps {
            let moved = window.acknowledge(step.token)
            #expect(moved == step.moves && window.position == step.position)
        }
        #expect(window.isEmpty)
    }

    @Test func `before the first event is acknowledged, the position is that of the one before it`() throws {
        var window = ForwardWindow(position: nil)
        let first = try #require(ForwardWindow.position(before: "00f3a2b1c4d5e6f7.42"))
        window.begin(at: first)
        #expect(window.position == "00f3a2b1c4d5e6f7.41")
        #expect(ForwardWindow.position(before: "none") == nil)
    }

    @Test func `an event that was refused is sent again, and holds the position`() throws {
        var window = ForwardWindow(position: nil)
        var tokens: [UInt64] = []
        for number in 1...2 { tokens.append(window.add(try event(number))) }
        window.refuse(tokens[0])
        _ = window.acknowledge(tokens[1])
        #expect(window.position == nil)
        let refused = [window.takeRefused(), window.takeRefused()]
        #expect(refused.map { $0.map(\.token) } == [[tokens[0]], []])
        _ = window.acknowledge(tokens[0])
        #expect(window.position == "r.2")
    }

    @Test func `Home Assistant finds a connectivity sensor, the state and the interface`() throws {
        let messages = HomeAssistantDiscovery().messages(of: .init(group: "site 3", name: "pümp"), version: "1")
        let names = ["binary_sensor", "sensor", "sensor"]
        #expect(messages.map { String($0.topic.split(separator: "/")[1]) } == names)
        #expect(messages[0].topic == "homeassistant/binary_sensor/netwatch_site_3_p_mp/network/config")
        #expect(messages.allSatisfy { $0.isRetained })
        let members = try messages.map { try self.members($0.payload) }
        #expect(members[0]["device_class"]?.string == "connectivity")
        #expect(Set(members.compactMap { $0["unique_id"]?.string }).count == 3)
        #expect(members[1]["options"]?.elements?.count == 4)
        #expect(members[2]["availability_topic"]?.string == "netwatch/site 3/pümp/link")
    }
}
