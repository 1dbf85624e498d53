extension Delivery {
    /// Makes the receiver that calls a closure where this says, and the closure that ends it.
    ///
    /// - Parameters:
    ///   - limit: How many notices wait at most while the closure is busy; at least 1.
    ///   - threads: The monitor's own threads.
    ///   - handler: The subscriber's closure.
    /// - Returns: The receiver, and what ends its calls.
    func receive<Element: Notice>(
        limit: Int,
        threads: HelperThreads,
        _ handler: @escaping @Sendable (Element) -> Void
    ) -> (receiver: Receiver<Element>, end: @Sendable () -> Void) {
        switch kind {
        case .immediate: Self.receive(.eventThread, limit, handler)
        case .helperThread: Self.receive(.helperThread(threads), limit, handler)
        case .custom(let enqueue): Self.receive(.elsewhere(enqueue), limit, handler)
        case .task(let launch): Self.receive(inTaskOf: launch, limit, handler)
        }
    }

    private static func receive<Element: Notice>(
        _ place: Receiver<Element>.Place,
        _ limit: Int,
        _ handler: @escaping @Sendable (Element) -> Void
    ) -> (receiver: Receiver<Element>, end: @Sendable () -> Void) {
        let receiver = Receiver(place, limit: limit, handler: handler)
        return (receiver, { receiver.end() })
    }

    /// A task that lives on the executor takes the notices from a stream: waking it is one hop.
    private static func receive<Element: Notice>(
        inTaskOf launch: Launch,
        _ limit: Int,
        _ handler: @escaping @Sendable (Element) -> Void
    ) -> (receiver: Receiver<Element>, end: @Sendable () -> Void) {
        let stream = NoticeStream<Element>(limit: limit)
        launch {
            // Between the stream and the executor, whoever runs on the executor may have ended the subscription.
            while let element = await stream.next(), !stream.isFinished { handler(element) }
        }
        let (receiver, end) = receive(.anyThread, limit) { stream.push($0) }
        return (
            receiver,
            {
                end()
                stream.finish()
            }
        )
    }
}
