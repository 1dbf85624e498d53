import NetworkClientCore
import NetworkLab
import RequestGate
import Testing

/// One row for each cell of the table of ``RetryPolicy/decide(_:_:attempts:using:)``.
struct RetryTableTests {
    /// The part of a decision that the table defines; the delay has its own tests.
    enum Outcome: Hashable, Sendable {
        case again(RetryReason)
        case waits
        case gaveUp(GiveUpReason)

        init(_ decision: RetryDecision) {
            self =
                switch decision {
                case .retry(_, let reason): .again(reason)
                case .waitForPath: .waits
                case .giveUp(let reason): .gaveUp(reason)
                }
        }
    }

    /// The decisions for an idempotent request, for another one, and for an idempotent one whose body can't be sent
    /// again.
    struct Row: Sendable, CustomTestStringConvertible {
        let kind: AttemptFailure.Kind
        let processing: Processing
        let idempotent: Outcome
        let other: Outcome
        let oneShot: Outcome

        var testDescription: String { "\(kind), \(processing)" }
    }

    private static func row(
        _ kind: AttemptFailure.Kind,
        _ processing: Processing,
        _ idempotent: Outcome,
        _ other: Outcome,
        _ oneShot: Outcome
    ) -> Row { .init(kind: kind, processing: processing, idempotent: idempotent, other: other, oneShot: oneShot) }

    static let passing: [AttemptFailure.Kind] = [.transient, .timeout, .refused]

    static let failures: [Row] = passing.flatMap { kind in
        [
            row(kind, .neverSent, .again(.neverSent), .again(.neverSent), .again(.neverSent)),
            row(
                kind,
                .refusedUnprocessed,
                .again(.refusedUnprocessed),
                .again(.refusedUnprocessed),
                .gaveUp(.notReplayable)
            ),
            row(kind, .maybeProcessed, .again(.idempotent), .gaveUp(.notIdempotent), .gaveUp(.notReplayable)),
            row(kind, .answered, .again(.idempotent), .gaveUp(.notIdempotent), .gaveUp(.notReplayable)),
        ]
    }

    static let losses: [Row] = [
        row(.pathLost, .neverSent, .waits, .waits, .waits),
        row(.pathLost, .refusedUnprocessed, .waits, .waits, .gaveUp(.notReplayable)),
        row(.pathLost, .maybeProcessed, .waits, .gaveUp(.notIdempotent), .gaveUp(.notReplayable)),
        row(.pathLost, .answered, .waits, .gaveUp(.notIdempotent), .gaveUp(.notReplayable)),
    ]

    static let ends: [Row] = Processing.allCases.map { processing in
        row(.permanent, processing, .gaveUp(.permanent), .gaveUp(.permanent), .gaveUp(.permanent))
    }

    static let statuses: [Row] =
        [408, 500, 502, 503, 504].flatMap { status in
            [Processing.answered, .maybeProcessed].map { processing in
                row(
                    .status(status),
                    processing,
                    .again(.status),
                    .gaveUp(.notIdempotent),
                    .gaveUp(.notReplayable)
                )
            }
        }
        + [(421, Processing.refusedUnprocessed), (425, .refusedUnprocessed), (429, .answered)].map {
            row(.status($0), $1, .again(.status), .again(.status), .gaveUp(.notReplayable))
        }
        // An earlier attempt may have been processed, whatever the server did with this one.
        + [421, 425, 429].map {
            row(.status($0), .maybeProcessed, .again(.status), .gaveUp(.notIdempotent), .gaveUp(.notReplayable))
        }
        + [301, 400, 401, 403, 404, 409, 410, 501, 505, 511, 0, -1].map {
            row(.status($0), .answered, .gaveUp(.status), .gaveUp(.status), .gaveUp(.status))
        }

    static let rows = failures + losses + ends + statuses

    private func outcome(
        _ row: Row,
        isIdempotent: Bool,
        isReplayable: Bool = true,
        attempts: Int = 1,
        policy: RetryPolicy = .standard
    ) -> Outcome {
        var generator = SeededGenerator(seed: 1)
        let traits = RequestTraits(isIdempotent: isIdempotent, isReplayable: isReplayable)
        let failure = AttemptFailure(row.kind, row.processing)
        return .init(policy.decide(failure, traits, attempts: attempts, using: &generator))
    }

    @Test(arguments: rows)
    func `each row decides whether a request is retried`(row: Row) {
        #expect(outcome(row, isIdempotent: true) == row.idempotent)
        #expect(outcome(row, isIdempotent: false) == row.other)
        #expect(outcome(row, isIdempotent: true, isReplayable: false) == row.oneShot)
    }

    @Test(arguments: rows)
    func `after the last attempt nothing is retried, and waiting for a path is no attempt`(row: Row) {
        let expected = if case .again = row.idempotent { Outcome.gaveUp(.attempts) } else { row.idempotent }
        #expect(outcome(row, isIdempotent: true, attempts: 2) == row.idempotent)
        #expect(outcome(row, isIdempotent: true, attempts: 3) == expected)
        #expect(outcome(row, isIdempotent: true, attempts: .max) == expected)
    }

    @Test(arguments: rows)
    func `without a policy no sent request is retried, and an unsent one may wait for its path`(row: Row) {
        let isUnsent = row.kind == .pathLost && row.processing == .neverSent
        let expected = isUnsent ? .waits : Outcome.gaveUp(row.kind == .permanent ? .permanent : .noPolicy)
        #expect(outcome(row, isIdempotent: true, policy: .never) == expected)
        #expect(outcome(row, isIdempotent: true, policy: RetryPolicy(maximumAttempts: -1)) == expected)
    }
}
