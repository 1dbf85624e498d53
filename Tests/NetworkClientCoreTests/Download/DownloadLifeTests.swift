import Testing

@testable import NetworkClientCore

struct DownloadLifeTests {
    private static let tag = #""v1""#
    private static let begun = DownloadPart(length: 40, validator: .tag(tag), total: 100)

    private static func rest(
        _ range: String? = "bytes 40-99/100",
        tags: [String] = [tag],
        length: Int64? = 60,
        type: String? = "text/plain",
        isCoded: Bool = false
    ) -> DownloadAnswer {
        .init(status: 206, tags: tags, ranges: range.map { [$0] } ?? [], length: length, type: type, isCoded: isCoded)
    }

    /// Returns a download that has requested the rest.
    private static func asked(_ part: DownloadPart = begun, _ traits: DownloadLife.Traits = .init()) -> DownloadLife {
        var life = DownloadLife(part, traits)
        #expect(life.ask() != .whole)
        return life
    }

    @Test func `a download comes whole`() {
        var life = DownloadLife()
        #expect(life.ask() == .whole)
        let part = DownloadPart(validator: .tag(Self.tag), total: 100)
        #expect(life.begin(.init(status: 200, tags: [Self.tag], length: 100)) == .restart(part))
        #expect(life.receive(100) == nil)
        #expect(life.finish() == nil)
        #expect(life.start == 0)
    }

    @Test func `a download that broke off goes on where it broke`() {
        var life = DownloadLife()
        _ = life.ask()
        _ = life.begin(.init(status: 200, tags: [Self.tag], length: 100))
        #expect(life.receive(40) == nil)
        #expect(life.isContinuable)
        #expect(life.ask() == .rest(from: 40, of: .tag(Self.tag)))
        #expect(life.begin(Self.rest()) == .append)
        #expect(life.start == 40)
        #expect(life.receive(60) == nil)
        #expect(life.finish() == nil)
    }

    @Test func `a server that answers with the whole begins the file anew, of its version`() {
        var life = Self.asked()
        let part = DownloadPart(validator: .tag(#""v2""#), total: 7)
        #expect(life.begin(.init(status: 200, tags: [#""v2""#], length: 7)) == .restart(part))
        #expect(life.receive(3) == nil)
        #expect(life.ask() == .rest(from: 3, of: .tag(#""v2""#)))
    }

    @Test(
        arguments: [
            (rest("bytes 39-99/100", length: 61), DownloadDoubt.wrongStart(39, asked: 40)),
            (rest("bytes 0-99/100", length: 100), .wrongStart(0, asked: 40)),
            (rest("bytes 41-99/100", length: 59), .wrongStart(41, asked: 40)),
            (rest("bytes 40-99/101"), .wrongTotal(101, known: 100)),
            (rest("bytes 40-100/*", length: 61), .wrongTotal(101, known: 100)),
            (rest("bytes 40-98/100"), .wrongLength(60, range: 59)),
            (rest("bytes 40-100/100"), .unknownRange("bytes 40-100/100")),
            (rest("nonsense"), .unknownRange("nonsense")),
            (rest("bytes */100"), .unknownRange("bytes */100")),
            (rest(nil), .unknownRange(nil)),
            (rest(tags: [#""v2""#]), .otherVersion),
            (rest(tags: [#"W/"v1""#]), .otherVersion),
            (rest(tags: []), .unknownVersion),
            (rest(type: #"Multipart/ByteRanges; boundary="x""#), .severalParts),
            (rest(isCoded: true), .coded),
        ]
    )
    func `a part that does not fit is asked for again, whole, and no part is asked for ever after`(
        answer: DownloadAnswer,
        doubt: DownloadDoubt
    ) {
        var life = Self.asked()
        #expect(life.begin(answer) == .again(doubt))
        #expect(life.ask() == .whole)
        #expect(life.begin(answer) == .fail(.unasked))
        #expect(life.ask() == .whole)
        _ = life.begin(.init(status: 200, tags: [Self.tag], length: 100))
        #expect(life.receive(50) == nil)
        #expect(!life.isContinuable)
        #expect(life.ask() == .whole)
    }

    @Test func `a part without the date of the one before it is not combined with it`() {
        let date = "Fri, 20 Nov 2026 10:00:00 GMT"
        let part = DownloadPart(length: 40, validator: .date(date), total: 100)
        var silent = Self.asked(part)
        #expect(silent.begin(Self.rest(tags: [])) == .again(.unknownVersion))
        var same = Self.asked(part)
        let answer = DownloadAnswer(status: 206, dates: [date], ranges: ["bytes 40-99/100"], length: 60)
        #expect(same.begin(answer) == .append)
    }

    @Test func `a part that does not say its length, or the whole's, is taken by what is known`() {
        var life = Self.asked()
        #expect(life.begin(Self.rest("bytes 40-99/*", length: nil)) == .append)
        var unknown = Self.asked(.init(length: 40, validator: .tag(Self.tag)))
        #expect(unknown.begin(Self.rest("bytes 40-99/*")) == .again(.unknownTotal))
        var learning = Self.asked(.init(length: 40, validator: .tag(Self.tag)))
        #expect(learning.begin(Self.rest()) == .append)
        #expect(learning.part.total == 100)
    }

    @Test func `a part that is shorter than the rest is added, and the next one asked for`() {
        var life = Self.asked()
        #expect(life.begin(Self.rest("bytes 40-69/100", length: 30)) == .append)
        #expect(life.receive(30) == nil)
        #expect(life.finish() == .tooLittle(70, of: 100))
        #expect(life.ask() == .rest(from: 70, of: .tag(Self.tag)))
    }

    @Test func `what has more or less bytes than it says is forgotten`() {
        var life = Self.asked()
        #expect(life.begin(Self.rest(length: nil)) == .append)
        #expect(life.receive(61) == .tooMuch(100))
        #expect(life.part == .init())
        #expect(life.ask() == .whole)
        var short = Self.asked()
        #expect(short.begin(Self.rest(length: nil)) == .append)
        #expect(short.receive(59) == nil)
        #expect(short.finish() == .tooLittle(99, of: 100))
        #expect(short.ask() == .whole)
    }

    @Test func `nothing left to send is the end if all is here`() {
        let full = DownloadPart(length: 100, validator: .tag(Self.tag), total: 100)
        var life = Self.asked(full)
        #expect(life.begin(.init(status: 416, ranges: ["bytes */100"], length: 19)) == .complete)
        #expect(life.start == 100)
        var confirmed = Self.asked(.init(length: 100, validator: .tag(Self.tag)))
        #expect(confirmed.begin(.init(status: 416, tags: [Self.tag], ranges: ["bytes */100"])) == .complete)
    }

    @Test(
        arguments: [
            (DownloadPart(length: 100, validator: .tag(tag), total: 100), ["bytes */90"], [], 90),
            (DownloadPart(length: 100, validator: .tag(tag), total: 100), [], [], nil),
            (DownloadPart(length: 100, validator: .tag(tag), total: 100), ["bytes */101"], [tag], 101),
            (DownloadPart(length: 100, validator: .tag(tag), total: 120), ["bytes */100"], [tag], 100),
            (DownloadPart(length: 100, validator: .tag(tag)), ["bytes */100"], [], 100),
        ] as [(DownloadPart, [String], [String], Int64?)]
    )
    func `nothing left to send of another length begins anew`(
        part: DownloadPart,
        ranges: [String],
        tags: [String],
        total: Int64?
    ) {
        var life = Self.asked(part)
        let answer = DownloadAnswer(status: 416, tags: tags, ranges: ranges)
        #expect(life.begin(answer) == .again(.unsatisfied(total: total, have: 100)))
        #expect(life.ask() == .whole)
        // The server did not lie, so a new version can be resumed.
        _ = life.begin(.init(status: 200, tags: [#""v2""#], length: 90))
        #expect(life.receive(10) == nil)
        #expect(life.ask() == .rest(from: 10, of: .tag(#""v2""#)))
    }

    @Test func `nothing left to send of another version begins anew`() {
        var life = Self.asked(.init(length: 100, validator: .tag(Self.tag), total: 100))
        #expect(life.begin(.init(status: 416, tags: [#""v2""#], ranges: ["bytes */100"])) == .again(.otherVersion))
    }

    @Test(arguments: [204, 301, 304, 401, 404, 412, 429, 500, 503, 416])
    func `other answers are no file, and what is here stays`(status: Int) {
        var life = DownloadLife(.init(length: 40, total: 100))
        #expect(life.ask() == .whole)
        #expect(life.begin(.init(status: status)) == .noFile)
        #expect(life.part.length == 40)
        guard status != 416 else { return }
        var continued = Self.asked()
        #expect(continued.begin(.init(status: status)) == .noFile)
        #expect(continued.ask() == .rest(from: 40, of: .tag(Self.tag)))
    }

    @Test(
        arguments: [
            DownloadPart(length: 40, total: 100), .init(length: 0, validator: .tag(tag), total: 100),
            .init(length: 101, validator: .tag(tag), total: 100), .init(),
        ]
    )
    func `without a strong validator, with nothing or with too much, the whole is asked for`(part: DownloadPart) {
        var life = DownloadLife(part)
        #expect(life.ask() == .whole)
        #expect(life.begin(Self.rest()) == .fail(.unasked))
    }

    @Test func `what comes compressed is never continued`() {
        var life = DownloadLife()
        _ = life.ask()
        #expect(life.begin(.init(status: 200, tags: [Self.tag], length: 50, isCoded: true)) == .restart(.init()))
        #expect(life.receive(70) == nil)
        #expect(!life.isContinuable)
        #expect(life.finish() == nil)
    }

    @Test func `what can't be taken back is continued or fails`() {
        let traits = DownloadLife.Traits(isRestartable: false)
        var life = Self.asked(Self.begun, traits)
        #expect(life.begin(.init(status: 200, tags: [Self.tag], length: 100)) == .fail(.startsAnew(have: 40)))
        var lied = Self.asked(Self.begun, traits)
        #expect(lied.begin(Self.rest(nil)) == .fail(.unknownRange(nil)))
        var continued = Self.asked(Self.begun, traits)
        #expect(continued.begin(Self.rest()) == .append)
        #expect(continued.receive(61) == .tooMuch(100))
        #expect(continued.ask() == .whole)
        #expect(continued.begin(.init(status: 200, length: 100)) == .fail(.startsAnew(have: 40)))
    }

    @Test func `what is no download takes any success, and no part that it did not ask for`() {
        var life = DownloadLife(.init(), .init(asksForParts: false, takesAnySuccess: true))
        #expect(life.ask() == .whole)
        let part = DownloadAnswer(status: 206, tags: [Self.tag], ranges: ["bytes 5-9/10"], length: 5)
        #expect(life.begin(part) == .restart(.init()))
        #expect(life.receive(5) == nil)
        #expect(life.finish() == nil)
        #expect(life.ask() == .whole)
        #expect(life.begin(.init(status: 201, length: 3)) == .restart(.init()))
        #expect(life.receive(2) == nil)
        #expect(life.finish() == .tooLittle(2, of: 3))
    }

    @Test(
        arguments: [
            (DownloadDoubt.wrongStart(3, asked: 4), "sent the file from byte 3 on, though byte 4 was asked for"),
            (.unknownRange("x"), "sent a part of the file that can't be placed (Content-Range: x)"),
            (.unknownVersion, "sent a part of the file and does not say of which version (no ETag or Last-Modified)"),
        ]
    )
    func `every doubt says what is wrong`(doubt: DownloadDoubt, text: String) { #expect("\(doubt)" == text) }
}
