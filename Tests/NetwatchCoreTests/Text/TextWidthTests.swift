import Glibc
import NetwatchCore
import Testing

@Suite struct TextWidthTests {
    @Test(arguments: [
        ("", 0), ("wlan0", 5), ("Büro", 4), ("日本語", 6), ("ｆｕｌｌ", 8), ("e\u{301}\u{302}", 1), ("한국", 4), ("👍", 2),
        ("각", 2), ("→▸●█▁…·", 7), ("العربية", 7), ("\u{25CC}\u{301}", 1),
    ])
    func `text has a width in columns`(text: String, columns: Int) {
        #expect(TextWidth.columns(text) == columns)
    }

    /// The C library's table is from Unicode too, and ncurses uses it.
    @Test func `scalars have the width of wcwidth(3)`() throws {
        let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
        let before = uselocale(locale)
        defer {
            uselocale(before)
            freelocale(locale)
        }
        // <wchar.h> hides its declaration from Swift.
        let symbol = try #require(dlsym(nil, "wcwidth"))
        let wcwidth = unsafeBitCast(symbol, to: (@convention(c) (wchar_t) -> Int32).self)
        var different: [String] = []
        // U+1171E became a spacing mark between the versions that the two know.
        for value in UInt32(0xA0)...0x3_FFFF where value != 0x1171E {
            guard let scalar = Unicode.Scalar(value), isShown(scalar) else { continue }
            let expected = Int(wcwidth(wchar_t(value)))
            // The C library lacks newer characters.
            guard expected >= 0, expected != TextWidth.columns(scalar) else { continue }
            different.append(String(value, radix: 16))
        }
        #expect(different.isEmpty, "\(different.count) differ: \(different.prefix(200).joined(separator: " "))")
    }

    private func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .unassigned, .privateUse, .surrogate, .control, .format: false
        case .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
