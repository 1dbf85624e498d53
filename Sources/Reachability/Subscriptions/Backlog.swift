/// The newest notices that one subscriber has not taken yet, oldest first.
///
/// Whatever is lost when the subscriber is slow, the first notice that it takes is a baseline, and the last one is the
/// last.
struct Backlog<Element: Notice>: Sendable {
    /// How many notices are kept; at least 1.
    let limit: Int
    private var elements: [Element] = []
    private var hasBegun = false

    /// Makes an empty backlog.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Whether nothing waits.
    var isEmpty: Bool { elements.isEmpty }

    /// Adds the newest notice, and forgets the oldest if there are too many.
    mutating func push(_ element: Element) {
        if elements.count >= limit { elements.removeFirst() }
        elements.append(element)
    }

    /// Takes the oldest notice.
    mutating func pop() -> Element? {
        elements.isEmpty ? nil : begin(with: elements.removeFirst())
    }

    /// What the subscriber is told of a notice that never waited.
    mutating func begin(with element: Element) -> Element {
        if hasBegun { return element }
        hasBegun = true
        return element.asBaseline
    }

    /// Forgets everything.
    mutating func removeAll() { elements = [] }
}
