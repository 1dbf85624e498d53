import Glibc
import LinuxSystem
import Testing

@testable import Reachability

@Suite("ThreadPool", .timeLimit(.minutes(10)))
struct ThreadPoolTests {
    @Test("A job that blocks delays no other")
    func blockedJob() async throws {
        let threads = ThreadPool()
        let door = Gate()
        let done = Collector<Int>()
        for number in 0..<8 {
            threads.enqueue {
                door.wait()
                done.append(number)
            }
        }
        threads.enqueue { done.append(100) }
        #expect(try await done.wait(count: 1) == [100])
        for _ in 0..<8 { door.open() }
        #expect(try await done.wait(count: 9).sorted() == [0, 1, 2, 3, 4, 5, 6, 7, 100])
    }

    @Test("All jobs run, even if there are more of them than threads")
    func manyJobs() async throws {
        let threads = ThreadPool()
        let door = Gate()
        let done = Collector<Int>()
        let count = ThreadPool.limit * 2
        for number in 0..<count {
            threads.enqueue {
                door.wait()
                done.append(number)
            }
        }
        for _ in 0..<count { door.open() }
        #expect(try await done.wait(count: count).sorted() == Array(0..<count))
    }

    @Test("A released pool runs the submitted jobs, and its threads release everything they hold")
    func release() async throws {
        let done = Collector<Int>()
        let released = Collector<Bool>()
        do {
            let threads = ThreadPool()
            for number in 0..<100 {
                let token = Token { if number == 99 { released.append(true) } }
                threads.enqueue { withExtendedLifetime(token) { done.append(number) } }
            }
        }
        try await done.wait(count: 100)
        try await released.wait(count: 1)
    }

    @Test("A pool may be released by its own job")
    func releaseInside() async throws {
        let done = Collector<Int>()
        let box = Box<ThreadPool>()
        box.value = .init()
        box.value?.enqueue {
            box.value = nil
            done.append(1)
        }
        try await done.wait(count: 1)
    }

    @Test("Its threads block all signals, and the caller's mask is unchanged")
    func signals() async throws {
        let blocked = Collector<[Bool]>()
        let threads = ThreadPool()
        let caller = TestThread()
        caller.perform {
            unblock(SIGUSR2)
            threads.enqueue { blocked.append([SIGINT, SIGTERM, SIGUSR2].map(isBlocked)) }
            blocked.append([isBlocked(SIGUSR2)])
        }
        let results = try await blocked.wait(count: 2)
        #expect(results.contains([true, true, true]))
        #expect(results.contains([false]))
        caller.end()
    }

    @Test("A released pool leaves no thread behind")
    func threadsEnd() async throws {
        let name = "helper-test"
        do {
            let threads = ThreadPool(name: name)
            let door = Gate()
            let begun = Collector<Int>()
            for number in 0..<8 {
                threads.enqueue {
                    begun.append(number)
                    door.wait()
                }
            }
            try await begun.wait(count: 8)
            // A list of threads that is read while others begin or end may lack some.
            await ThreadFacts.wait { $0.count { $0 == name } == 8 }
            for _ in 0..<8 { door.open() }
            // One thread stays asleep for the next job, until the owner is released.
            await ThreadFacts.wait { $0.count { $0 == name } == 1 }
        }
        await ThreadFacts.wait { !$0.contains(name) }
    }
}

private func unblock(_ signal: Int32) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
}

private func isBlocked(_ signal: Int32) -> Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    return sigismember(&mask, signal) == 1
}
