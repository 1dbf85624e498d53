import NIOCore
import NIOHTTP1

extension SessionCore {
    /// Gives a request to the user's transport.
    func carry(_ handle: RequestHandle, by transport: any Transport) {
        guard handle.run.life.assigned(isReused: false) else { return }
        handle.run.metrics.assigned = .now()
        let attempt = handle.run.life.attempts
        handle.run.metrics.attempts = attempt
        if isObserved(handle) { tell(.attempt(attempt, isReused: false, connection: .init()), handle) }
        let request = willCarry(handle)
        if request.source != nil { handle.extras.wasBodyRead = true }
        let task = Task { [self] in
            let result: Result<TransportResponse, any Error>
            do {
                let body = try await wholeBody(of: request)
                let whole = TransportRequest(head: request.publicHead, body: body, timeouts: request.limits)
                result = .success(try await transport.send(whole))
            } catch {
                result = .failure(error)
            }
            loop.execute { self.carried(handle, result) }
        }
        handle.run.place = .elsewhere(task)
        limit(handle)
    }

    /// The request as this attempt sends it.
    private func willCarry(_ handle: RequestHandle) -> PreparedRequest {
        var request = handle.current.copy
        handle.run.extras?.receiver?.willSend(&request.head)
        if let login = request.login { authenticator.willSend(&request.head, handle, login) }
        return request
    }

    /// A body, read whole if it is not in memory.
    private func wholeBody(of request: PreparedRequest) async throws -> [UInt8]? {
        guard let source = request.source else { return request.body.map { Array($0.readableBytesView) } }
        var body: [UInt8] = []
        do {
            try await source.read(on: loop) { body.append(contentsOf: $0.readableBytesView) }
        } catch {
            throw HTTPError.unavailableBody(error, .neverSent)
        }
        return body
    }

    private func carried(_ handle: RequestHandle, _ result: Result<TransportResponse, any Error>) {
        guard handle.run.life.phase == .running, case .elsewhere = handle.run.place else { return }
        handle.run.place = .nowhere
        handle.run.metrics.end = .now()
        switch result {
        case .failure(let cause):
            let unknown = HTTPError(.connectionLost, .maybeProcessed, "the transport failed: \(cause)", cause: cause)
            let error = cause as? HTTPError ?? unknown
            if error.processing != .neverSent { handle.run.life.sent() }
            fail(handle, error)
        case .success(let answer):
            let status = HTTPResponseStatus(
                statusCode: answer.head.status.code,
                reasonPhrase: answer.head.status.reasonPhrase
            )
            var headers = HTTPHeaders()
            for field in answer.head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
            let response = DataResponse(
                http1: .init(version: .http1_1, status: status, headers: headers),
                buffer: ByteBuffer(bytes: answer.body),
                metrics: handle.run.metrics,
                address: handle.current.url
            )
            handOn(response, handle)
        }
    }

    /// Gives an answer to whoever takes it in place of memory.
    private func handOn(_ response: DataResponse, _ handle: RequestHandle) {
        guard let receiver = handle.run.extras?.receiver, !passesOver(response.http1, handle) else {
            return answered(handle, response)
        }
        do throws(HTTPError) {
            switch try receiver.begin(response.http1) {
            case .memory: answered(handle, response)
            case .whole: keep(handle, receiver, response)
            case .again:
                handle.extras.mustGoAgain = true
                answered(handle, response)
            case .here:
                // It is all there: nobody has to be kept from sending.
                _ = try receiver.receive(response.buffer)
                keep(handle, receiver, response.withoutBody)
            }
        } catch {
            fail(handle, error)
        }
    }
}
