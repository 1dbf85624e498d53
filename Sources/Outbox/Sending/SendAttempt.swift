import HTTPTypes
import NIOCore
import NetworkClient
import OutboxCore

/// One request for a parcel.
struct SendAttempt: Sendable {
    /// The result of the request.
    struct Result: Sendable {
        var attempt: AttemptResult
        var response: OutboxOutcome.Response?
        var reason: String
    }

    let parcel: Parcel
    let lane: StoredLane
    let storage: BoxStorage
    let session: HTTPSession
    let credentials: CredentialLookup?
    let withdrawal: Withdrawal
    let cost: PathCost

    /// Sends the request.
    ///
    /// - Returns: The result; nil if nothing was sent because the user cancelled or held an item, or paused the lane, or
    ///   because the sender was stopped.
    func run() async -> Result? {
        let credential: OutboxCredential?
        do {
            credential = try await self.credential()
        } catch {
            let reason = "the credential '\(item.credential ?? "")' can't be had: \(error)"
            return .init(attempt: .failure(.destination, mayBeProcessed: false), reason: reason)
        }
        guard let body = await self.body() else {
            let reason = "the body's file is missing, or its contents have changed since the item was added"
            return .init(attempt: .failure(.item, mayBeProcessed: false), reason: reason)
        }
        return await send(body, credential)
    }

    private func send(_ body: RequestBody, _ credential: OutboxCredential?) async -> Result? {
        let url = Destination.url(lane.destination, item.reference)
        var fields = HTTPFields()
        for (name, value) in item.fields.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let requirement = cost.requirement(of: lane.options)
        let mark = AttemptMark(
            transactions: .init(storage: storage),
            parcel: parcel,
            lane: lane,
            credential: credential,
            withdrawal: withdrawal,
            cost: cost,
            requirement: requirement
        )
        var options = RequestOptions(
            gate: .waitsForConnectivity(nil),
            requirement: requirement,
            interceptors: [mark]
        )
        if case .user(let credential) = credential { options.credential = credential }
        if case .download(let target) = item.body {
            let attempt = DownloadAttempt(
                item: item,
                target: target,
                lane: lane,
                transactions: mark.transactions,
                session: session,
                withdrawal: withdrawal,
                cost: cost
            )
            return await attempt.run(url, fields, options)
        }
        if let key = parcel.key { add(key, &fields, &options) }
        let method = HTTPRequest.Method(rawValue: item.method) ?? .post
        let request = session.request(method, url, headers: fields, body: body, options: options)
        do throws(HTTPError) {
            let response = try await request.response()
            let received = ReceivedResponse(
                status: response.status,
                fields: response.head.headerFields,
                url: response.url,
                body: Array(response.buffer.readableBytesView.prefix(Spool.largestInlineBody)),
                mayBeFromPortal: response.mayBeFromPortal
            )
            return .init(received, lane.options.confirmation)
        } catch {
            guard error.cause is SendingTransactions.NothingToSend || error.code == .cancelled && withdrawal.isWithdrawn
            else { return .init(attempt: .init(error), reason: "\(error)") }
            return withdrawal.mayBeProcessed.map {
                .init(attempt: .failure(.interrupted, mayBeProcessed: $0), reason: "\(error)")
            }
        }
    }

    /// The first item; those of a batch have the same method, reference, fields and credential.
    private var item: StoredItem { parcel.items[0] }

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
        return try await credentials(name)
    }

    /// The body; nil if it is lost.
    private func body() async -> RequestBody? {
        if parcel.batch != nil { return .bytes(parcel.lines, contentType: "application/x-ndjson") }
        switch item.body {
        case .none, .download: return RequestBody.none
        case .bytes(let bytes): return .bytes(bytes, contentType: item.contentType)
        case .spooled(let name, let check):
            let path = storage.spool.path(name)
            // Read once more: what has changed on disk since must not be sent.
            let holds = try? await BlockingWork.run { check?.matches(fileAt: path) ?? true }
            return holds == true ? .file(path, contentType: item.contentType) : nil
        case .referenced(let path, let check):
            let holds = try? await BlockingWork.run { check.holds(forFileAt: path) }
            return holds == true ? .file(path, contentType: item.contentType) : nil
        }
    }
}

extension SendAttempt.Result {
    init(_ response: ReceivedResponse, _ confirmation: ResponseConfirmation) {
        attempt = .init(response, confirmation)
        let table = response.fields.map { ($0.name.rawName, $0.value) }
        self.response = .init(
            status: response.status,
            fields: .init(table, uniquingKeysWith: { "\($0), \($1)" }),
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
private struct AttemptMark: RequestInterceptor {
    let transactions: SendingTransactions
    let parcel: Parcel
    let lane: StoredLane
    let credential: OutboxCredential?
    let withdrawal: Withdrawal
    let cost: PathCost
    let requirement: PathRequirement

    func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
        guard withdrawal.begin() else { throw SendingTransactions.NothingToSend() }
        // A path that costs nothing has come: the attempt is started again, and stays on it.
        guard requirement == cost.requirement(of: lane.options) || requirement == .notExpensive else {
            throw SendingTransactions.NothingToSend()
        }
        let isCounted = lane.options.bytesPerDay != nil && requirement != .notExpensive && cost.isExpensive
        let mayBeProcessed = withdrawal.mayBeProcessed == true
        withdrawal.firstSent = try await transactions.mark(
            parcel,
            lane,
            mayBeProcessed: mayBeProcessed,
            isExpensive: isCounted
        )
        guard case .bearer(let token) = credential, hasSameOrigin(request, attempt.request.head) else { return request }
        var request = request
        request.headerFields[.authorization] = "Bearer \(token)"
        return request
    }

    func retry(_ attempt: FailedAttempt) async -> RetryDecision? {
        if case .giveUp = attempt.decision { return nil }
        return withdrawal.suspend(mayBeProcessed: mayBeProcessed(attempt.error)) ? nil : .giveUp(because: .interceptor)
    }

    /// Returns whether the server may have processed a failed attempt; a status such as 429 says that it has not.
    private func mayBeProcessed(_ error: HTTPError) -> Bool {
        if error.code == .unacceptableStatus, let status = error.response?.status.code {
            return AttemptResult.mayBeProcessed(status)
        }
        return error.processing == .maybeProcessed || error.processing == .answered
    }

    /// After a redirect to another origin, the token stays here.
    private func hasSameOrigin(_ request: HTTPRequest, _ first: HTTPRequest) -> Bool {
        request.scheme == first.scheme && request.authority == first.authority
    }
}
