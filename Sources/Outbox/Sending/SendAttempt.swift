import HTTPTypes
import NIOCore
import NetworkClient
import OutboxCore

/// One request for a parcel.
///
/// An object, since several tasks and closures share it, and a parcel and its lane have many parts to copy.
final class SendAttempt: Sendable {
    /// The result of the request.
    struct Result: Sendable {
        var attempt: AttemptResult
        var response: StoredResponse?
        var reason: String
    }

    /// The end of an attempt.
    enum Ending: Sendable {
        /// The request has ended; ``SendAttempt/result(of:)-(Ending)`` makes a result of it.
        case request(Swift.Result<DataResponse, HTTPError>)
        /// There was no request, or that of a download; nil if nothing was sent because the item was withdrawn.
        case result(Result?)
    }

    /// The work of an attempt that was started.
    enum Work: Sendable {
        case request(DataRequest)
        case task(Task<Void, Never>)

        func cancel() {
            switch self {
            case .request(let request): request.cancel()
            case .task(let task): task.cancel()
            }
        }
    }

    let parcel: Parcel
    let lane: StoredLane
    let withdrawal = Withdrawal()
    fileprivate let transactions: SendingTransactions
    fileprivate let cost: PathCost
    private let session: HTTPSession
    private let credentials: CredentialLookup?

    init(
        _ parcel: Parcel,
        of lane: StoredLane,
        _ transactions: SendingTransactions,
        _ session: HTTPSession,
        _ credentials: CredentialLookup?,
        _ cost: PathCost
    ) {
        (self.parcel, self.lane, self.transactions) = (parcel, lane, transactions)
        (self.session, self.credentials, self.cost) = (session, credentials, cost)
    }

    /// Starts the request, after the lookup of its credential and the check of its file.
    ///
    /// - Parameter completion: Called once on any thread when the attempt has ended.
    /// - Returns: The work, which can be cancelled.
    func start(_ completion: @escaping @Sendable (Ending) -> Void) -> Work {
        // A task would cost more than the rest.
        if item.credential == nil, let body = bodyInMemory {
            let request = self.request(body, nil)
            request.whenEnded { completion(.request($0)) }
            return .request(request)
        }
        return .task(Task { completion(await run()) })
    }

    private func run() async -> Ending {
        let credential: OutboxCredential?
        do {
            credential = try await self.credential()
        } catch {
            if withdrawal.isWithdrawn { return .result(nil) }
            let reason = "the credential '\(item.credential ?? "")' can't be had: \(error)"
            return .result(.init(attempt: .failure(.destination, mayBeProcessed: false), reason: reason))
        }
        if case .download(let target) = item.body { return .result(await download(target, credential)) }
        let body: RequestBody?
        do {
            body = try await CancellableWait.value { try await self.body() }
        } catch {
            if withdrawal.isWithdrawn { return .result(nil) }
            return .result(.init(attempt: .failure(.destination, mayBeProcessed: false), reason: "\(error)"))
        }
        if withdrawal.isWithdrawn { return .result(nil) }
        guard let body else {
            let reason = "the body's file is missing, or its contents have changed since the item was added"
            return .result(.init(attempt: .failure(.item, mayBeProcessed: false), reason: reason))
        }
        return .request(await request(body, credential).ending())
    }

    private func request(_ body: RequestBody, _ credential: OutboxCredential?) -> DataRequest {
        var (fields, options) = (fields, options(credential))
        if let key = parcel.key { add(key, &fields, &options) }
        let method = HTTPRequest.Method(rawValue: item.method) ?? .post
        return session.request(method, url, headers: fields, body: body, options: options)
    }

    private func download(_ target: DownloadTarget, _ credential: OutboxCredential?) async -> Result? {
        let attempt = DownloadAttempt(
            item: item,
            target: target,
            lane: lane,
            transactions: transactions,
            session: session,
            withdrawal: withdrawal,
            cost: cost
        )
        return await attempt.run(url, fields, options(credential))
    }

    private var url: String { Destination.url(lane.destination, item.reference) }

    private var fields: HTTPFields {
        var fields = HTTPFields()
        for (name, value) in item.fields.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }

    private func options(_ credential: OutboxCredential?) -> RequestOptions {
        let requirement = cost.requirement(of: lane.options)
        var options = RequestOptions(
            gate: .waitsForConnectivity(nil),
            requirement: requirement,
            interceptors: [AttemptMark(attempt: self, credential: credential, requirement: requirement)]
        )
        if case .user(let credential) = credential { options.credential = credential }
        return options
    }

    /// Returns the result of an attempt that has ended.
    ///
    /// - Returns: The result; nil if nothing was sent because the user cancelled or held an item, or paused the lane, or
    ///   because the sender was stopped.
    func result(of ending: Ending) -> Result? {
        switch ending {
        case .result(let result): result
        case .request(.success(let response)): result(of: response)
        case .request(.failure(let error)): result(of: error)
        }
    }

    private func result(of response: DataResponse) -> Result {
        let received = ReceivedResponse(
            status: response.status,
            fields: response.fields,
            url: response.url,
            body: Array(response.buffer.readableBytesView.prefix(Spool.largestInlineBody)),
            mayBeFromPortal: response.mayBeFromPortal
        )
        return .init(received, lane.options.confirmation)
    }

    private func result(of error: HTTPError) -> Result? {
        guard error.cause is SendingTransactions.NothingToSend || error.code == .cancelled && withdrawal.isWithdrawn
        else { return .init(attempt: .init(error), reason: "\(error)") }
        return withdrawal.mayBeProcessed.map {
            .init(attempt: .failure(.interrupted, mayBeProcessed: $0), reason: "\(error)")
        }
    }

    /// The first item; those of a batch have the same method, reference, fields and credential.
    private var item: StoredItem { _read { yield parcel.items[0] } }

    /// Sets the field of the key; by the standard's name the client treats the request as idempotent.
    private func add(_ key: String, _ fields: inout HTTPFields, _ options: inout RequestOptions) {
        let style: KeyStyle = lane.options.quotesKey ? .quoted : .bare
        let value = style.fieldValue(key)
        if lane.options.keyField.lowercased() == "idempotency-key" {
            options.idempotencyKey = .custom(value)
        } else if let name = HTTPField.Name(lane.options.keyField) {
            fields[name] = value
        }
    }

    private func credential() async throws -> OutboxCredential? {
        guard let name = item.credential else { return nil }
        guard let credentials else {
            throw OutboxError(.notFound, reason: "the outbox was opened without a source of credentials")
        }
        return try await CancellableWait.value { try await credentials(name) }
    }

    /// The body, if it is in memory; nil for a file.
    private var bodyInMemory: RequestBody? {
        if parcel.batch != nil { return .bytes(parcel.lines, contentType: "application/x-ndjson") }
        return switch item.body {
        case .none: RequestBody.none
        case .bytes(let bytes): .bytes(bytes, contentType: item.contentType)
        case .spooled, .referenced, .download: nil
        }
    }

    /// Returns the body; nil if it is lost.
    ///
    /// - Throws: ``OutboxError`` if that is not known, for lack of descriptors or memory.
    private func body() async throws -> RequestBody? {
        switch item.body {
        case .none, .bytes, .download: return bodyInMemory
        case .spooled(let name, let check):
            let path = transactions.storage.spool.path(name)
            // Read once more: what has changed on disk since must not be sent.
            let holds = try await BlockingWork.run { try check?.matches(fileAt: path) ?? true }
            return holds ? .file(path, contentType: item.contentType) : nil
        case .referenced(let path, let check):
            let holds = try await BlockingWork.run { try check.holds(forFileAt: path) }
            return holds ? .file(path, contentType: item.contentType) : nil
        }
    }
}

extension SendAttempt.Result {
    init(_ response: ReceivedResponse, _ confirmation: ResponseConfirmation) {
        attempt = .init(response, confirmation)
        self.response = .init(
            status: response.status,
            fields: TextTable.encoded(response.fields),
            body: response.body
        )
        switch attempt.verdict {
        case .delivered: reason = ""
        case .destinationFailed where !attempt.isConfirmed:
            reason = "the response with status \(response.status) is not confirmed: a captive portal may have sent it"
        default: reason = "the server responded with status \(response.status)"
        }
    }
}

extension AttemptResult {
    /// Whether the response is the destination's own.
    fileprivate var isConfirmed: Bool { if case .response(_, _, false) = self { false } else { true } }
}

/// Stores that an item is being sent, after the gate and the scheduler, and before its first byte.
private struct AttemptMark: AttemptHook {
    let attempt: SendAttempt
    let credential: OutboxCredential?
    let requirement: PathRequirement

    func prepare(
        _: RequestAttempt,
        isSameOrigin: Bool,
        _ completion: @escaping @Sendable (Result<HTTPFields, any Error>) -> Void
    ) {
        let (options, withdrawal, cost) = (attempt.lane.options, attempt.withdrawal, attempt.cost)
        guard withdrawal.begin() else { return completion(.failure(SendingTransactions.NothingToSend())) }
        // A path that costs nothing has come: the attempt is started again, and stays on it.
        guard requirement == cost.requirement(of: options) || requirement == .notExpensive else {
            return completion(.failure(SendingTransactions.NothingToSend()))
        }
        attempt.transactions.mark(
            attempt.parcel,
            attempt.lane,
            mayBeProcessed: withdrawal.mayBeProcessed == true,
            isExpensive: options.bytesPerDay != nil && requirement != .notExpensive && cost.isExpensive(for: options)
        ) { [self] result in
            completion(
                result.map { time in
                    withdrawal.firstSent = time
                    return isSameOrigin ? authorization : [:]
                }
            )
        }
    }

    /// The field with the bearer token, which is not sent to another origin after a redirect.
    private var authorization: HTTPFields {
        guard case .bearer(let token) = credential else { return [:] }
        return [.authorization: "Bearer \(token)"]
    }

    func retry(_ attempt: FailedAttempt) async -> RetryDecision? {
        if case .giveUp = attempt.decision { return nil }
        // The lane waits instead, and its pause is stored.
        let isLong = if case .retry(let delay, _) = attempt.decision { delay > LanePause.minimum } else { false }
        let isOfServer = attempt.error.response.map { self.isOfServer($0) } ?? true
        guard !isLong, isOfServer, suspend(mayBeProcessed: mayBeProcessed(attempt.error)) else {
            return .giveUp(because: .interceptor)
        }
        return nil
    }

    func mayGoOn() -> Bool { suspend(mayBeProcessed: false) }

    func isOfServer(_ head: HTTPResponse) -> Bool {
        guard case .field(let text) = attempt.lane.options.confirmation, let name = HTTPField.Name(text) else {
            return true
        }
        return head.headerFields.contains(name)
    }

    /// Notes that an attempt has failed, and that its items wait until it is repeated.
    ///
    /// - Returns: Whether it may be repeated.
    private func suspend(mayBeProcessed: Bool) -> Bool {
        guard attempt.withdrawal.suspend(mayBeProcessed: mayBeProcessed) else { return false }
        // The next attempt's mark is stored after this.
        attempt.transactions.unmark(attempt.parcel, wasSent: attempt.withdrawal.mayBeProcessed == true)
        return true
    }

    /// Returns whether the server may have processed a failed attempt; a status such as 429 says that it has not.
    private func mayBeProcessed(_ error: HTTPError) -> Bool {
        if error.code == .unacceptableStatus, let status = error.response?.status.code {
            return AttemptResult.mayBeProcessed(status)
        }
        return error.processing == .maybeProcessed || error.processing == .answered
    }
}
