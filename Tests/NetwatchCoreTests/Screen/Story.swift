import NetwatchCore
import ReachabilityCore

/// A live view, with the model and the clock of a machine.
struct Story {
    private(set) var view: LiveView
    /// The model, which the story changes as the kernel would.
    private(set) var snapshot = NetworkSnapshot()
    /// The next inputs.
    private(set) var moment: ViewMoment
    private let context: EvaluationContext
    private var lastStatus: ReachabilityStatus?
    /// The path that was published last.
    private(set) var path = NetworkPath(status: .unknown)
    private var sequence: UInt64 = 0
    private var counters = TrafficCounters(receivedBytes: 1_000_000, sentBytes: 1000)

    /// Starts on 2026-11-20 at 14:00:00 local time, an hour east of UTC, with the rules and the loopback interface.
    init(hosts: [String] = [], namespace: String? = nil, isASCII: Bool = false, kinds: [KindRule] = []) {
        context = .init(user: 0, kindRules: kinds, expensive: ["wwan*"])
        moment = .init(
            time: .init(seconds: 1_795_179_600, nanoseconds: 123_456_789),
            utcOffset: 3600,
            instant: .init(nanoseconds: 5_000_000_000_000)
        )
        let options = LiveViewOptions(
            hosts: hosts,
            namespace: namespace,
            machine: "kiosk-7",
            version: "1.0",
            isASCII: isASCII,
            context: context
        )
        view = .init(options, at: moment)
        for family in [AddressFamily.ipv4, .ipv6] { addRules(family) }
        link(1, "lo") { message in
            message.hardwareType = .loopback
            message.flags = [.up, .loopback, .running, .lowerUp]
            message.operationalState = .unknown
        }
        address(1, "127.0.0.1", 8)
        address(1, "::1", 128)
    }

    /// Passes an input to the view.
    @discardableResult
    mutating func input(_ input: LiveViewInput) -> LiveViewAction? { view.apply(input) }

    /// Draws the screen.
    @discardableResult
    mutating func draw() -> Frame { view.frame() }

    /// Presses keys, one after another.
    mutating func press(_ keys: Key...) { for key in keys { input(.key(key)) } }

    /// Types text.
    mutating func type(_ text: String) { for character in text { input(.key(.character(character))) } }

    /// Advances the clock; the machine may be suspended meanwhile.
    mutating func wait(_ duration: Duration, suspended: Duration = .zero) {
        let total = duration + suspended
        let nanoseconds = moment.time.nanoseconds + Int64(total.attoseconds / 1_000_000_000)
        moment.time = .init(
            seconds: moment.time.seconds + nanoseconds / 1_000_000_000,
            nanoseconds: nanoseconds % 1_000_000_000
        )
        moment.instant = moment.instant.advanced(by: duration)
        moment.suspended += suspended
    }

    /// Advances the clock and passes the time to the view.
    mutating func tick(after duration: Duration) {
        wait(duration)
        input(.tick(moment))
    }

    /// Passes counters that grew by a number of bytes in both directions; eth0 is idle.
    mutating func count(received: UInt64, sent: UInt64) {
        counters.receivedBytes += received
        counters.sentBytes += sent
        let idle = TrafficCounters(receivedBytes: 77, sentBytes: 0)
        input(.counters([2: idle, 3: counters], at: moment.instant))
    }

    /// Sets the wall clock.
    mutating func setClock(back duration: Duration) { moment.time.seconds -= duration.components.seconds }

    /// Publishes the current state, as the monitor would.
    mutating func publish(
        _ reasons: ReachabilityReason...,
        event: ReachabilityChange.Event? = nil,
        latency: Duration? = .microseconds(180),
        why sentences: [Sentence] = []
    ) {
        let evaluation = PathEvaluator(context: context).evaluate(snapshot, at: moment.instant)
        sequence += 1
        let change = ReachabilityChange(
            event: event ?? (lastStatus == nil ? .state : .change),
            status: evaluation.path.status,
            previous: lastStatus,
            path: evaluation.path,
            reasons: reasons,
            sequence: sequence
        )
        lastStatus = evaluation.path.status
        path = evaluation.path
        input(.change(change, latency: latency, at: moment))
        input(.model(snapshot, evaluation, why: sentences, at: moment))
    }

    /// Adds or changes an interface that is up with carrier; the closure changes it.
    mutating func link(_ index: InterfaceIndex, _ name: String, _ alter: (inout LinkMessage) -> Void = { _ in }) {
        var message = LinkMessage(index: index)
        message.hardwareType = .ethernet
        message.flags = [.up, .running, .lowerUp]
        message.name = name
        message.mtu = 1500
        message.carrier = true
        message.operationalState = .up
        alter(&message)
        kernel(.link(message))
    }

    /// Adds or changes an interface without carrier.
    mutating func linkWithoutCarrier(_ index: InterfaceIndex, _ name: String) {
        link(index, name) { message in
            (message.flags, message.carrier, message.operationalState) = ([.up], false, .down)
        }
    }

    /// Sets the device type of an interface, as its uevent does.
    mutating func device(_ index: InterfaceIndex, _ name: String, _ type: String) {
        kernel(.uevent(.init(action: .add, interface: name, index: index, deviceType: type)))
    }

    /// Adds an address.
    mutating func address(_ index: InterfaceIndex, _ text: String, _ length: UInt8, _ flags: AddressFlags = []) {
        kernel(.address(.init(index: index, address: .of(text), prefixLength: length, flags: flags)))
    }

    /// Adds a default route.
    mutating func route(
        _ family: AddressFamily = .ipv4,
        via gateway: String?,
        on index: InterfaceIndex,
        _ metric: UInt32
    ) {
        kernel(.route(Self.route(family, via: gateway, on: index, metric)))
    }

    /// Removes the default route.
    mutating func removeRoute(
        _ family: AddressFamily = .ipv4,
        via gateway: String?,
        on index: InterfaceIndex,
        _ metric: UInt32
    ) {
        kernel(.routeRemoved(Self.route(family, via: gateway, on: index, metric)))
    }

    /// Applies an event of the kernel.
    mutating func kernel(_ event: KernelEvent) {
        let header = NetlinkHeader(length: 0, type: 0, flags: [], sequence: 0, port: 0)
        snapshot.apply(event, header, at: moment.instant)
    }

    private static func route(
        _ family: AddressFamily,
        via gateway: String?,
        on index: InterfaceIndex,
        _ metric: UInt32
    )
        -> RouteMessage
    {
        var message = RouteMessage(destination: .all(family))
        message.metric = metric
        message.nextHops = [.init(interface: index, gateway: gateway.map { .of($0) })]
        return message
    }

    private mutating func addRules(_ family: AddressFamily) {
        for (priority, table) in [(0, RouteTableID.local), (32_766, .main)] {
            var rule = RuleMessage(family: family)
            (rule.priority, rule.table) = (UInt32(priority), table)
            kernel(.rule(rule))
        }
    }
}

extension IPAddress {
    /// Parses an address that a test contains; any other text is a mistake in the test.
    static func of(_ text: String) -> Self {
        guard let address = Self(text) else { preconditionFailure("'\(text)' is no address") }
        return address
    }
}
