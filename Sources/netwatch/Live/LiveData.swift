import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import Reachability
import ReachabilityCore
import Synchronization

/// The data of the live view, as it arrives: from the monitor, the counters, the radios and the hosts.
///
/// Confined to the main thread; other threads add to the inbox.
final class LiveData {
    private let configuration: LiveConfiguration
    private let context: EvaluationContext
    private let wakeup: Wakeup
    private let inbox: LiveInbox
    private let monitor: ReachabilityMonitor
    private let sampler: LiveSampler
    private let destinations: [LiveDestination]
    private let modelWatch: Subscription
    private let validator: Validator?
    private var radios = LiveRadios()
    /// Before this the model is not read again.
    private var nextModel = Instant(nanoseconds: 0)

    /// While changes storm, the model is read no more often than this.
    private static let interval = Duration.milliseconds(100)

    /// Starts the monitor, and the other sources.
    ///
    /// - Parameters:
    ///   - configuration: What is shown.
    ///   - wakeup: Told when there is something to take.
    /// - Throws: The error to show if a source can't be started.
    init(_ configuration: LiveConfiguration, _ wakeup: Wakeup) throws(ToolError) {
        let inbox = LiveInbox(wakeup)
        var settings = configuration.monitor
        settings.changeTap = { inbox.put(.change($0, latency: $1, at: LiveClock.moment)) }
        let monitor = try ToolError.wrapping(try ReachabilityMonitor(configuration: settings))
        modelWatch = monitor.subscribeToChanges(affecting: []) { inbox.noteModel() }
        self.configuration = configuration
        self.wakeup = wakeup
        self.inbox = inbox
        self.monitor = monitor
        context = configuration.monitor.evaluationContext
        sampler = try .init(monitor, inbox)
        destinations = configuration.hosts.map {
            .init($0.host, monitor, configuration.monitor.namespace, wakeup)
        }
        validator = try .start(configuration.validation, wakeup: wakeup) { inbox.put(.validation($0)) }
    }

    /// Throws why there will be no validation, if that is so.
    func checkValidation() throws(ToolError) { try validator?.check() }

    /// Reads what the event service has stored, if one runs; not for another network namespace.
    func readPast() {
        if configuration.monitor.namespace == .current { ServicePast().read(into: inbox) }
    }

    /// Ends everything, without waiting for long.
    func stop() {
        modelWatch.cancel()
        monitor.stop()
    }

    /// When to check the inbox without a wake-up.
    var deadline: Instant? {
        var moments = destinations.compactMap(\.deadline)
        if inbox.hasModel { moments.append(nextModel) }
        return moments.min()
    }

    /// Takes the inbox's contents.
    func take() -> [LiveViewInput] {
        var inputs = inbox.take(reading: readModel)
        for case .change in inputs {
            for destination in destinations { destination.noteChange() }
        }
        for (position, destination) in destinations.enumerated() {
            guard let state = destination.update() else { continue }
            inputs.append(.destination(position, state, at: LiveClock.moment))
        }
        return inputs
    }

    /// Reads the model; nil if it was read a moment ago, or the monitor does not run.
    private func readModel() -> LiveViewInput? {
        let now = SystemClock.now
        guard nextModel <= now, inbox.takeModel(), let view = view() else { return nil }
        nextModel = now.advanced(by: Self.interval)
        watchRadios(view.snapshot)
        return model(view)
    }

    /// Queries the radios while one is up, and immediately when one may have another network.
    private func watchRadios(_ snapshot: NetworkSnapshot) {
        let radios = LiveRadios(snapshot, context)
        sampler.noteRadios(!radios.isEmpty)
        if radios.mayHaveChanged(since: self.radios) { sampler.askRadios() }
        self.radios = radios
    }

    /// The lines of `netwatch explain`, also of each host.
    func explanation() -> [String] {
        guard let view = view() else { return ["the monitor does not respond"] }
        let names = InterfaceNames(snapshot: view.snapshot)
        return ViewText.lines(view, context, validator?.report) + destinations.flatMap { $0.explanation(names) }
    }

    /// The monitor's current view, confirmed by the kernel or not.
    private func view() -> MonitorView? { try? monitor.view(within: .zero) }

    private func model(_ view: MonitorView) -> LiveViewInput {
        let explanation = PathExplanation(of: view.evaluation, in: view.snapshot, context: context, at: view.instant)
        let why = WhySentence.of(explanation, snapshot: view.snapshot, evaluation: view.evaluation)
        return .model(view.snapshot, view.evaluation, why: why, at: LiveClock.moment)
    }
}

/// The inputs of other threads for the live view, in order.
final class LiveInbox: Sendable {
    private let inputs = Lock<[LiveViewInput]>([])
    private let isModelNew = Atomic(false)
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) { self.wakeup = wakeup }

    /// Puts something in, and wakes the main thread; with a change, the model counts as another too.
    func put(_ input: LiveViewInput) {
        inputs.withLock { $0.append(input) }
        if case .change = input { isModelNew.store(true, ordering: .releasing) }
        wakeup.signal()
    }

    /// Notes that the monitor's model may have changed, and wakes the main thread if it was not noted yet.
    func noteModel() {
        if !isModelNew.exchange(true, ordering: .acquiringAndReleasing) { wakeup.signal() }
    }

    /// Takes the available data, and the model if it may have changed.
    ///
    /// A change removes the explanation of the previous one from the screen. So the model comes last, after the changes
    /// that arrived while it was read: it may contain them.
    ///
    /// - Parameter read: Reads the model; nil if it is not to be read now.
    /// - Returns: The inputs, the model last.
    func take(reading read: () -> LiveViewInput?) -> [LiveViewInput] {
        let inputs = takeInputs()
        guard hasModel, let model = read() else { return inputs }
        return inputs + takeInputs() + [model]
    }

    private func takeInputs() -> [LiveViewInput] {
        inputs.withLock { inputs in
            defer { inputs = [] }
            return inputs
        }
    }

    /// Returns whether the model may have changed, and resets that.
    func takeModel() -> Bool { isModelNew.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether the model may have changed.
    var hasModel: Bool { isModelNew.load(ordering: .acquiring) }
}

/// The Wi-Fi links that are up, whether or not the path leads through them, as the kernel last described them.
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

    /// Returns whether one may have changed its network: the kernel reports the link again when it joins or leaves one.
    func mayHaveChanged(since before: Self) -> Bool {
        radios.contains { $0.value.link.canCarry && before.radios[$0.key] != $0.value }
    }

    private struct Radio: Hashable {
        var link: Link
        var state: WirelessState?
    }
}
