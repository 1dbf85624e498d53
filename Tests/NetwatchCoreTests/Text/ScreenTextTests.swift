import Testing

@testable import NetwatchCore

@Suite struct ScreenTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("a\u{1B}[31m\nb\u{7F}", "a\\u{1b}[31m\\u{a}b\\u{7f}"), ("\u{9B}2J", "\\u{9b}2J"),
        ("\u{202E}abc", "\\u{202e}abc"), ("👨\u{200D}👩\u{200D}👧", "👨👩👧"), ("❤\u{FE0F}", "❤"), ("👍🏽 ok", "👍 ok"),
        ("🏽", "🏽"), ("e\u{301}\u{302}\u{303}\u{304}", "e\u{301}\u{302}"), ("\u{301}x", "\u{25CC}\u{301}x"),
        ("\u{E000}\u{10FFFF}", "\u{FFFD}\u{FFFD}"), ("\u{FEFF}\u{200B}\u{AD}", ""), ("日本", "日本"),
    ])
    func `control characters are escaped`(text: String, shown: String) {
        #expect(text.shownOnScreen(asASCII: false).unicodeScalars.elementsEqual(shown.unicodeScalars))
    }

    @Test func `in ASCII, all other characters are escaped`() {
        #expect("Büro 1\u{1B}".shownOnScreen(asASCII: true) == "B\\u{fc}ro 1\\u{1b}")
    }

    @Test func `text is cut with an ellipsis, never within a wide character`() {
        #expect(TextFit.clip("wlan0", to: 5, ellipsis: "…") == "wlan0")
        #expect(TextFit.clip("wlan01", to: 5, ellipsis: "…") == "wlan…")
        #expect(TextFit.clip("日本語", to: 5, ellipsis: "…") == "日本…")
        #expect(TextFit.clip("日本語", to: 4, ellipsis: "…") == "日…")
        #expect(TextFit.clip("e\u{301}a\u{301}", to: 1, ellipsis: "…") == "…")
        #expect(TextFit.clip("日", to: 1, ellipsis: "~") == "~")
        #expect(TextFit.clip("日", to: 0, ellipsis: "~").isEmpty)
    }

    @Test func `lines are broken between words, and within words that are too long`() {
        #expect(TextFit.wrap("the kernel's own word", 10) == ["the", "kernel's", "own word"])
        #expect(TextFit.wrap("abcdefghij k", 4) == ["abcd", "efgh", "ij k"])
        #expect(TextFit.wrap("日本語", 3) == ["日", "本", "語"])
        #expect(TextFit.wrap("日本語 a", 1) == ["a"])
        #expect(TextFit.wrap("  ", 5).isEmpty && TextFit.wrap("a", 0).isEmpty)
    }
}
