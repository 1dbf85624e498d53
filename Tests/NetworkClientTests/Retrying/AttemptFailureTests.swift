import HTTPTypes
import NetworkClientCore
import RequestGate
import Testing

@testable import NetworkClient

struct AttemptFailureTests {
    static let transient: [HTTPError.Code] = [
        .nameTemporarilyUnresolvable, .nameLookupFailed, .networkUnreachable, .hostUnreachable, .prohibited,
        .blackholed, .addressNotAvailable, .interfaceNotFound, .tooManyDescriptors, .connectFailed, .connectionLost,
        .bodyTruncated, .pathLost, .pathNotValidated, .proxyConnectFailed,
    ]
    static let timeouts: [HTTPError.Code] = [
        .resolveTimedOut, .connectTimedOut, .tlsTimedOut, .firstByteTimedOut, .readTimedOut, .writeTimedOut,
    ]

    private static func kind(_ code: HTTPError.Code) -> AttemptFailure.Kind {
        if transient.contains(code) { return .transient }
        if timeouts.contains(code) { return .timeout }
        return code == .connectionRefused ? .refused : .permanent
    }

    private func failure(_ code: HTTPError.Code, isPathLost: Bool = false) -> AttemptFailure {
        .init(HTTPError(code, processing: .maybeProcessed, reason: "a reason"), isPathLost: isPathLost)
    }

    @Test(arguments: HTTPError.Code.allCases)
    func `each code has its kind`(code: HTTPError.Code) {
        #expect(failure(code) == AttemptFailure(Self.kind(code), .maybeProcessed))
    }

    @Test(arguments: HTTPError.Code.allCases)
    func `a lost path is waited for, except by permanent failures`(code: HTTPError.Code) {
        let waits = Self.kind(code) != .permanent || code == .nameNotFound
        #expect(failure(code, isPathLost: true).kind == (waits ? .pathLost : .permanent))
    }

    @Test func `an unacceptable status is classified by the status, with its Retry-After`() {
        var error = HTTPError(.unacceptableStatus, processing: .answered, reason: "a reason")
        error.response = HTTPResponse(status: 503, headerFields: [.retryAfter: "30"])
        #expect(AttemptFailure(error) == AttemptFailure(.status(503), .answered, retryAfter: .seconds(30)))
    }

    @Test func `a Retry-After date is relative to the response's Date`() {
        let head = HTTPResponse(
            status: 429,
            headerFields: [.retryAfter: "Sun, 06 Nov 1994 08:50:37 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT"]
        )
        #expect(AttemptFailure(head) == AttemptFailure(.status(429), .answered, retryAfter: .seconds(60)))
        let garbage = HTTPResponse(status: 429, headerFields: [.retryAfter: "soon"])
        #expect(AttemptFailure(garbage).retryAfter == nil)
    }

    @Test(arguments: [(421, Processing.refusedUnprocessed), (425, .refusedUnprocessed), (429, .answered)])
    func `two statuses mean that the request was not processed`(status: Int, processing: Processing) {
        #expect(AttemptFailure(HTTPResponse(status: .init(code: status))).processing == processing)
    }
}
