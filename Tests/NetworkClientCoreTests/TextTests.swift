import NetworkClientCore
import Testing

/// Tests of ASCII case and of comma-separated lists.
struct TextTests {
    @Test(arguments: [
        ("close", true), ("Close", true), ("a, CLOSE\t,b", true), (",,close", true), ("close ", true), (" close", true),
        ("", false), ("closed", false), ("clos", false), ("a close", false), ("a=close", false), ("cl\u{4f}se", true),
        ("clo\u{53}e;x", false),
    ])
    func `a list element is found regardless of case and white space`(list: String, isThere: Bool) {
        #expect(list.utf8.listContains("close".utf8) == isThere)
    }

    @Test func `case is ignored only for letters`() {
        #expect("a-Z9".utf8.isEqualIgnoringCase("A-z9".utf8))
        #expect(!"[".utf8.isEqualIgnoringCase("{".utf8) && !"@".utf8.isEqualIgnoringCase("`".utf8))
        #expect(!"a".utf8.isEqualIgnoringCase("".utf8) && !"\r".utf8.isEqualIgnoringCase("-".utf8))
    }
}
