import NetworkClientCore
import Testing

/// Dates of cookies (RFC 6265bis, 5.1.1).
struct CookieDateTests {
    /// Forms of 1994-11-06 08:49:37 UTC.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "06 Nov 1994 08:49:37", "6 Nov 1994 8:49:37", "08:49:37 06 Nov 1994", "1994 06 Nov 08:49:37",
        "Nov 06 1994 08:49:37", "nov 06 1994 08:49:37", "NOVEMBER 06 1994 08:49:37", "Novfoo 06 1994 08:49:37",
        "06/Nov/1994/08:49:37", "06\"Nov\"1994 08:49:37", "(06) [Nov] {1994} <08:49:37>", "06\tNov\t1994\t08:49:37",
        "Sun,06,Nov,1994,08:49:37,GMT", "06 Nov 94 08:49:37", "6th Nov 1994 08:49:37", "06 Nov 1994x 08:49:37",
        "06 Nov 1994 08:49:37.123", "06 Nov 1994 08:49:37x", "06 Nov 1994 08:49:37 +0200",
        "06 Nov 1994 08:49:37 PST", "Xyz, 06 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 09:00:00",
        "06 Nov 1994 08:49:37 07 Dec 1995", "  06 Nov 1994 08:49:37  ", "06-Nov-1994-08:49:37",
        "@06~Nov`1994^08:49:37_", "Mon, 06 Nov 1994 08:49:37 GMT",
    ])
    func `a date is read in any order and with any delimiters`(text: String) {
        #expect(CookieDate.seconds(text) == 784_111_777)
    }

    @Test(arguments: [
        "", " ", "tomorrow", "06 Nov 1994", "08:49:37", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37",
        "00 Nov 1994 08:49:37", "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 1994 08:49:37",
        "30 Feb 1996 08:49:37", "29 Feb 1900 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00",
        "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60", "06 Nov 1994 08:49", "06 Nov 1994 08-49-37",
        "06 Nov 1994 008:49:37", "06 Nov 1994 08:049:37", "06 Nov 1994 08:49:037", "06 Nov 1994 08:4x:37",
        "06 Nov 19940 08:49:37", "006 Nov 1994 08:49:37", "06 No 1994 08:49:37", "06 Nev 1994 08:49:37",
        "06 Nov 9 08:49:37", "06 11 1994 08:49:37", "1994-11-06T08:49:37Z", "06 Nov 99999 08:49:37",
    ])
    func `a date that is incomplete or out of range is none`(text: String) {
        #expect(CookieDate.seconds(text) == nil)
    }

    @Test(arguments: [
        ("01 Jan 70 00:00:00", 0), ("31 Dec 69 23:59:59", 3_155_759_999), ("01 Jan 99 00:00:00", 915_148_800),
        ("01 Jan 00 00:00:00", 946_684_800), ("01 Jan 038 00:00:00", 2_145_916_800),
        ("29 Feb 2000 00:00:00", 951_782_400),
        ("29 Feb 1996 12:00:00", 825_595_200), ("01 Jan 1601 00:00:00", -11_644_473_600),
        ("31 Dec 9999 23:59:59", 253_402_300_799), ("19 Jan 2038 03:14:08", 2_147_483_648),
        ("01 Jan 100 00:00:00", nil), ("01 Jan 1970 00:00:00", 0), ("31 Dec 1969 23:59:59", -1),
    ])
    func `a year of two digits is of 1970 to 2069, and the range ends where the calendar of the RFC begins`(
        text: String,
        seconds: Int64?
    ) {
        #expect(CookieDate.seconds(text) == seconds)
    }
}
