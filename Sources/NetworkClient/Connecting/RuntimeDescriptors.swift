import Dispatch
import Glibc
import Locking
import NIOCore
import NIOPosix

/// The descriptors that the runtime of the process needs.
///
/// libdispatch, on which Swift's concurrency runs, opens an epoll descriptor, an eventfd and a timerfd per clock when
/// it first needs them, and a file below `/proc` every second in which its threads are busy. NIO opens three
/// descriptors for each event loop. Both abort the process if that fails. So they are started before the first
/// connection is opened, and connections leave a few descriptors free.
enum RuntimeDescriptors {
    /// The number of descriptors that stay free next to the first connection to a host.
    static let minimumFree = 2
    /// The number of descriptors that stay free if a request can wait for another connection instead.
    static let comfortablyFree = 8

    /// The number of descriptors that libdispatch keeps open: an epoll descriptor, an eventfd, and three timers.
    private static let ofDispatch = 5
    /// `O_PATH`, open(2), which the C library declares for `_GNU_SOURCE` only.
    private static let openPath: Int32 = 0o10_000_000
    /// The timers that were started; empty before that.
    private static let timers = Lock<[any DispatchSourceTimer]>([])
    /// The interval of the timers, in seconds: so long that none has expired when libdispatch sees it.
    private static let year = 365 * 86_400

    /// Starts libdispatch and NIO, once in a process, and returns the event loop of a session.
    ///
    /// - Throws: `tooManyDescriptors` if there are too few descriptors left for them.
    static func startedLoop() throws(HTTPError) -> any EventLoop {
        let result = timers.withLock { timers -> Result<Void, HTTPError> in
            guard timers.isEmpty else { return .success(()) }
            let needed = ofDispatch + 3 * NIOSingletons.groupLoopCountSuggestion + minimumFree
            guard areFree(needed) else { return .failure(tooFew(needed)) }
            timers = startDispatch()
            return .success(())
        }
        try result.get()
        return MultiThreadedEventLoopGroup.singleton.next()
    }

    /// Returns whether a number of descriptors can still be opened.
    ///
    /// The kernel assigns the lowest free number, so all numbers below it are in use (open(2)); some of those above it
    /// may be in use too.
    static func areFree(_ count: Int) -> Bool {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let lowest = open("/", openPath | O_CLOEXEC)
        guard lowest >= 0 else { return false }
        close(lowest)
        return Int(clamping: limit.rlim_cur) - Int(lowest) >= count
    }

    /// Starts one timer per clock: libdispatch then opens the descriptors that all timers share.
    ///
    /// It opens none for a timer that has expired when its thread sees it. So each timer fires soon, which is waited for, and then
    /// after a year. On a busy machine, the last descriptors may be opened just after this returns.
    ///
    /// - Returns: The timers, which end when they are released.
    private static func startDispatch() -> [any DispatchSourceTimer] {
        let fired = DispatchSemaphore(value: 0)
        // Its own queue has a thread, however busy the global queues are.
        let queue = DispatchQueue(label: "netwatch.start")
        let clocks: [(any DispatchSourceTimer) -> Void] = [
            { $0.schedule(deadline: .now() + .microseconds(100), repeating: .seconds(year)) },
            { $0.schedule(wallDeadline: .now() + .microseconds(100), repeating: .seconds(year)) },
        ]
        // The clock of Task.sleep; waiting for it here could block a thread that it needs.
        Task.detached { try? await Task.sleep(for: .seconds(year), clock: .continuous) }
        return clocks.map { schedule in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.setEventHandler { fired.signal() }
            schedule(timer)
            timer.activate()
            fired.wait()
            return timer
        }
    }

    private static func tooFew(_ count: Int) -> HTTPError {
        let reason =
            "a first session needs \(count) free descriptors: close some, or raise the limit (ulimit -n)"
        return HTTPError(.tooManyDescriptors, processing: .neverSent, reason: reason, errno: EMFILE)
    }
}
