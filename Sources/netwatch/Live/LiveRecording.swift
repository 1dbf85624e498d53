import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import Synchronization

/// A recording during the live view, by a separate monitor, so that the capture is self-contained.
final class LiveRecording {
    /// The file's name, in the current folder.
    let path: String
    private let recorder: CaptureRecorder
    private let monitor: ReachabilityMonitor
    private let subscription: Subscription
    private let output: LineOutput
    private let beginning: Beginning

    /// Whether it contains the initial state, so that all later messages are recorded.
    var hasBegun: Bool { beginning.isOver.load(ordering: .acquiring) }

    /// Starts a recording; ``hasBegun`` is true once it has begun.
    ///
    /// - Parameters:
    ///   - configuration: The monitor's configuration.
    ///   - moment: The time after which the file is named.
    ///   - wakeup: Told when it has begun, and when the file cannot be written any more.
    /// - Throws: An error with a text for the user.
    init(_ configuration: MonitorConfiguration, at moment: ViewMoment, _ wakeup: Wakeup) throws(ToolError) {
        path = RecordingName.make(at: moment)
        let output = try CaptureFile.open(path)
        let recorder = CaptureRecorder(output)
        self.output = output
        self.recorder = recorder
        var configuration = configuration
        configuration.tap = { if !recorder.write($0) { wakeup.signal() } }
        let beginning = Beginning()
        self.beginning = beginning
        recorder.begin()
        do throws(ReachabilityError) {
            monitor = try ReachabilityMonitor(configuration: configuration)
        } catch {
            recorder.withdraw()
            close(output.descriptor)
            throw error.toolError
        }
        // The first change has the state that was read.
        subscription = monitor.subscribe(on: .immediate) { _ in
            if !beginning.isOver.exchange(true, ordering: .releasing) { wakeup.signal() }
        }
    }

    /// Its state.
    var state: RecordingState {
        switch recorder.failure {
        case nil: .on(path: path, bytes: size)
        case .closed?: .failed("nobody reads \(path.escapedForTerminal) any more")
        case .failed(let error)?: .failed("cannot write \(path.escapedForTerminal): \(error)")
        }
    }

    /// Ends it, and returns its result; a blocked file system delays that by a second at most.
    func end() -> RecordingState {
        guard monitor.stop(within: .seconds(1)) else {
            return .failed("cannot write \(path.escapedForTerminal): the file system does not respond")
        }
        let size = size
        do throws(ToolError) {
            _ = try recorder.end(writing: path.escapedForTerminal)
            return .saved(path: path, bytes: size)
        } catch {
            return .failed(error.message)
        }
    }

    /// How many bytes the file has.
    private var size: Int {
        var status = stat()
        return fstat(output.descriptor, &status) == 0 ? Int(status.st_size) : 0
    }
}

/// Whether a recording has begun; set on the event thread.
private final class Beginning: Sendable {
    let isOver = Atomic(false)
}

/// The name of a recording's file.
enum RecordingName {
    /// `netwatch-20261121-205959.pcap`, in local time.
    static func make(at moment: ViewMoment) -> String {
        let local = moment.time.seconds + Int64(moment.utcOffset)
        let days = local.flooredQuotient(86_400)
        let day = CivilDay(daysSinceEpoch: days)
        let second = local - days * 86_400
        let date = day.year.padded(4) + day.month.padded(2) + day.day.padded(2)
        let time = [second / 3_600, second / 60 % 60, second % 60].map { $0.padded(2) }.joined()
        return "netwatch-\(date)-\(time).pcap"
    }
}
