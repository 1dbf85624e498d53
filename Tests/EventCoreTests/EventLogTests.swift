import EventCore
import Testing

@Suite struct EventLogTests {
    private var log = EventLog<Int>(run: 7, capacity: 3)

    private func id(_ sequence: UInt64) -> EventID { .init(run: 7, sequence: sequence) }

    /// All that a cursor receives now.
    private func everything(_ cursor: inout EventCursor<Int>) -> [EventDelivery<Int>] {
        var deliveries: [EventDelivery<Int>] = []
        while let delivery = cursor.next(in: log) { deliveries.append(delivery) }
        return deliveries
    }

    private mutating func publish(_ numbers: ClosedRange<Int>) { for number in numbers { log.append(number) } }

    @Test mutating func `a new subscriber receives the state, then every event`() {
        publish(1...2)
        var cursor = EventCursor(.now, in: log)
        #expect(everything(&cursor) == [.state(id(2), nil)])
        publish(3...4)
        #expect(everything(&cursor) == [.event(id(3), 3, nil), .event(id(4), 4, nil)])
    }

    @Test mutating func `a subscriber before the first event receives it as the state`() {
        var cursor = EventCursor(.now, in: log)
        #expect(everything(&cursor) == [])
        publish(1...2)
        #expect(everything(&cursor) == [.state(id(2), nil)])
    }

    @Test mutating func `a subscriber that resumes receives what it missed, and no state`() {
        publish(1...4)
        var cursor = EventCursor(.after(id(1)), in: log)
        #expect(everything(&cursor) == [.event(id(2), 2, nil), .event(id(3), 3, nil), .event(id(4), 4, nil)])
        var current = EventCursor(.after(id(4)), in: log)
        #expect(everything(&current) == [])
    }

    @Test mutating func `an expired id gives one gap with its size, then the state`() {
        publish(1...5)
        var cursor = EventCursor(.after(id(1)), in: log)
        publish(6...6)
        #expect(everything(&cursor) == [.state(id(6), .init(from: id(1), missed: 5, reason: .expired))])
    }

    @Test(arguments: [EventID(run: 8, sequence: 1), .init(run: 7, sequence: 9), nil])
    mutating func `an id of another run, of the future, or none gives a gap of unknown size`(unknown: EventID?) {
        publish(1...2)
        var cursor = EventCursor(.after(unknown), in: log)
        #expect(everything(&cursor) == [.state(id(2), .init(from: unknown, missed: nil, reason: .unknown))])
    }

    @Test mutating func `a subscriber that is too slow receives one gap, however much it missed`() {
        publish(1...1)
        var cursor = EventCursor(.now, in: log)
        #expect(everything(&cursor) == [.state(id(1), nil)])
        publish(2...1000)
        #expect(everything(&cursor) == [.state(id(1000), .init(from: id(1), missed: 999, reason: .slow))])
        publish(1001...1001)
        #expect(everything(&cursor) == [.event(id(1001), 1001, nil)])
    }

    @Test mutating func `in the mode latest, the newest state replaces several events, without a gap`() {
        publish(1...1)
        var cursor = EventCursor(.now, mode: .latest, in: log)
        #expect(everything(&cursor) == [.state(id(1), nil)])
        publish(2...2)
        #expect(everything(&cursor) == [.event(id(2), 2, nil)])
        publish(3...9)
        #expect(everything(&cursor) == [.state(id(9), nil)])
        var resumed = EventCursor(.after(.init(run: 1, sequence: 1)), mode: .latest, in: log)
        #expect(everything(&resumed) == [.state(id(9), nil)])
    }

    @Test func `the event of a gap has all members of the state and the report`() {
        let state = Array(#"{"v":1,"seq":9,"event":"state","status":"wifi","reasons":[]}"#.utf8) + [10]
        let gap = EventGap(from: id(3), missed: 6, reason: .slow)
        let text = String(decoding: EventText.line(of: gap, at: state), as: UTF8.self)
        let member = #""gap":{"from":"0000000000000007.3","missed":6,"reason":"slow"}"#
        #expect(text == #"{"v":1,"seq":9,"event":"gap","status":"wifi","reasons":[],\#(member)}"# + "\n")
        let unknown = EventGap(from: nil, missed: nil, reason: .unknown)
        let end = #""gap":{"from":null,"missed":null,"reason":"unknown"}}"# + "\n"
        #expect(String(decoding: EventText.line(of: unknown, at: state), as: UTF8.self).hasSuffix(end))
    }

    @Test func `a server-sent event has its id, its data and an empty line`() {
        let text = String(decoding: EventText.serverSent(Array("{}\n".utf8), id: id(3)), as: UTF8.self)
        #expect(text == "id: 0000000000000007.3\ndata: {}\n\n")
        #expect(String(decoding: EventText.serverSent(Array("{}\n".utf8), id: nil), as: UTF8.self) == "data: {}\n\n")
    }
}
