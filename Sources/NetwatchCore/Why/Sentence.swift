/// A true sentence about the network, and what to do about it.
///
/// Nothing in it is obeyed by a terminal. It begins as it would within a line, and has no full stop.
public struct Sentence: Sendable, Hashable {
    /// The sentence: `eth0 has no carrier`.
    public var text: String
    /// What to do, with commands between quotation marks; nil where nothing can be done, or nothing need be.
    public var cure: String?

    /// Makes a sentence.
    public init(_ text: String, cure: String? = nil) {
        self.text = text
        self.cure = cure
    }
}
