import ReachabilityCore

/// A notice as a line; the next notice's line takes the place of the one before, in the same memory.
struct ChangeLine: ~Copyable {
    private let format: ChangeFormat
    private var clock: TimestampText
    private var line = LineBuffer()

    /// An empty line.
    ///
    /// - Parameters:
    ///   - format: How notices are written.
    ///   - clock: How times are written, where not as the format has them.
    init(_ format: ChangeFormat, clock: consuming TimestampText? = nil) {
        self.format = format
        self.clock = clock ?? (format == .text ? .local : .utc)
    }

    /// The line, with the line feed.
    var bytes: [UInt8] { line.withBytes { Array($0) } }

    /// Makes it the line of a notice that came at a time.
    mutating func set(_ change: StateChange, at time: Timestamp) {
        line.remove()
        switch format {
        case .text: ChangeText.append(change, at: time, by: &clock, to: &line)
        case .json: ChangeJSON.append(change, at: time, by: &clock, tellsKindSource: false, to: &line)
        case .detailedJSON: ChangeJSON.append(change, at: time, by: &clock, tellsKindSource: true, to: &line)
        }
    }

    /// Writes it, with one call where the descriptor takes it whole.
    func write(to output: LineOutput) throws(OutputFailure) {
        try line.withBytes { (bytes) throws(OutputFailure) in try output.write(UnsafeRawBufferPointer(bytes)) }
    }
}
