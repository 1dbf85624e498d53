import Testing

@testable import Reachability

/// The deliveries that the tests cover.
enum Place: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case immediate
    case serial
    case custom
    case inlineCustom
    case actor

    var testDescription: String { rawValue }

    /// Makes the delivery; executors run on a separate thread.
    func makeDelivery() -> (delivery: Delivery, executor: ThreadExecutor?) {
        switch self {
        case .immediate: return (.immediate, nil)
        case .serial: return (.serial, nil)
        case .inlineCustom: return (.custom { $0() }, nil)
        case .custom:
            let executor = ThreadExecutor()
            return (.custom { executor.thread.perform($0) }, executor)
        case .actor:
            let executor = ThreadExecutor()
            return (.actor(ThreadActor(executor)), executor)
        }
    }
}

/// An executor with one thread.
final class ThreadExecutor: SerialExecutor {
    let thread = TestThread()

    deinit { thread.end() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.perform {
            job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
    }
}

/// An actor that runs on an executor.
actor ThreadActor {
    private nonisolated let executor: ThreadExecutor

    init(_ executor: ThreadExecutor) {
        self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
