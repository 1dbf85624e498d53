/// A file that an answer's body went to.
public struct DownloadedFile: Sendable, Hashable {
    /// Its path, as it was given; nil for a descriptor.
    public let path: String?
    /// How many bytes it has, or were written.
    public let size: Int64
    /// How many of them had come in earlier attempts, of this process or another; 0 if all came in the last one.
    public let resumedFrom: Int64

    /// Whether the last attempt went on behind what earlier ones had brought.
    public var isResumed: Bool { resumedFrom > 0 }
}

/// How much of a body has come, over all attempts that it took.
struct BodyProgress: Sendable, Hashable {
    /// How many bytes there are.
    var bytes: Int64
    /// How many there will be; nil if that is not known.
    var total: Int64?
}
