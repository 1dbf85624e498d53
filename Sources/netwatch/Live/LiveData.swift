import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import Synchronization

/// Everything that the live view shows, as it comes: from the monitor, the counters, the radios and the hosts.
///
/// Confined to the main thread; other threads put what they have into the inbox.
final class LiveData {
    private let configuration: LiveConfiguration
    private let context: EvaluationContext
    private let wakeup: Wakeup
    private let inbox: LiveInbox
    private let engine: MonitorEngine
    private let sampler: LiveSampler
    private let destinations: [LiveDestination]
    private let modelWatch: DestinationWatch
    private var radios = LiveRadios()
    /// Before this the model is not read again.
    private var nextModel = Instant(nanoseconds: 0)

    /// While changes storm, the model is read no more often than this.
    private static let interval = Duration.milliseconds(100)

    /// Starts the monitor, and everything beside it.
    init(_ configuration: LiveConfiguration, _ wakeup: Wakeup) throws(ToolError) {
        let inbox = LiveInbox(wakeup)
        let engine = MonitorEngine(
            configuration.monitor,
            timedSink: { inbox.put(.change($0, latency: $1, at: LiveClock.moment)) }
        )
        modelWatch = engine.watch([]) { inbox.noteModel() }
        do throws(ReachabilityError) { try engine.start() } catch { throw error.toolError }
        self.configuration = configuration
        self.wakeup = wakeup
        self.inbox = inbox
        self.engine = engine
        context = configuration.evaluationContext
        sampler = try .init(engine, inbox)
        destinations = configuration.hosts.map {
            .init($0.host, engine, configuration.monitor.namespace, wakeup)
        }
    }

    /// Ends everything, without waiting for long.
    func stop() {
        modelWatch.cancel()
        engine.stop()
    }

    /// When there may be something to take though nobody said so.
    var deadline: Instant? {
        var moments = destinations.compactMap(\.deadline)
        if inbox.hasModel { moments.append(nextModel) }
        return moments.min()
    }

    /// Takes what has come.
    func take() -> [LiveViewInput] {
        var inputs = inbox.take()
        for case .change in inputs {
            for destination in destinations { destination.noteChange() }
        }
        let now = SystemClock.now
        if inbox.hasModel, nextModel <= now, inbox.takeModel(), let view = view() {
            nextModel = now.advanced(by: Self.interval)
            inputs.append(model(view))
            watchRadios(view.snapshot)
        }
        for (position, destination) in destinations.enumerated() {
            guard let state = destination.news() else { continue }
            inputs.append(.destination(position, state, at: LiveClock.moment))
        }
        return inputs
    }

    /// Has the radios asked while one is up, and at once when one may have got another network.
    private func watchRadios(_ snapshot: NetworkSnapshot) {
        let radios = LiveRadios(snapshot, context)
        sampler.noteRadios(!radios.isEmpty)
        if radios.mayTellOtherwise(than: self.radios) { sampler.askRadios() }
        self.radios = radios
    }

    /// The lines of `netwatch explain`, also of each host.
    func explanation() -> [String] {
        guard let view = view() else { return ["the monitor does not answer"] }
        let names = InterfaceNames(snapshot: view.snapshot)
        return ViewText.lines(view, context) + destinations.flatMap { $0.explanation(names) }
    }

    /// What the monitor knows now, agreed with the kernel or not.
    private func view() -> MonitorView? { try? engine.view(within: .zero) }

    private func model(_ view: MonitorView) -> LiveViewInput {
        let explanation = PathExplanation(of: view.evaluation, in: view.snapshot, context: context, at: view.instant)
        let why = WhySentence.of(explanation, snapshot: view.snapshot, evaluation: view.evaluation)
        return .model(view.snapshot, view.evaluation, why: why, at: LiveClock.moment)
    }
}

/// What other threads have for the live view, in the order in which it came.
final class LiveInbox: Sendable {
    private let inputs = Mutex<[LiveViewInput]>([])
    private let isModelNew = Atomic(false)
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) { self.wakeup = wakeup }

    /// Puts something in, and wakes the main thread.
    func put(_ input: LiveViewInput) {
        inputs.withLock { $0.append(input) }
        wakeup.signal()
    }

    /// Notes that the monitor's model may be another, and wakes the main thread if it does not know yet.
    func noteModel() {
        if !isModelNew.exchange(true, ordering: .acquiringAndReleasing) { wakeup.signal() }
    }

    /// Takes what is there.
    func take() -> [LiveViewInput] {
        inputs.withLock { inputs in
            defer { inputs = [] }
            return inputs
        }
    }

    /// Whether the model may be another; from now on it counts as known.
    func takeModel() -> Bool { isModelNew.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether the model may be another.
    var hasModel: Bool { isModelNew.load(ordering: .acquiring) }
}

/// The WiFi links that are up, whether or not the path leads through them, as the kernel told of them last.
struct LiveRadios: Hashable {
    private var radios: [InterfaceIndex: Radio] = [:]

    /// None.
    init() {}

    /// Takes those of a model.
    init(_ snapshot: NetworkSnapshot, _ context: EvaluationContext) {
        let evaluator = PathEvaluator(context: context)
        for link in snapshot.links where link.flags.contains(.up) {
            guard evaluator.describe(link.index, in: snapshot)?.kind == .wifi else { continue }
            radios[link.index] = .init(link: link, state: snapshot.devices.wireless[link.index])
        }
    }

    /// Whether there is none.
    var isEmpty: Bool { radios.isEmpty }

    /// Whether one may have another network than before: the kernel tells of it anew when it gets or loses one.
    func mayTellOtherwise(than before: Self) -> Bool {
        radios.contains { $0.value.link.canCarry && before.radios[$0.key] != $0.value }
    }

    private struct Radio: Hashable {
        var link: Link
        var state: WirelessState?
    }
}
