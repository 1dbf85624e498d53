import NetwatchCore
import ReachabilityCore

/// A random story, the same for the same seed.
struct RandomStory {
    private(set) var story: Story
    private var random: SplitMix

    init(seed: UInt64) {
        random = .init(state: seed)
        let isASCII = seed.isMultiple(of: 3)
        story = .init(hosts: ["192.0.2.7", "h\u{1B}öst.example", "日本.example"], isASCII: isASCII)
    }

    /// Applies a random event.
    mutating func step() { step(Int.random(in: 0..<14, using: &random)) }

    /// Applies a random event that keeps the size of the screen.
    mutating func stepWithoutResize() {
        let number = Int.random(in: 0..<13, using: &random)
        step(number < 4 ? number : number + 1)
    }

    /// Changes the size of the screen.
    mutating func resize(_ size: ScreenSize) { story.input(.resize(size)) }

    /// Draws the screen.
    mutating func draw() { story.draw() }

    private mutating func step(_ number: Int) {
        switch number {
        case 0...2: story.input(.key(key))
        case 3: story.input(.wheel(up: .random(using: &random), row: .random(in: -3..<60, using: &random)))
        case 4: story.input(.resize(size))
        case 5, 6: story.tick(after: .milliseconds(Int.random(in: 0..<100_000, using: &random)))
        case 7: changeNetwork()
        case 8: story.publish(reason, reason, event: event, latency: latency, why: why)
        case 9: story.input(.counters([2: counters, 3: counters, 900: counters], at: story.moment.instant))
        case 10: story.input(.wifi([details]))
        case 11: story.input(.destination(.random(in: -1..<5, using: &random), destination, at: story.moment))
        case 12: story.input(.recording(recording, at: story.moment))
        default: disturbClock()
        }
    }

    /// Passes the time to the view.
    mutating func tick() { story.tick(after: .zero) }

    /// Any size, tiny ones and large ones.
    var size: ScreenSize {
        mutating get {
            let largest = [4, 30, 90, 300].randomElement(using: &random) ?? 90
            let columns = Int.random(in: 0...largest, using: &random)
            return .init(columns: columns, rows: Int.random(in: 0...max(largest / 3, 12), using: &random))
        }
    }

    private mutating func disturbClock() {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: story.setClock(back: .seconds(Int.random(in: -90_000..<90_000, using: &random)))
        case 1: story.wait(.seconds(1), suspended: .seconds(Int.random(in: 0..<9000, using: &random)))
        case 2: story.wait(.seconds(Int.random(in: 0..<400_000, using: &random)))
        default: story.input(.explanation([text, "  " + text, text + text]))
        }
    }

    private mutating func changeNetwork() {
        let index = InterfaceIndex.random(in: 2..<9, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: story.link(index, text)
        case 1: story.linkWithoutCarrier(index, text)
        case 2: story.address(index, "192.0.2.\(index)", 24)
        case 3: story.route(via: "192.0.2.1", on: index, UInt32(index) * 100)
        case 4: story.removeRoute(via: "192.0.2.1", on: index, UInt32(index) * 100)
        default: story.device(index, "x", ["wlan", "wwan"].randomElement(using: &random) ?? "")
        }
    }

    private var key: Key {
        mutating get {
            let keys: [Key] = [
                .enter, .escape, .backspace, .tab, .up, .down, .left, .right, .pageUp, .pageDown, .home, .end,
                .control("u"), .control("l"), .character("/"), .character(" "), .character("?"), .character("e"),
                .character("q"), .character("j"), .character("G"),
            ]
            guard Bool.random(using: &random), let key = keys.randomElement(using: &random) else {
                return .character(text.first ?? "w")
            }
            return key
        }
    }

    private var reason: ReachabilityReason {
        mutating get { ReachabilityReason.allCases.randomElement(using: &random) ?? .initial }
    }

    private var event: ReachabilityChange.Event? {
        mutating get { ReachabilityChange.Event.allCases.randomElement(using: &random) }
    }

    private var latency: Duration? {
        mutating get {
            Bool.random(using: &random) ? .nanoseconds(Int64.random(in: -5..<4_000_000_000, using: &random)) : nil
        }
    }

    private var why: [Sentence] {
        mutating get { Bool.random(using: &random) ? [] : [.init(text + " " + text, fix: text)] }
    }

    private var counters: TrafficCounters {
        mutating get {
            let bits = UInt64.random(in: 0..<64, using: &random)
            return .init(
                receivedBytes: random.next() >> bits,
                sentBytes: random.next() >> UInt64.random(in: 0..<64, using: &random)
            )
        }
    }

    private var details: WiFiDetails {
        mutating get {
            var details = WiFiDetails(interface: .init(index: 3, name: text, kind: .wifi, kindSource: .nl80211))
            details.ssidBytes = Bool.random(using: &random) ? Array(text.utf8) : [0xFF, 0, 0x41, 0x1B]
            details.signal = Int.random(in: -120..<0, using: &random)
            return details
        }
    }

    private var destination: DestinationState {
        mutating get {
            let status = ReachabilityStatus.allCases.randomElement(using: &random) ?? .unknown
            let interface = NetworkInterface(index: 3, name: text, kind: .wifi, kindSource: .rule)
            let route = DestinationRoute(
                to: .of("2001:db8::7"),
                status: status,
                interface: interface,
                reasons: [reason]
            )
            return [.resolving, .failed(text), .paths([]), .paths([route, route])].randomElement(using: &random)
                ?? .resolving
        }
    }

    private var recording: RecordingState {
        mutating get {
            let all: [RecordingState] = [
                .off, .on(path: text, bytes: 77_777), .failed(text), .saved(path: text, bytes: 0),
            ]
            return all.randomElement(using: &random) ?? .off
        }
    }

    /// A few characters of any kind, sometimes none.
    private var text: String {
        mutating get {
            let pieces = [
                "wlan0", "eth", "日本", "👨‍👩‍👧", "\u{1B}[2J", "\n", "\u{301}", "\u{202E}", "é", " ", "a b", "\u{10FFFF}", "x",
                "👍🏽", "\u{0}", "ﷺ", "\t", "한",
            ]
            let count = Int.random(in: 0..<9, using: &random)
            return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
