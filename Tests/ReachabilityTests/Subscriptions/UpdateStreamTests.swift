import Testing

@testable import Reachability

@Suite("UpdateStream", .timeLimit(.minutes(10)))
struct UpdateStreamTests {
    @Test("Changes from before the first request are returned first, the newest up to the limit")
    func waitingNotices() async {
        let stream = UpdateStream<ReachabilityChange>(limit: 2)
        for number in 1...4 { stream.push(.test(.wifi, sequence: UInt64(number))) }
        #expect(await stream.next()?.sequence == 3)
        #expect(await stream.next()?.sequence == 4)
    }

    @Test("The next change resumes a waiting task")
    func waitingTask() async throws {
        let stream = UpdateStream<ReachabilityChange>(limit: 1)
        let heard = Collector<UInt64>()
        let task = Task {
            while let change = await stream.next() { heard.append(change.sequence) }
            heard.append(.max)
        }
        for number in 1...20 {
            stream.push(.test(.wifi, sequence: UInt64(number)))
            try await heard.wait(count: number)
        }
        stream.finish()
        try await heard.wait(count: 21)
        #expect(heard.elements == Array(1...20) + [.max])
        await task.value
    }

    @Test("A change or the end between request and suspension resumes the task", arguments: [false, true])
    func betweenAskingAndWaiting(_ isEnd: Bool) async {
        var machine = UpdateStream<ReachabilityChange>.StateMachine(limit: 1)
        guard case .wait = machine.take() else {
            Issue.record("an empty stream gave something")
            return
        }
        if isEnd { _ = machine.finish() } else { _ = machine.push(.test(.wifi)) }
        await withUnsafeContinuation { waiter in
            let isOver = machine.wait(waiter)
            #expect(isOver)
            waiter.resume()
        }
    }

    @Test("A cancelled task receives the end, waiting or not")
    func cancellation() async {
        let stream = UpdateStream<ReachabilityChange>(limit: 1)
        let waiting = Task { await stream.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        stream.push(.test(.wifi))
        #expect(await stream.next() == nil)

        let full = UpdateStream<ReachabilityChange>(limit: 1)
        full.push(.test(.wifi))
        let cancelled = Task { () -> ReachabilityChange? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await full.next()
        }
        #expect(await cancelled.value == nil)
    }

    @Test("Two tasks that iterate one stream share its changes, and both end with it")
    func twoTasks() async throws {
        let stream = UpdateStream<ReachabilityChange>(limit: 100)
        let heard = Collector<UInt64>()
        let tasks = (0..<2).map { _ in
            Task { while let change = await stream.next() { heard.append(change.sequence) } }
        }
        for number in 1...100 { stream.push(.test(.wifi, sequence: UInt64(number))) }
        try await heard.wait(count: 100)
        #expect(heard.elements.sorted() == Array(1...100))
        stream.finish()
        for task in tasks { await task.value }
    }
}
