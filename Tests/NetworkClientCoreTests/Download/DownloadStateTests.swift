import Testing

@testable import NetworkClientCore

struct DownloadStateTests {
    private static let tag = #""v1""#
    private static let begun = DownloadPart(length: 40, validator: .tag(tag), total: 100)

    private static func rest(
        _ range: String? = "bytes 40-99/100",
        tags: [String] = [tag],
        length: Int64? = 60,
        type: String? = "text/plain",
        isEncoded: Bool = false
    ) -> DownloadResponseHead {
        .init(
            status: 206,
            tags: tags,
            ranges: range.map { [$0] } ?? [],
            length: length,
            type: type,
            isEncoded: isEncoded
        )
    }

    /// Returns a download that has requested the rest.
    private static func asked(_ part: DownloadPart = begun, _ traits: DownloadState.Traits = .init()) -> DownloadState {
        var state = DownloadState(part, traits)
        #expect(state.ask() != .whole)
        return state
    }

    @Test func `a download completes in one response`() {
        var state = DownloadState()
        #expect(state.ask() == .whole)
        let part = DownloadPart(validator: .tag(Self.tag), total: 100)
        #expect(state.begin(.init(status: 200, tags: [Self.tag], length: 100)) == .restart(part))
        #expect(state.receive(100) == nil)
        #expect(state.finish() == nil)
        #expect(state.start == 0)
    }

    @Test func `an interrupted download resumes where it stopped`() {
        var state = DownloadState()
        _ = state.ask()
        _ = state.begin(.init(status: 200, tags: [Self.tag], length: 100))
        #expect(state.receive(40) == nil)
        #expect(state.isContinuable)
        #expect(state.ask() == .rest(from: 40, of: .tag(Self.tag)))
        #expect(state.begin(Self.rest()) == .append)
        #expect(state.start == 40)
        #expect(state.receive(60) == nil)
        #expect(state.finish() == nil)
    }

    @Test func `a response with the whole file starts over with its version`() {
        var state = Self.asked()
        let part = DownloadPart(validator: .tag(#""v2""#), total: 7)
        #expect(state.begin(.init(status: 200, tags: [#""v2""#], length: 7)) == .restart(part))
        #expect(state.receive(3) == nil)
        #expect(state.ask() == .rest(from: 3, of: .tag(#""v2""#)))
    }

    @Test(
        arguments: [
            (rest("bytes 39-99/100", length: 61), DownloadMismatch.wrongStart(39, asked: 40)),
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
            (rest(type: #"Multipart/ByteRanges; boundary="x""#), .multipleParts),
            (rest(isEncoded: true), .encoded),
        ]
    )
    func `after a mismatched part, the whole file and never a part is requested`(
        response: DownloadResponseHead,
        mismatch: DownloadMismatch
    ) {
        var state = Self.asked()
        #expect(state.begin(response) == .again(mismatch))
        #expect(state.ask() == .whole)
        #expect(state.begin(response) == .fail(.unrequestedPart))
        #expect(state.ask() == .whole)
        _ = state.begin(.init(status: 200, tags: [Self.tag], length: 100))
        #expect(state.receive(50) == nil)
        #expect(!state.isContinuable)
        #expect(state.ask() == .whole)
    }

    @Test func `a part without the date of the previous one is not combined with it`() {
        let date = "Fri, 20 Nov 2026 10:00:00 GMT"
        let part = DownloadPart(length: 40, validator: .date(date), total: 100)
        var silent = Self.asked(part)
        #expect(silent.begin(Self.rest(tags: [])) == .again(.unknownVersion))
        var same = Self.asked(part)
        let response = DownloadResponseHead(status: 206, dates: [date], ranges: ["bytes 40-99/100"], length: 60)
        #expect(same.begin(response) == .append)
    }

    @Test func `a part without a length or total is accepted if they are known`() {
        var state = Self.asked()
        #expect(state.begin(Self.rest("bytes 40-99/*", length: nil)) == .append)
        var unknown = Self.asked(.init(length: 40, validator: .tag(Self.tag)))
        #expect(unknown.begin(Self.rest("bytes 40-99/*")) == .again(.unknownTotal))
        var learning = Self.asked(.init(length: 40, validator: .tag(Self.tag)))
        #expect(learning.begin(Self.rest()) == .append)
        #expect(learning.part.total == 100)
    }

    @Test func `a part shorter than the rest is appended, and the next one is requested`() {
        var state = Self.asked()
        #expect(state.begin(Self.rest("bytes 40-69/100", length: 30)) == .append)
        #expect(state.receive(30) == nil)
        #expect(state.finish() == .tooShort(70, of: 100))
        #expect(state.ask() == .rest(from: 70, of: .tag(Self.tag)))
    }

    @Test func `a response with more or fewer bytes than announced is discarded`() {
        var state = Self.asked()
        #expect(state.begin(Self.rest(length: nil)) == .append)
        #expect(state.receive(61) == .tooLong(100))
        #expect(state.part == .init())
        #expect(state.ask() == .whole)
        var short = Self.asked()
        #expect(short.begin(Self.rest(length: nil)) == .append)
        #expect(short.receive(59) == nil)
        #expect(short.finish() == .tooShort(99, of: 100))
        #expect(short.ask() == .whole)
    }

    @Test func `status 416 completes a file that is complete`() {
        let full = DownloadPart(length: 100, validator: .tag(Self.tag), total: 100)
        var state = Self.asked(full)
        #expect(state.begin(.init(status: 416, ranges: ["bytes */100"], length: 19)) == .complete)
        #expect(state.start == 100)
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
    func `status 416 with another length starts over`(
        part: DownloadPart,
        ranges: [String],
        tags: [String],
        total: Int64?
    ) {
        var state = Self.asked(part)
        let response = DownloadResponseHead(status: 416, tags: tags, ranges: ranges)
        #expect(state.begin(response) == .again(.unsatisfied(total: total, have: 100)))
        #expect(state.ask() == .whole)
        // The server did not lie, so a new version can be resumed.
        _ = state.begin(.init(status: 200, tags: [#""v2""#], length: 90))
        #expect(state.receive(10) == nil)
        #expect(state.ask() == .rest(from: 10, of: .tag(#""v2""#)))
    }

    @Test func `status 416 for another version starts over`() {
        var state = Self.asked(.init(length: 100, validator: .tag(Self.tag), total: 100))
        #expect(state.begin(.init(status: 416, tags: [#""v2""#], ranges: ["bytes */100"])) == .again(.otherVersion))
    }

    @Test(arguments: [204, 301, 304, 401, 404, 412, 429, 500, 503, 416])
    func `other responses are not the file and keep the present bytes`(status: Int) {
        var state = DownloadState(.init(length: 40, total: 100))
        #expect(state.ask() == .whole)
        #expect(state.begin(.init(status: status)) == .noFile)
        #expect(state.part.length == 40)
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
    func `the whole file is requested without a strong validator or a valid length`(part: DownloadPart) {
        var state = DownloadState(part)
        #expect(state.ask() == .whole)
        #expect(state.begin(Self.rest()) == .fail(.unrequestedPart))
    }

    @Test func `a compressed body is never resumed`() {
        var state = DownloadState()
        _ = state.ask()
        #expect(state.begin(.init(status: 200, tags: [Self.tag], length: 50, isEncoded: true)) == .restart(.init()))
        #expect(state.receive(70) == nil)
        #expect(!state.isContinuable)
        #expect(state.finish() == nil)
    }

    @Test func `bytes that can't be discarded are continued, or the download fails`() {
        let traits = DownloadState.Traits(isRestartable: false)
        var state = Self.asked(Self.begun, traits)
        #expect(state.begin(.init(status: 200, tags: [Self.tag], length: 100)) == .fail(.startsOver(have: 40)))
        var lied = Self.asked(Self.begun, traits)
        #expect(lied.begin(Self.rest(nil)) == .fail(.unknownRange(nil)))
        var continued = Self.asked(Self.begun, traits)
        #expect(continued.begin(Self.rest()) == .append)
        #expect(continued.receive(61) == .tooLong(100))
        #expect(continued.ask() == .whole)
        #expect(continued.begin(.init(status: 200, length: 100)) == .fail(.startsOver(have: 40)))
    }

    @Test func `other requests accept any success and never treat a 206 as a part`() {
        var state = DownloadState(.init(), .init(asksForParts: false, takesAnySuccess: true))
        #expect(state.ask() == .whole)
        let part = DownloadResponseHead(status: 206, tags: [Self.tag], ranges: ["bytes 5-9/10"], length: 5)
        #expect(state.begin(part) == .restart(.init()))
        #expect(state.receive(5) == nil)
        #expect(state.finish() == nil)
        #expect(state.ask() == .whole)
        #expect(state.begin(.init(status: 201, length: 3)) == .restart(.init()))
        #expect(state.receive(2) == nil)
        #expect(state.finish() == .tooShort(2, of: 3))
    }

    @Test(
        arguments: [
            (DownloadMismatch.wrongStart(3, asked: 4), "sent the file from byte 3 although byte 4 was requested"),
            (.unknownRange("x"), "sent a part of the file with an invalid range (Content-Range: x)"),
            (.unknownVersion, "sent a part of the file without its version (no ETag or Last-Modified)"),
        ]
    )
    func `every mismatch has a description`(mismatch: DownloadMismatch, text: String) { #expect("\(mismatch)" == text) }
}
