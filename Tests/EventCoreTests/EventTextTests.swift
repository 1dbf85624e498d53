import EventCore
import Testing

@Suite struct EventTextTests {
    @Test func `a gap before a verdict has its members, too`() {
        let line = #"{"seq":7,"event":"validation","path":{"a":"}"},"reasons":[],"validation":{"verdict":"portal"}}"#
        let gap = EventText.line(of: .init(from: nil, missed: 2, reason: .slow), at: Array(line.utf8) + [10])
        let expected =
            #"{"seq":7,"event":"gap","path":{"a":"}"},"reasons":[],"validation":{"verdict":"portal"},"#
            + #""gap":{"from":null,"missed":2,"reason":"slow"}}"#
        #expect(String(decoding: gap, as: UTF8.self) == expected + "\n")
    }

    @Test func `what is no event stays as it is`() {
        for text in ["{}", #"{"event":"#, ""] {
            let gap = EventGap(from: nil, missed: nil, reason: .unknown)
            #expect(EventText.line(of: gap, at: Array(text.utf8)) == Array(text.utf8))
        }
    }
}
