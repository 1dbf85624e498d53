import RequestGate
import Testing

/// The tables of the requirement `validated`, with one case per row.
@Suite struct ValidationTableTests {
    /// A row of the first table: what a request waits for.
    struct GateRow: Sendable, CustomTestStringConvertible {
        let requirement: ValidationRequirement
        let status: PathValidationStatus
        let obstacle: GateObstacle?

        var testDescription: String { "\(requirement), \(status)" }
    }

    static let gateRows =
        PathValidationStatus.allCases.map { GateRow(requirement: .any, status: $0, obstacle: nil) } + [
            .init(requirement: .validated, status: .validated, obstacle: nil),
            .init(requirement: .validated, status: .portal, obstacle: .portal),
            .init(requirement: .validated, status: .noInternet, obstacle: .internet),
            .init(requirement: .validated, status: .notChecked, obstacle: .validation),
            .init(requirement: .validated, status: .inconclusive, obstacle: nil),
        ]

    @Test(arguments: gateRows)
    func `a request waits for what its path lacks`(row: GateRow) {
        #expect(ValidationTable.obstacle(row.requirement, row.status) == row.obstacle)
    }

    /// A row of the second table: the decision on a response that is not proven, before and after the path was checked.
    struct ResponseRow: Sendable, CustomTestStringConvertible {
        let requirement: ValidationRequirement
        let status: PathValidationStatus
        let isRepeatable: Bool
        let verdict: ResponseVerdict
        let afterCheck: ResponseVerdict

        init(
            _ requirement: ValidationRequirement,
            _ status: PathValidationStatus,
            isRepeatable: Bool,
            _ verdict: ResponseVerdict,
            afterCheck: ResponseVerdict
        ) {
            (self.requirement, self.status, self.isRepeatable) = (requirement, status, isRepeatable)
            (self.verdict, self.afterCheck) = (verdict, afterCheck)
        }

        var testDescription: String { "\(requirement), \(status), repeatable: \(isRepeatable)" }
    }

    static let responseRows = [true, false].flatMap { isRepeatable -> [ResponseRow] in
        let check = ResponseVerdict.check(isRepeatable ? .discard : .withhold)
        return [
            .init(.any, .validated, isRepeatable: isRepeatable, .accept, afterCheck: .accept),
            .init(.any, .inconclusive, isRepeatable: isRepeatable, .accept, afterCheck: .accept),
            .init(.any, .portal, isRepeatable: isRepeatable, .keepApart, afterCheck: .keepApart),
            .init(.any, .noInternet, isRepeatable: isRepeatable, .keepApart, afterCheck: .keepApart),
            .init(.any, .notChecked, isRepeatable: isRepeatable, .check(.deliver), afterCheck: .keepApart),
            .init(.validated, .validated, isRepeatable: isRepeatable, .accept, afterCheck: .accept),
            .init(.validated, .inconclusive, isRepeatable: isRepeatable, .accept, afterCheck: .accept),
            .init(.validated, .portal, isRepeatable: isRepeatable, check, afterCheck: .refuse),
            .init(.validated, .noInternet, isRepeatable: isRepeatable, check, afterCheck: .refuse),
            .init(.validated, .notChecked, isRepeatable: isRepeatable, check, afterCheck: .refuse),
        ]
    }

    @Test(arguments: responseRows)
    func `a response that is not proven is the server's only on a path that passes`(row: ResponseRow) {
        let response = ValidatedResponse(
            row.requirement,
            row.status,
            isProven: false,
            isRepeatable: row.isRepeatable
        )
        #expect(ValidationTable.verdict(on: response) == row.verdict)
        #expect(ValidationTable.verdictAfterCheck(on: response) == row.afterCheck)
    }

    @Test func `a response that is proven is always the server's`() {
        for requirement in ValidationRequirement.allCases {
            for status in PathValidationStatus.allCases {
                for isRepeatable in [true, false] {
                    let response = ValidatedResponse(requirement, status, isProven: true, isRepeatable: isRepeatable)
                    #expect(ValidationTable.verdict(on: response) == .accept)
                    #expect(ValidationTable.verdictAfterCheck(on: response) == .accept)
                }
            }
        }
    }

    @Test func `a request that may not be sent would not get its response returned either`() {
        for status in PathValidationStatus.allCases {
            let isSent = ValidationTable.obstacle(.validated, status) == nil
            let response = ValidatedResponse(.validated, status, isProven: false, isRepeatable: true)
            #expect((ValidationTable.verdictAfterCheck(on: response) == .accept) == isSent)
        }
    }
}
