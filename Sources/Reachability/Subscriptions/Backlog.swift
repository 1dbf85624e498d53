/// The newest notices that one subscriber has not taken yet, oldest first.
///
/// Whatever is lost when the subscriber is slow, the first notice that it takes is a baseline, and the last one is the
/// last.
struct Backlog<Element: Notice>: Sendable {
    /// How many notices are kept; at least 1.
    let limit: Int
    private var elements: [Element] = []
    /// Where the oldest notice stands; those before it were taken or forgotten.
    private var head = 0
    private var hasBegun = false

    /// Makes an empty backlog.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Whether nothing waits.
    var isEmpty: Bool { head == elements.count }

    /// Adds the newest notice, and forgets the oldest if there are too many.
    mutating func push(_ element: Element) {
        if elements.count - head >= limit { dropFirst() }
        elements.append(element)
    }

    /// Takes the oldest notice.
    mutating func pop() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        dropFirst()
        return begin(with: element)
    }

    /// Steps over the oldest notice; what was stepped over goes once it is most of the array, so that a long backlog
    /// is not moved for each notice and a short one never allocates.
    private mutating func dropFirst() {
        head += 1
        guard head * 2 > elements.count else { return }
        elements.removeFirst(head)
        head = 0
    }

    /// What the subscriber is told of a notice that never waited.
    mutating func begin(with element: Element) -> Element {
        if hasBegun { return element }
        hasBegun = true
        return element.asBaseline
    }

    /// Forgets everything.
    mutating func removeAll() {
        elements = []
        head = 0
    }
}
