import HTTPTypes
import NetworkClientCore
import RequestGate

extension RequestDispatcher {
    /// An attempt failed.
    ///
    /// - Returns: Whether the request goes on; if not, it has failed.
    func failed(_ handle: RequestHandle, _ error: HTTPError) -> Bool {
        let policy = handle.current.policy
        guard policy.isScheduled, !error.isFinal else { return false }
        let now = BootClock.now
        let id = handle.run.scheduled?.id ?? adopt(handle, at: now)
        if handle.run.isPaused { scheduler.pause(id, at: now) }
        let failure = failure(of: handle, error, at: now)
        let decision = decide(on: id, handle, error, failure, at: now)
        let attempt = handle.run.scheduled?.attempt ?? 1
        let goesOn = scheduler.ended(id, attempt: attempt, failure, decision, at: now, using: &generator)
        if policy.retry.retries || goesOn { tell(decision, handle, error) }
        guard goesOn else {
            leave(handle)
            drain()
            return false
        }
        handle.run.goAgain(wasProcessed: !failure.isHarmless)
        handle.noteState()
        drain()
        return true
    }

    /// An answer is whole whose status may be a failure.
    ///
    /// - Returns: Whether the request goes again; if not, the answer is its end.
    func answered(_ handle: RequestHandle, _ response: DataResponse) -> Bool {
        let status = response.head.status.code
        let isIntercepted = core.configuration.retryInterceptor != nil && status >= 400
        guard isIntercepted || handle.current.policy.retry.mayRetry(after: status) else { return false }
        var error = HTTPError(
            .unacceptableStatus,
            .init(status: status),
            "\(handle.current.endpoint.text) answered \(response.head.status)"
        )
        error.response = response.head
        error.request = handle.current.description
        return failed(handle, error)
    }

    /// The head of an answer came: its host is there.
    func sawHead(_ handle: RequestHandle, _ head: HTTPResponse) {
        guard let scheduled = handle.run.scheduled, let id = scheduled.id else { return }
        let isOverload = head.status.code == 429 || head.status.code == 503
        scheduler.answered(
            id,
            attempt: scheduled.attempt,
            isOverload: isOverload,
            retryAfter: isOverload ? AttemptFailure(head).retryAfter : nil,
            at: BootClock.now
        )
        drain()
    }

    private func decide(
        on id: RequestScheduler.RequestID,
        _ handle: RequestHandle,
        _ error: HTTPError,
        _ failure: AttemptFailure,
        at now: BootInstant
    ) -> RetryDecision {
        let policy = handle.current.policy.retry
        let decision = scheduler.decision(on: id, failure, policy, at: now, using: &generator)
        guard let intercept = core.configuration.retryInterceptor else { return decision }
        let attempt = FailedAttempt(
            request: handle,
            error: error,
            attempts: scheduler.attempts(of: id),
            decision: decision
        )
        guard let other = intercept(attempt), other != decision else { return decision }
        return scheduler.checked(other, on: id, failure, at: now)
    }

    /// What an error is, held against what the kernel says of the way now.
    private func failure(of handle: RequestHandle, _ error: HTTPError, at now: BootInstant) -> AttemptFailure {
        guard handle.current.policy.gate.waits, error.mayBeOfThePath else { return AttemptFailure(error) }
        let key = GateKey(handle.current.endpoint)
        let verdict = keeper.refresh(key)
        learn(verdict, of: key, at: now)
        return AttemptFailure(error, isPathLost: !verdict.isOpen || error.code == .pathLost)
    }

    private func tell(_ decision: RetryDecision, _ handle: RequestHandle, _ error: HTTPError) {
        guard core.isObserved(handle) else { return }
        switch decision {
        case .retry(let delay, let reason): core.tell(.retrying(in: delay, because: reason, after: error), handle)
        case .waitForPath: core.tell(.pathLost(error), handle)
        case .giveUp(let reason): core.tell(.gaveUp(because: reason), handle)
        }
    }

    /// What a request fails with by the scheduler's own word.
    func error(of failure: RequestScheduler.Failure, _ handle: RequestHandle) -> HTTPError {
        let request = handle.current.copy
        switch failure {
        case .deadline: return .timedOut(.total, after: request.limits.total, request)
        case .breaker:
            let reason = "\(request.endpoint.text) has failed too often of late, and is given a rest: try again later"
            return .init(.circuitOpen, .neverSent, reason)
        case .noPath(let waited):
            let wait = keeper.verdict(for: GateKey(request.endpoint)).wait?.description ?? "the server did not answer"
            let isPatient = request.policy.gate.waits
            let reason =
                isPatient
                ? "no way to \(request.endpoint.way) within \(waited.rounded): it waited for \(wait)"
                : "no way to \(request.endpoint.way) that the request may take: it needs \(wait)"
            return .init(isPatient ? .connectivityTimedOut : .pathNotAllowed, .neverSent, reason)
        }
    }
}

extension RetryPolicy {
    /// Whether an answer with this status can be followed by another attempt.
    fileprivate func mayRetry(after status: Int) -> Bool {
        retryableStatuses.contains(status) || statusesOfUnprocessed.contains(status)
    }
}

extension AttemptFailure {
    /// Whether what failed has certainly had no effect.
    fileprivate var isHarmless: Bool { processing == .neverSent || processing == .refusedUnprocessed }
}

extension HTTPError {
    /// Whether it is the user's word, or the scheduler's own.
    fileprivate var isFinal: Bool {
        switch code {
        case .cancelled, .requestTimedOut, .connectivityTimedOut, .pathNotAllowed, .circuitOpen, .bodyUnavailable,
            .bodyNotReplayable, .fileFailed:
            true
        default: false
        }
    }

    /// Whether the way may be the cause, so that the kernel is to be asked.
    fileprivate var mayBeOfThePath: Bool {
        switch code {
        case .networkUnreachable, .hostUnreachable, .addressNotAvailable, .interfaceNotFound, .prohibited, .blackholed,
            .connectFailed, .connectTimedOut, .tlsTimedOut, .resolveTimedOut, .nameTemporarilyUnresolvable,
            .nameLookupFailed, .nameNotFound, .connectionLost, .bodyTruncated, .firstByteTimedOut, .readTimedOut,
            .writeTimedOut, .pathLost:
            true
        default: false
        }
    }
}

extension Duration {
    /// To tenths of a second, or to milliseconds where there is less than one, for messages.
    fileprivate var rounded: Duration {
        let milliseconds = clampedNanoseconds / 1_000_000
        return .milliseconds(milliseconds < 100 ? milliseconds : milliseconds / 100 * 100)
    }
}
