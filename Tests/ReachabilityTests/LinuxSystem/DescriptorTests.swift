import Glibc
import LinuxSystem
import ReachabilityCore
import Testing

@Suite(.timeLimit(.minutes(10))) struct DescriptorTests {
    @Test func `a descriptor is closed with its value`() throws {
        let own = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(own >= 0)
        defer { close(own) }
        let number: Int32
        do {
            let descriptor = try Descriptor("fcntl") { fcntl(own, F_DUPFD_CLOEXEC, 0) }
            number = descriptor.number
            #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
        }
        // Another test may have received the number meanwhile, but not for this socket.
        var status = stat()
        let isOpen = fstat(number, &status) == 0
        var socketStatus = stat()
        try #require(fstat(own, &socketStatus) == 0)
        #expect(!isOpen || status.st_dev != socketStatus.st_dev || status.st_ino != socketStatus.st_ino)
    }

    @Test func `a call that fails throws its errno and its name`() {
        let error = #expect(throws: SystemError.self) {
            _ = try Descriptor("open") { open("/no/such/file", O_RDONLY) }.number
        }
        #expect(error == SystemError(code: ENOENT, call: "open"))
        #expect(error?.description == "No such file or directory")
    }

    @Test func `a timeout for poll is 0 for the past, and limited to what poll takes`() {
        let now = SystemClock.now
        #expect(now.pollTimeout == 0 && Instant(nanoseconds: .min).pollTimeout == 0)
        #expect(Instant(nanoseconds: .max).pollTimeout == .max)
        // Some of the time passes before it is computed.
        #expect((1...3_600_001).contains(now.advanced(by: .nanoseconds(3_600_000_000_001)).pollTimeout))
    }

    @Test func `an interrupted call is made again`() throws {
        var results: [(result: Int32, errno: Int32)] = [(-1, EINTR), (-1, EINTR), (7, 0)]
        let result = try retryingOnInterrupt { () -> Int32 in
            let (result, code) = results.removeFirst()
            errno = code
            return result
        }
        #expect(result == 7)
        #expect(results.isEmpty)
    }

    @Test func `a wake-up stays until it is cleared`() throws {
        let wakeup = try Wakeup()
        #expect(!wakeup.wait(until: SystemClock.now))
        wakeup.signal()
        wakeup.signal()
        #expect(wakeup.wait(until: SystemClock.now))
        #expect(wakeup.wait(until: SystemClock.now))
        wakeup.clear()
        #expect(!wakeup.wait(until: SystemClock.now))
    }

    @Test func `a poll reports the masks of all readable descriptors`() throws {
        let poll = try EventPoll()
        let wakeups = [try Wakeup(), try Wakeup(), try Wakeup()]
        for (position, wakeup) in wakeups.enumerated() { try poll.add(wakeup.descriptor, reporting: 1 << position) }
        #expect(poll.wait(until: SystemClock.now) == 0)
        wakeups[0].signal()
        wakeups[2].signal()
        #expect(poll.wait(until: nil) == 0b101)
        let deadline = SystemClock.now.advanced(by: .milliseconds(2))
        wakeups[0].clear()
        wakeups[2].clear()
        #expect(poll.wait(until: deadline) == 0)
        #expect(SystemClock.now >= deadline)
    }
}
