import CommandLineSupport
import NetwatchCore
import ReachabilityCore

@testable import netwatch

extension Timestamp {
    /// The moment in UTC.
    var utcText: String { text(by: .utc) }

    /// The moment at an offset from UTC, in seconds.
    func localText(offset: Int) -> String { text(by: .init { _ in offset }) }

    private func text(by clock: consuming TimestampText) -> String {
        var line = LineBuffer(capacity: 1)
        clock.write(self, to: &line)
        return line.text
    }
}

extension ReachabilityChange {
    /// The change as a line for people.
    func textLine(at time: Timestamp = Samples.time, utcOffset: Int = 3600) -> String {
        line(.text, at: time, clock: .init { _ in utcOffset })
    }

    /// The change as a JSON line.
    func jsonLine(at time: Timestamp = Samples.time, tellsKindSource: Bool = false) -> String {
        line(tellsKindSource ? .detailedJSON : .json, at: time)
    }

    private func line(_ format: ChangeFormat, at time: Timestamp, clock: consuming TimestampText? = nil) -> String {
        var line = ChangeLine(format, clock: clock)
        line.set(self, at: time)
        return String(decoding: line.bytes, as: UTF8.self)
    }
}
