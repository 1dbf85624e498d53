import EventCore
import ValidationCore

@testable import EventPage
@testable import NetwatchCore
@testable import ReachabilityCore

/// A machine with an interface eth0, a clock, and the changes that a test publishes; it starts at 2026-11-20T13:00:00Z.
struct PageScene {
    private var history = PageHistory()
    private var sequence: UInt64 = 0
    private var elapsed = Duration.zero
    private var last: ReachabilityStatus?
    /// The name of the machine's second interface.
    var name = "eth0"

    mutating func wait(_ duration: Duration) { elapsed += duration }

    /// Publishes a change.
    mutating func change(
        _ status: ReachabilityStatus,
        through name: String = "wlan0",
        reasons: [ReachabilityReason] = [.routeAdded],
        suspended: Duration? = nil
    ) {
        sequence += 1
        let kind: InterfaceKind = status == .cellular ? .cellular : .wifi
        let interface = NetworkInterface(index: 3, name: name, kind: kind, kindSource: .rule)
        let family = FamilyPath(
            status: status,
            interface: interface,
            carriers: [interface],
            gateway: IPAddress("192.0.2.1"),
            source: IPAddress(ipv4: 0xC000_0202),
            metric: 600,
            table: .main
        )
        let path =
            status.isReachable
            ? NetworkPath(status: status, interface: interface, carriers: [interface], ipv4: family)
            : NetworkPath(status: status, reasons: [.noRoute])
        let change = ReachabilityChange(
            event: suspended == nil ? (sequence == 1 ? .state : .change) : .suspend,
            status: status,
            previous: last,
            path: path,
            reasons: reasons,
            sequence: sequence,
            suspended: suspended
        )
        last = status
        history.record(change, at: moment)
    }

    /// Publishes a change of the verdict on the path.
    mutating func validation(_ verdict: ValidationVerdict) {
        sequence += 1
        let time = Timestamp(nanosecondsSinceEpoch: moment.since1970)
        history.validation = .init(verdict: verdict, since: time, checkedAt: verdict == .notChecked ? nil : time)
        guard let last = history.latest else { return }
        let change = ReachabilityChange(
            event: .change,
            status: last.status,
            previous: last.status,
            path: last.path,
            reasons: [],
            sequence: sequence
        )
        history.record(change, verdict: verdict, at: moment)
    }

    private var moment: EventMetrics.Moment {
        let nanoseconds = elapsed.components.seconds * 1_000_000_000 + elapsed.components.attoseconds / 1_000_000_000
        return .init(sinceBoot: 5_000_000_000_000 + nanoseconds, since1970: 1_795_179_600_000_000_000 + nanoseconds)
    }

    func eventPage(_ span: PageSpan = .hour) -> EventPage {
        .init(
            history: history,
            network: network,
            id: sequence == 0 ? nil : .init(run: 7, sequence: sequence),
            span: span,
            now: moment,
            nonce: "n0nce"
        )
    }

    /// The document.
    func page(_ span: PageSpan = .hour) -> String { String(decoding: eventPage(span).document, as: UTF8.self) }

    private var network: PageNetwork {
        var snapshot = NetworkSnapshot()
        snapshot.links = [
            .init(
                index: 2,
                name: name,
                hardwareType: .ethernet,
                flags: [.up, .running, .lowerUp],
                operationalState: .up,
                carrier: true,
                mtu: 1500,
                group: 0,
                prefersTemporaryAddresses: false,
                usesOwnAddressesOnly: false,
                usesOptimisticAddresses: false
            )
        ]
        let context = EvaluationContext(user: 0)
        let instant = Instant(nanoseconds: 5_000_000_000_000)
        let evaluation = PathEvaluator(context: context).evaluate(snapshot, at: instant)
        return .init(
            machine: "kiosk-7",
            version: "1.0",
            snapshot: snapshot,
            evaluation: last?.isReachable == true ? PageScene.reachable(evaluation) : evaluation,
            context: context,
            at: instant
        )
    }

    /// An evaluation with nothing to explain.
    private static func reachable(_ evaluation: PathEvaluation) -> PathEvaluation {
        var evaluation = evaluation
        evaluation.path = .init(status: .wifi)
        return evaluation
    }
}
