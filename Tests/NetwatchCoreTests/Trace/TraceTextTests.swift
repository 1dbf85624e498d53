import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct TraceTextTests {
    private static let router = IPAddress(ipv4: 0xC000_0201)
    private static let other = IPAddress(ipv4: 0xC000_0209)

    private static let text: TraceText = {
        var text = TraceText(to: .init(ipv4: 0xCB00_7107))
        text.interface = "wlan0"
        text.gateway = router
        return text
    }()

    @Test(
        arguments: [
            (.microseconds(4), "0.00 ms"), (.microseconds(299), "0.30 ms"), (.microseconds(9994), "9.99 ms"),
            (.microseconds(9996), "10.0 ms"), (.microseconds(99_940), "99.9 ms"), (.microseconds(99_960), "100 ms"),
            (.milliseconds(3012), "3012 ms"),
        ] as [(Duration, String)]
    )
    func `a round trip is written to three digits`(duration: Duration, text: String) {
        #expect(TraceText.roundTrip(duration) == text)
    }

    @Test func `a hop's line has number, address, round trip and meaning`() {
        let time = Duration.microseconds(310)
        let hop = TraceHop(1, answer: .init(Self.router, .router, roundTrip: time))
        #expect(TraceText.line(hop) == " 1  192.0.2.1  0.31 ms  time exceeded")
        #expect(TraceText.line(hop, name: "gw\u{1B}") == " 1  gw\\u{1b} (192.0.2.1)  0.31 ms  time exceeded")
        #expect(TraceText.line(.init(12)) == "12  *")
        #expect(TraceText.line(silent: 3...30) == " 3-30  *")
        #expect(TraceText.line(silent: 3...3) == " 3  *")
        let narrow = TraceHop(
            2,
            answer: .init(Self.other, .router, roundTrip: time),
            narrowing: .init(address: Self.router, mtu: 1300)
        )
        #expect(
            TraceText.line(narrow)
                == " 2  192.0.2.9  0.31 ms  time exceeded; 192.0.2.1 says: packet too big, MTU 1300"
        )
    }

    @Test(
        arguments: [
            (.networkUnreachable, "network unreachable"), (.hostUnreachable, "host unreachable"),
            (.portUnreachable, "port unreachable"), (.prohibited, "administratively prohibited"),
            (.packetTooBig(mtu: 1300), "packet too big, MTU 1300"), (.packetTooBig(mtu: 0), "packet too big"),
            (.other(type: 12, code: 1), "ICMP type 12, code 1"),
        ] as [(ICMPError, String)]
    )
    func `each ICMP error is named`(error: ICMPError, words: String) {
        let hop = TraceHop(3, answer: .init(Self.router, .rejection(error), roundTrip: .milliseconds(20)))
        #expect(TraceText.line(hop) == " 3  192.0.2.1  20.0 ms  \(words)")
    }

    @Test(
        arguments: [
            (.reached(hops: 5, roundTrip: .milliseconds(12)), "203.0.113.7 is reached after 5 hops, in 12.0 ms."),
            (.reached(hops: 1, roundTrip: .milliseconds(12)), "203.0.113.7 is reached after 1 hop, in 12.0 ms."),
            (
                .silentBeyond(other, hop: 2),
                "The last router that answers is 192.0.2.9, hop 2; nothing answers beyond it. It may be UDP that is ignored: "
                    + "try 'netwatch trace 203.0.113.7 --tcp 443'."
            ),
            (
                .rejected(.prohibited, by: other, hop: 2),
                "203.0.113.7 is not reached: 192.0.2.9, hop 2, says that this is administratively prohibited, as a firewall does."
            ),
            (
                .loop([router, other], hop: 3),
                "203.0.113.7 is not reached: packets go in a circle between 192.0.2.1 and 192.0.2.9, from hop 3 on."
            ),
            (
                .loop([router], hop: 3),
                "203.0.113.7 is not reached: packets come back to 192.0.2.1 again and again, from hop 3 on."
            ),
            (
                .tooFar(last: other, hop: 30),
                "203.0.113.7 is not reached within 30 hops; the last router that answers is 192.0.2.9. Give a larger --hops."
            ),
            (
                .neighborSilent,
                "The gateway 192.0.2.1 does not answer to ARP on wlan0: no packet leaves this machine."
            ),
            (.timeUp(last: nil, hop: 0), "The time is up, and nothing has answered."),
            (
                .timeUp(last: other, hop: 2),
                "The time is up, and 203.0.113.7 has not answered; the last router that did is 192.0.2.9, hop 2."
            ),
            (.noPath(errno: 101), "No packet is sent to 203.0.113.7: there is no route on wlan0."),
            (
                .noPath(errno: 13),
                "No packet is sent to 203.0.113.7: a route or a firewall of this machine prohibits it."
            ),
            (.noPath(errno: 1), "No packet is sent to 203.0.113.7: the kernel refuses: error 1."),
            (.thisMachine, "203.0.113.7 is an address of this machine: packets to it do not leave it."),
        ] as [(TraceVerdict, String)]
    )
    func `each result is a sentence`(verdict: TraceVerdict, sentence: String) {
        #expect(Self.text.sentence(verdict) { "error \($0)" } == sentence)
    }

    @Test func `a gateway behind which nothing answers is called so`() {
        let sentence = Self.text.sentence(.silentBeyond(Self.router, hop: 1)) { _ in "" }
        let words =
            "The last router that answers is the gateway 192.0.2.1; nothing answers beyond it, so look at its uplink."
        #expect(sentence.hasPrefix(words))
        #expect(
            Self.text.sentence(.silent) { _ in "" }.hasPrefix(
                "Nothing answers, not even the gateway 192.0.2.1 on wlan0."
            )
        )
    }

    @Test func `with TCP there is no advice to try TCP, and why the path is unusable is added`() {
        var text = Self.text
        text.port = 443
        text.reason = .noCarrier
        let sentence = text.sentence(.silent) { _ in "" }
        let meaning = ReachabilityReason.noCarrier.meaning
        #expect(sentence == "Nothing answers, not even the gateway 192.0.2.1 on wlan0. \(meaning)")
        #expect(text.head == "to 203.0.113.7 by TCP to port 443, through wlan0, gateway 192.0.2.1")
    }

    @Test func `a smaller MTU is a sentence of its own`() {
        let narrowing = TraceHop.Narrowing(address: Self.other, mtu: 1300)
        let sentence = Self.text.sentence(.reached(hops: 5, roundTrip: .zero), narrowing: narrowing) { _ in "" }
        #expect(sentence.hasSuffix(". Packets of more than 1300 bytes do not pass 192.0.2.9."))
    }
}
