/// What one request does otherwise than its session.
public struct RequestOptions: Sendable {
    /// Its limits; nil for the session's.
    public var timeouts: Timeouts?
    /// What its connection is bound to; nil for the session's.
    public var binding: LocalBinding?
    /// The size of its answer's body at most, decompressed, in bytes; nil for the session's.
    public var maximumBodySize: Int?
    /// Whether it asks for leave before it sends its body (`Expect: 100-continue`; RFC 9110, 10.1.1).
    public var expectsContinue: Bool
    /// Whether it starts at once; if not, with ``RequestHandle/resume()``.
    public var startsAtOnce: Bool

    /// Makes options.
    public init(
        timeouts: Timeouts? = nil,
        binding: LocalBinding? = nil,
        maximumBodySize: Int? = nil,
        expectsContinue: Bool = false,
        startsAtOnce: Bool = true
    ) {
        self.timeouts = timeouts
        self.binding = binding
        self.maximumBodySize = maximumBodySize
        self.expectsContinue = expectsContinue
        self.startsAtOnce = startsAtOnce
    }
}
