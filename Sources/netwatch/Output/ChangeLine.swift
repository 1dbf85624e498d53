import CommandLineSupport
import NetwatchCore
import ReachabilityCore

/// A notice as a line; the next notice's line takes the place of the one before, in the same memory.
struct ChangeLine: ~Copyable {
    private let format: ChangeFormat
    private var clock: TimestampText
    private var line = LineBuffer()
    /// The other clock, which only templates can ask for.
    private var utc = TimestampText.utc

    /// An empty line.
    ///
    /// - Parameters:
    ///   - format: How notices are written.
    ///   - clock: How times are written, where not as the format has them.
    init(_ format: ChangeFormat, clock: consuming TimestampText? = nil) {
        self.format = format
        self.clock = clock ?? (format.isForPeople ? .local : .utc)
    }

    /// The line, with the line feed.
    var bytes: [UInt8] { line.withBytes { Array($0) } }

    /// Makes it the line of a notice that came at a time.
    mutating func set(_ change: StateChange, at time: Timestamp) {
        line.remove()
        switch format {
        case .text: ChangeText.append(change, at: time, by: &clock, to: &line)
        case .json: ChangeJSON.append(change, at: time, by: &clock, tellsKindSource: false, to: &line)
        case .template(let template): set(template, change, time)
        case .detailedJSON: ChangeJSON.append(change, at: time, by: &clock, tellsKindSource: true, to: &line)
        }
    }

    private mutating func set(_ template: LineTemplate, _ change: StateChange, _ time: Timestamp) {
        let (local, utc) = (clock.text(time), utc.text(time))
        let text = template.line { field in
            switch field {
            case .time: local
            case .utc: utc
            default: field.value(in: change)
            }
        }
        line.append(text: text)
        line.append(UInt8(ascii: "\n"))
    }

    /// Writes it, with one call where the descriptor takes it whole.
    func write(to output: LineOutput) throws(OutputFailure) {
        try line.withBytes { (bytes) throws(OutputFailure) in try output.write(UnsafeRawBufferPointer(bytes)) }
    }
}
