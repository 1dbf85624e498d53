import CommandLineLab
import EventServer
import Glibc
import NIOCore
import NetworkLab
import Testing

@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct EventStreamTests {
    @Test func `a stream begins with the state and continues with every event`() throws {
        let lab = try ServerLab()
        lab.publish(2)
        let client = try lab.follow()
        #expect(try client.event() == ["id": ServerLab.id(2), "data": #"{"v":1,"seq":2,"event":"state","x":""}"#])
        lab.publish()
        #expect(try client.event() == ["id": ServerLab.id(3), "data": #"{"v":1,"seq":3,"event":"change","x":""}"#])
    }

    @Test func `with Accept: application/x-ndjson the lines are those of watch --json`() throws {
        let lab = try ServerLab()
        lab.publish()
        let client = try lab.follow("/v1/events", "Accept: application/x-ndjson")
        #expect(try client.line() == #"{"v":1,"seq":1,"event":"state","x":""}"#)
        lab.publish(2)
        #expect(try client.line() == #"{"v":1,"seq":2,"event":"change","x":""}"#)
        #expect(try client.line() == #"{"v":1,"seq":3,"event":"change","x":""}"#)
    }

    @Test(arguments: [("/v1/events", "Last-Event-ID: "), ("/v1/events?after=", "")])
    func `a client that resumes receives what it missed`(target: String, field: String) throws {
        let lab = try ServerLab()
        lab.publish(4)
        let id = ServerLab.id(2)
        let client = try field.isEmpty ? lab.follow(target + id) : lab.follow(target, field + id)
        #expect(try client.event()?["id"] == ServerLab.id(3))
        #expect(try client.event()?["id"] == ServerLab.id(4))
    }

    @Test(arguments: [("00000000000000ff.3", #""00000000000000ff.3""#), ("what", "null")])
    func `an unknown id gives a gap without an id, then the state`(id: String, from: String) throws {
        let lab = try ServerLab()
        lab.publish(4)
        let client = try lab.follow("/v1/events", "Last-Event-ID: \(id)")
        let gap = try #require(try client.event())
        #expect(gap["id"] == nil)
        let report = #""gap":{"from":\#(from),"missed":null,"reason":"unknown"}}"#
        #expect(gap["data"] == #"{"v":1,"seq":4,"event":"gap","x":"",\#(report)"#)
        #expect(try client.event()?["id"] == ServerLab.id(4))
    }

    @Test func `a reader that takes nothing loses events to one gap, and delays no other`() throws {
        let lab = try ServerLab { $0.logCapacity = 64 }
        lab.publish()
        let slow = try lab.follow()
        let fast = try lab.follow()
        #expect(try fast.object()["seq"]?.number == 1)
        for sequence in 2...3000 {
            lab.publish(padding: 1000)
            #expect(try fast.object()["seq"]?.number == Double(sequence))
        }
        var (last, gaps) = (Double(0), 0)
        while last < 3000 {
            let object = try slow.object()
            let sequence = try #require(object["seq"]?.number)
            if object["event"]?.text == "gap" {
                gaps += 1
                #expect(object["gap"]?["missed"]?.number == sequence - last)
                #expect(object["gap"]?["reason"]?.text == "slow")
                last = sequence - 1
            } else {
                #expect(sequence == last + 1)
                last = sequence
            }
        }
        #expect(gaps == 1)
    }

    @Test func `in the mode latest, a slow reader receives the newest state instead`() throws {
        let lab = try ServerLab()
        lab.publish()
        let slow = try lab.follow("/v1/events?mode=latest")
        lab.publish(3000, padding: 1000)
        var (last, count) = (Double(0), 0)
        while last < 3000 {
            let object = try slow.object()
            #expect(object["event"]?.text != "gap")
            let sequence = try #require(object["seq"]?.number)
            #expect(sequence > last)
            (last, count) = (sequence, count + 1)
        }
        #expect(count < 3000)
    }

    @Test func `a quiet stream receives comments`() throws {
        let lab = try ServerLab { $0.commentInterval = .milliseconds(5) }
        lab.publish()
        let client = try lab.follow()
        _ = try client.event()
        #expect(try client.line() == ":")
        #expect(try client.line() == "")
    }

    @Test func `subscribers over the limit are served when another one ends`() throws {
        let lab = try ServerLab {
            $0.subscribers = 2
            $0.waiting = 1
        }
        lab.publish()
        let first = try [lab.follow(), lab.follow()]
        let third = try lab.client()
        third.request("/v1/events")
        // The server reads a request before one that was sent later.
        #expect(try lab.get("/metrics").body.contains("\nnetwatch_subscribers 2\n"))
        let refused = try lab.client()
        refused.request("/v1/events")
        #expect(throws: (any Error).self) { try refused.head() }
        first[0].end()
        #expect(try third.head().status == 200)
        #expect(try third.event()?["id"] == ServerLab.id(1))
    }

    @Test func `the end of the service ends the streams`() throws {
        let lab = try ServerLab()
        lab.publish()
        let client = try lab.follow()
        _ = try client.event()
        try lab.server.stop()
        #expect(try client.event() == nil)
    }

    @Test func `the path to a host is one object, or a stream of them`() throws {
        let lab = try ServerLab()
        let one = try lab.client()
        one.request("/v1/paths/server.example")
        let stream = try lab.follow("/v1/paths/2001:db8::7", "Accept: text/event-stream")
        let asked = try lab.paths.wait(for: "two requests") { $0.count == 2 }
        #expect(Set(asked.map(\.host)) == ["server.example", "2001:db8::7"])
        for request in asked { request.send(Array("{}\n".utf8)) }
        #expect(try one.response().body == "{}\n")
        #expect(try stream.event() == ["data": "{}"])
        let (object, events) = asked[0].host == "server.example" ? (asked[0], asked[1]) : (asked[1], asked[0])
        try object.hasEnded.inbox.wait(for: "the end of the first") { !$0.isEmpty }
        events.send(Array("{\"x\":1}\n".utf8))
        #expect(try stream.event() == ["data": #"{"x":1}"#])
        stream.end()
        try events.hasEnded.inbox.wait(for: "the end of the second") { !$0.isEmpty }
        #expect(try lab.get("/v1/paths/no%20host").status == 400)
    }
}
