/// Elements by number.
///
/// Numbers are dense from 0 and are reused.
struct NumberedList<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var vacant: [Int32] = []

    /// The element with a number; nil if there is none.
    subscript(number: Int32) -> Element? {
        get { elements.indices.contains(Int(number)) ? elements[Int(number)] : nil }
        _modify {
            precondition(elements.indices.contains(Int(number)))
            yield &elements[Int(number)]
        }
    }

    /// Adds an element.
    ///
    /// - Returns: Its number: a free one, or the next.
    mutating func add(_ element: Element) -> Int32 {
        if let free = vacant.popLast() {
            elements[Int(free)] = element
            return free
        }
        elements.append(element)
        return Int32(elements.count - 1)
    }

    /// Removes an element and frees its number.
    mutating func remove(_ number: Int32) {
        elements[Int(number)] = nil
        vacant.append(number)
    }
}
