import NIOCore

/// Streams that all get the same elements, the newest of which replaces what was not taken.
///
/// It is confined to an event loop, but for ``makeStream()``.
///
/// `@unchecked Sendable`: so that the loop can be given it.
final class StreamSet<Element: Sendable>: @unchecked Sendable {
    private let loop: any EventLoop
    private var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
    private var count = 0
    private var isFinished = false

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Returns a stream that begins with the current element; on any thread.
    ///
    /// - Parameter current: Returns that element, on the loop; nil if there is none yet.
    /// - Returns: The stream.
    func makeStream(beginningWith current: @escaping @Sendable () -> Element?) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        loop.execute { [self] in
            if let element = current() { continuation.yield(element) }
            add(continuation)
        }
        return stream
    }

    private func add(_ continuation: AsyncStream<Element>.Continuation) {
        guard !isFinished else { return continuation.finish() }
        count += 1
        let number = count
        continuations[number] = continuation
        continuation.onTermination = { [weak self, loop] _ in
            loop.execute { [weak self] in _ = self?.continuations.removeValue(forKey: number) }
        }
    }

    /// Gives all streams an element.
    func yield(_ element: Element) {
        for continuation in continuations.values { continuation.yield(element) }
    }

    /// Ends all streams, and those that are made from now on.
    func finish() {
        isFinished = true
        for continuation in continuations.values { continuation.finish() }
        continuations = [:]
    }
}
