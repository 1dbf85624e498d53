import Glibc
import LinuxSystem
import Testing

@testable import Reachability

@Suite(.timeLimit(.minutes(10))) struct SystemThreadTests {
    @Test func `a thread runs its body with its name, and is current only there`() throws {
        let thread = SystemThread()
        let seen = BlockingPromise<(name: String, isCurrent: Bool)>()
        #expect(!thread.isCurrent)
        try thread.start("thread-test") { seen.fulfill((ThreadFacts.currentName, thread.isCurrent)) }
        let (name, isCurrent) = seen.wait()
        #expect(name == "thread-test")
        #expect(isCurrent)
        thread.waitForEnd()
        #expect(!thread.isCurrent)
    }

    @Test func `the end is announced after the body has been released`() throws {
        let released = Collector<Bool>()
        let thread = SystemThread()
        do {
            let token = Token { released.append(true) }
            try thread.start("thread-test") { withExtendedLifetime(token) {} }
        }
        thread.waitForEnd()
        #expect(released.elements == [true])
    }

    @Test func `a thread that waits for its own end continues`() throws {
        let thread = SystemThread()
        let hasPassed = BlockingPromise<Bool>()
        try thread.start("thread-test") {
            thread.waitForEnd()
            hasPassed.fulfill(true)
        }
        #expect(hasPassed.wait())
    }

    @Test func `signals are blocked, except those that the kernel sends to the thread that caused them`() throws {
        let blocked = BlockingPromise<[Int32]>()
        try SystemThread.detach("thread-test") {
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            let signals = [SIGTERM, SIGINT, SIGUSR1, SIGSEGV, SIGBUS, SIGABRT]
            blocked.fulfill(signals.filter { sigismember(&mask, $0) == 1 })
        }
        #expect(blocked.wait() == [SIGTERM, SIGINT, SIGUSR1])
    }

    @Test func `a thread with an impossible stack size is not started`() {
        var error: SystemError?
        do throws(SystemError) {
            // RLIMIT_AS and the address space end before a stack of 2^46 bytes.
            try SystemThread.detach("thread-test", stackSize: 1 << 46) {}
        } catch let failure {
            error = failure
        }
        #expect(error?.code == EAGAIN)
        #expect(error?.call == "pthread_create")
        #expect(error?.description == "Resource temporarily unavailable")
    }
}

@Suite(.timeLimit(.minutes(10))) struct BlockingPromiseTests {
    @Test func `all waiting threads receive the first value`() throws {
        let promise = BlockingPromise<Int>()
        let threads = [SystemThread(), SystemThread()]
        let values = Collector<Int>()
        for thread in threads { try thread.start("promise-test") { values.append(promise.wait()) } }
        promise.fulfill(1)
        promise.fulfill(2)
        for thread in threads { thread.waitForEnd() }
        #expect(values.elements == [1, 1])
        #expect(promise.wait(until: SystemClock.now) == 1)
    }

    @Test func `a wait ends at its deadline`() {
        let deadline = SystemClock.now.advanced(by: .milliseconds(1))
        #expect(BlockingPromise<Int>().wait(until: deadline) == nil)
        #expect(SystemClock.now >= deadline)
    }
}
