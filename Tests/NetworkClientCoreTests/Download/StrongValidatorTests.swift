import Testing

@testable import NetworkClientCore

struct StrongValidatorTests {
    private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(arguments: [#""abc""#, #""""#, #""W/x""#, #""a,b""#, "\"\u{E9}\""])
    func `a tag between quotes is strong`(tag: String) {
        #expect(StrongValidator(tags: [tag], dates: [], sent: [])?.condition == tag)
    }

    @Test(arguments: [#"W/"abc""#, #"w/"abc""#, "abc", #"""#, "", #""a"b""#, #""a b""#, "\"a\u{7F}\""])
    func `a weak or invalid tag is no validator, and rules out the date`(tag: String) {
        #expect(StrongValidator(tags: [tag], dates: [date], sent: ["Mon, 07 Nov 1994 08:49:37 GMT"]) == nil)
    }

    @Test func `two tags are no validator`() {
        #expect(StrongValidator(tags: [#""a""#, #""b""#], dates: [], sent: []) == nil)
        #expect(StrongValidator(tags: [#""a""#, #""a""#], dates: [], sent: []) == nil)
    }

    @Test func `a date is strong if it is a minute older than the response`() {
        let strong = StrongValidator(tags: [], dates: [date], sent: ["Sun, 06 Nov 1994 08:50:37 GMT"])
        #expect(strong == .date(date))
        #expect(strong?.condition == date)
        for sent in ["Sun, 06 Nov 1994 08:50:36 GMT", date, "Sat, 05 Nov 1994 08:49:37 GMT", "?"] {
            #expect(StrongValidator(tags: [], dates: [date], sent: [sent]) == nil)
        }
        #expect(StrongValidator(tags: [], dates: [date], sent: []) == nil)
        #expect(StrongValidator(tags: [], dates: ["yesterday"], sent: ["Sun, 06 Nov 1994 08:50:37 GMT"]) == nil)
        #expect(StrongValidator(tags: [], dates: [], sent: [date]) == nil)
    }

    @Test func `tags are compared by bytes, and dates are then ignored`() {
        let tag = StrongValidator.tag(#""a""#)
        #expect(tag.compare(tags: [#""a""#], dates: ["another"]) == .same)
        #expect(tag.compare(tags: [], dates: [date]) == .silent)
        for other in [[#""A""#], [#"W/"a""#], [#""a""#, #""a""#], [""]] {
            #expect(tag.compare(tags: other, dates: []) == .other)
        }
    }

    @Test func `dates are compared by bytes, and a new tag means another version`() {
        let validator = StrongValidator.date(date)
        #expect(validator.compare(tags: [], dates: [date]) == .same)
        #expect(validator.compare(tags: [], dates: []) == .silent)
        #expect(validator.compare(tags: [], dates: ["Sun, 06 Nov 1994 08:49:38 GMT"]) == .other)
        #expect(validator.compare(tags: [#""a""#], dates: [date]) == .other)
    }
}
