import LinuxSystem
import NetwatchCore
import ReachabilityCore
import Testing

@testable import netwatch

/// The order in which the live view receives the updates of other threads.
@Suite struct LiveInboxTests {
    private let inbox: LiveInbox
    private let change = LiveViewInput.change(Samples.wifiChange, latency: nil, at: LiveClock.moment)
    private let model: LiveViewInput

    init() throws {
        inbox = LiveInbox(try Wakeup())
        let none = FamilyEvaluation(outcomes: [], path: nil)
        let evaluation = PathEvaluation(path: Samples.wifiPath, ipv4: none, ipv6: none)
        model = .model(.init(), evaluation, why: [], at: LiveClock.moment)
    }

    @Test func `a model follows the changes that arrived while it was read`() {
        inbox.noteModel()
        let inputs = inbox.take {
            inbox.put(change)
            return model
        }
        #expect(inputs.map(\.name) == ["change", "model"])
    }

    @Test func `the model is read again after a change`() {
        inbox.put(change)
        #expect(inbox.take { inbox.takeModel() ? model : nil }.map(\.name) == ["change", "model"])
        #expect(inbox.take { inbox.takeModel() ? model : nil }.isEmpty)
    }

    @Test func `the model is read only after a change`() {
        inbox.put(.counters([:], at: SystemClock.now))
        #expect(inbox.take { model }.map(\.name) == ["counters"])
    }
}

extension LiveViewInput {
    fileprivate var name: String {
        switch self {
        case .change: "change"
        case .model: "model"
        case .counters: "counters"
        default: "other"
        }
    }
}
