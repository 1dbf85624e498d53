import CNcurses
import NetwatchCore
import NetworkLab
import Reachability
import ReachabilityCore
import Testing

@testable import TerminalDrawing
@testable import netwatch

@Suite struct LivePartsTests {
    private func at(_ second: Int64) -> Instant { .init(nanoseconds: second * 1_000_000_000) }

    @Test func `a missing response is reported once`() {
        var resolved = ResolvedAddresses()
        resolved.beginAttempt(at: at(100))
        #expect(resolved.attemptDeadline == at(110))
        resolved.checkAttempt(at: at(109))
        #expect(resolved.failure == nil)
        resolved.checkAttempt(at: at(110))
        #expect(resolved.failure == "no name server answered in time")
        #expect(resolved.attemptDeadline == nil)
    }

    @Test func `a recording is named after its moment, in local time`() {
        let moment = ViewMoment(
            time: .init(seconds: 1_795_303_799, nanoseconds: 5),
            utcOffset: 3_600,
            instant: at(1)
        )
        #expect(RecordingName.make(at: moment) == "netwatch-20261122-002959.pcap")
        let old = ViewMoment(time: .init(seconds: -1, nanoseconds: 0), utcOffset: 0, instant: at(1))
        #expect(RecordingName.make(at: old) == "netwatch-19691231-235959.pcap")
    }

    @Test(arguments: [
        ("\u{1B}[?1049l", "\u{1B}[?1049l"), ("\u{1B}(B$<50/>x", "\u{1B}(Bx"), ("a$b$<", "a$b$<"), ("$<2>$<3*>", ""),
    ])
    func `padding is removed from the bytes that a crash writes`(text: String, bytes: String) {
        #expect(RestoringBytes.withoutPadding(text) == Array(bytes.utf8))
    }

    @Test func `escape sequences are decoded as keys`() {
        #expect(KeyDecoder.character(0x71) == .character("q"))
        #expect(KeyDecoder.character(0xE9) == .character("é"))
        #expect(KeyDecoder.character(0x0D) == .enter)
        #expect(KeyDecoder.character(0x0A) == .enter)
        #expect(KeyDecoder.character(0x7F) == .backspace)
        #expect(KeyDecoder.character(0x1B) == .escape)
        #expect(KeyDecoder.character(0x0C) == .control("l"))
        for nothing: wint_t in [0x00, 0x9B, 0x202E, 0xD800, 0x110000] { #expect(KeyDecoder.character(nothing) == nil) }
        #expect(KeyDecoder.function(wint_t(KEY_PPAGE)) == .pageUp)
        #expect(KeyDecoder.function(wint_t(KEY_RESIZE)) == nil)
    }

    @Test func `the bytes of an option's value are found`() {
        let words = ["netwatch", "--exec", "a", "--exec=b=c", "--exec", "\u{FFFD}x"].map { Array($0.utf8) }
        var raw = RawArguments(words)
        #expect(raw.value(of: "--exec", reading: "a") == Array("a".utf8))
        #expect(raw.value(of: "--exec", reading: "b=c") == Array("b=c".utf8))
        #expect(raw.value(of: "--exec", reading: "d") == nil)
        raw = .init(words.dropLast() + [[0xE9, 0x78]])
        #expect(raw.value(of: "--exec", reading: "\u{FFFD}x") == [0xE9, 0x78])
    }

    @Test func `reordered addresses are no change, and the old state is kept until new paths are known`() throws {
        let list = try ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map { try #require(IPAddress($0)) }
        func path(_ address: IPAddress, _ status: ReachabilityStatus) -> (IPAddress, DestinationPath) {
            (address, .init(destination: address, status: status, outcome: .refused(errno: 101, .unreachable)))
        }
        var resolved = ResolvedAddresses()
        #expect(resolved.take([list[0], list[1]]).new == [list[0], list[1]])
        #expect(resolved.state([:], after: nil) == .resolving)
        var known = Dictionary(uniqueKeysWithValues: [path(list[0], .wifi), path(list[1], .cellular)])
        let both = resolved.state(known, after: .resolving)
        let turned = resolved.take([list[1], list[0], list[1]])
        #expect(turned.gone.isEmpty && turned.new.isEmpty && resolved.state(known, after: both) == both)
        let next = resolved.take([list[2], list[1]])
        #expect(next.gone == [list[0]] && next.new == [list[2]] && resolved.addresses == [list[1], list[2]])
        known[list[0]] = nil
        #expect(resolved.state(known, after: both) == both)
        resolved.fail("no response")
        known[list[2]] = path(list[2], .wifi).1
        guard case .paths(let routes) = resolved.state(known, after: both) else { throw LabError("paths", errno: 0) }
        #expect(routes.map(\.status) == [.cellular, .wifi])
        #expect(ResolvedAddresses().state([:], after: nil) == .resolving)
    }

    @Test func `radios are queried while they are up, and immediately when the network may have changed`() {
        let message = { (flags: LinkFlags, state: OperationalState) in
            var message = LinkMessage(index: 3)
            (message.hardwareType, message.flags, message.name) = (.ethernet, flags, "wlan0")
            (message.operationalState, message.mtu) = (state, 1500)
            return message
        }
        var snapshot = NetworkSnapshot()
        func radios(_ link: LinkMessage) -> LiveRadios {
            let header = NetlinkHeader(length: 0, type: 0, flags: [], sequence: 0, port: 0)
            snapshot.apply(.link(link), header, at: at(1))
            let uevent = UeventMessage(action: .add, interface: "wlan0", index: 3, deviceType: "wlan")
            snapshot.apply(.uevent(uevent), header, at: at(1))
            return .init(snapshot, EvaluationContext(user: 0))
        }
        let off = radios(message([], .down))
        #expect(off.isEmpty)
        let alone = radios(message([.up], .dormant))
        #expect(!alone.isEmpty && !alone.mayHaveChanged(since: off))
        let connected = radios(message([.up, .running, .lowerUp], .up))
        #expect(connected.mayHaveChanged(since: alone) && !connected.mayHaveChanged(since: connected))
    }

    @Test func `a terminal that reports the wheel as arrow keys keeps its wheel mode`() {
        #expect(WheelMode(terminal: "xterm-256color") == .arrows)
        #expect(WheelMode.arrows.begin(keeps: false) == Array("\u{1B}[?1007h".utf8))
        #expect(WheelMode.buttons.begin(keeps: true).isEmpty && WheelMode.buttons.end.isEmpty)
        #expect(WheelMode(terminal: "tmux-256color") == .buttons)
        #expect(WheelMode(terminal: "screen.xterm-256color") == .buttons)
    }
}
