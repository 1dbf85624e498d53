import EventCore
import Testing

@Suite struct EventTextTests {
    private static let line = Array(#"{"seq":7,"event":"change","path":{"a":"}"},"reasons":[]}"#.utf8) + [10]

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `the verdict is the last member of an object`() {
        let line = EventText.line(Self.line, validation: #"{"verdict":"portal"}"#, isVerdict: false)
        let expected = #"{"seq":7,"event":"change","path":{"a":"}"},"reasons":[],"validation":{"verdict":"portal"}}"#
        #expect(text(line) == expected + "\n")
    }

    @Test func `a change of the verdict is an event of its own`() {
        let line = EventText.line(Self.line, validation: "{}", isVerdict: true)
        #expect(text(line) == #"{"seq":7,"event":"validation","path":{"a":"}"},"reasons":[],"validation":{}}"# + "\n")
    }

    @Test func `what is no event stays as it is`() {
        for text in ["{}", #"{"event":"#, ""] {
            #expect(EventText.line(Array(text.utf8), validation: "{}", isVerdict: true) == Array(text.utf8))
        }
    }

    @Test func `a gap before a verdict has its members, too`() {
        let line = EventText.line(Self.line, validation: "{}", isVerdict: true)
        let gap = EventText.line(of: .init(from: nil, missed: 2, reason: .slow), at: line)
        let end = #""reasons":[],"validation":{},"gap":{"from":null,"missed":2,"reason":"slow"}}"#
        #expect(text(gap).hasPrefix(#"{"seq":7,"event":"gap","path""#) && text(gap).hasSuffix(end + "\n"))
    }
}
