import RequestGate
import Testing

struct RetryAfterTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(arguments: [
        ("0", Duration.zero), ("120", .seconds(120)), (" 7 \t", .seconds(7)), ("007", .seconds(7)),
        ("9223372036", .seconds(9_223_372_036)), ("9223372037", .seconds(9_223_372_036)),
        ("999999999999999999999999999999999999", .seconds(9_223_372_036)),
    ])
    func `a number of seconds is parsed`(field: String, duration: Duration) {
        #expect(RetryAfter.duration(field, date: nil) == duration)
        #expect(RetryAfter.duration(field, date: "garbage") == duration)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 09:49:37 1994", 3_600),
        ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Sun, 01 Jan 1995 00:00:00 GMT", 86_400 * 55 + 54_623), ("Thu, 29 Feb 1996 08:49:37 GMT", 86_400 * 480),
        ("Wed, 01 Mar 2000 08:49:37 GMT", 86_400 * 1_942), ("Tue, 31 Dec 1994 23:59:60 GMT", 86_400 * 55 + 54_623),
        // 2044 is 50 years later; 2045 would be 51 years later, so it means 1945.
        ("Sunday, 06-Nov-44 08:49:37 GMT", 86_400 * 18_263), ("Sunday, 06-Nov-45 08:49:37 GMT", 0),
    ])
    func `dates are relative to the response's own date`(field: String, seconds: Int) {
        #expect(RetryAfter.duration(field, date: Self.date) == .seconds(seconds))
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `the response's own date may have each format`(date: String) {
        #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:50:00 GMT", date: date) == .seconds(23))
    }

    @Test func `a date beyond counting is as long as can be counted`() {
        let longest = RetryAfter.duration("9223372037", date: nil)
        #expect(RetryAfter.duration("Fri, 31 Dec 9999 23:59:59 GMT", date: Self.date) == longest)
    }

    @Test func `the year 0 is a leap year and counts as one`() {
        let wait = RetryAfter.duration("Wed, 01 Mar 0000 00:00:00 GMT", date: "Sat, 01 Jan 0000 00:00:00 GMT")
        #expect(wait == .seconds(86_400 * 60))
    }

    @Test func `a year of two digits is never more than 50 years later, however early the response`() {
        let field = "Friday, 31-Dec-99 00:00:00 GMT"
        #expect(RetryAfter.duration(field, date: "Sat, 01 Jan 0000 00:00:00 GMT") == nil)
        #expect(RetryAfter.duration(field, date: "Fri, 31 Dec 0049 00:00:00 GMT") == .seconds(86_400 * 18_262))
    }

    @Test func `a date without the response's own date is ignored`() {
        #expect(RetryAfter.duration(Self.date, date: nil) == nil)
        #expect(RetryAfter.duration(Self.date, date: "yesterday") == nil)
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1 2", "1,2", "0x10", "soon", "١٢", "12s", "1\u{0}",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1994 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nob 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 19941 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 -8:49:37 GMT", "06 Nov 1994 08:49:37 GMT",
        String(repeating: "1 ", count: 100_000), String(repeating: "Sun ", count: 5),
    ])
    func `an invalid value is ignored`(field: String) {
        #expect(RetryAfter.duration(field, date: Self.date) == nil)
    }
}
