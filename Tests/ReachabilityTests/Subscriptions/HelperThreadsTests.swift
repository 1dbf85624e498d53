import Glibc
import Testing

@testable import Reachability

@Suite("HelperThreads", .timeLimit(.minutes(1)))
struct HelperThreadsTests {
    @Test("A job that blocks delays no other")
    func blockedJob() async throws {
        let threads = HelperThreads()
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

    @Test("More jobs than threads are all done")
    func manyJobs() async throws {
        let threads = HelperThreads()
        let door = Gate()
        let done = Collector<Int>()
        let count = HelperThreads.limit * 2
        for number in 0..<count {
            threads.enqueue {
                door.wait()
                done.append(number)
            }
        }
        for _ in 0..<count { door.open() }
        #expect(try await done.wait(count: count).sorted() == Array(0..<count))
    }

    @Test("Released, it runs what was handed over, and its threads release what they hold")
    func release() async throws {
        let done = Collector<Int>()
        let released = Collector<Bool>()
        do {
            let threads = HelperThreads()
            for number in 0..<100 {
                let token = Token { if number == 99 { released.append(true) } }
                threads.enqueue { withExtendedLifetime(token) { done.append(number) } }
            }
        }
        try await done.wait(count: 100)
        try await released.wait(count: 1)
    }

    @Test("It may be released by its own job")
    func releaseInside() async throws {
        let done = Collector<Int>()
        let box = Box<HelperThreads>()
        box.value = .init()
        box.value?.enqueue {
            box.value = nil
            done.append(1)
        }
        try await done.wait(count: 1)
    }

    @Test("All signals are blocked on its threads, and on the caller those that were blocked before")
    func signals() async throws {
        let before = isBlocked(SIGUSR2)
        let threads = HelperThreads()
        let blocked = Collector<Bool>()
        threads.enqueue { blocked.append(isBlocked(SIGINT) && isBlocked(SIGTERM) && isBlocked(SIGUSR2)) }
        #expect(try await blocked.wait(count: 1) == [true])
        #expect(isBlocked(SIGUSR2) == before)
    }
}

private func isBlocked(_ signal: Int32) -> Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    return sigismember(&mask, signal) == 1
}
