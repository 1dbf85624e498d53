import NetworkLab
import RequestGate

/// The actions of users and gates.
extension ModelWorld {
    mutating func act() {
        guard actsLeft > 0 else { return plan(.settle, after: Self.second) }
        actsLeft -= 1
        plan(.act, after: Int64.random(in: 0...sizes.pace, using: &random) * Self.millisecond)
        let dice = Int.random(in: 0..<100, using: &random)
        if dice < sizes.submissions || sizes.acts - actsLeft <= sizes.burst { return submit() }
        switch dice % 12 {
        case 0...2: changeGates()
        case 3...4: changeServer()
        case 5: some { $0.pause($1) }
        case 6...7: some { $0.resume($1) }
        case 8: some { $0.cancel($1) }
        case 9: some { $0.confuse($1) }
        case 10: replaceGate()
        default: submit()
        }
    }

    private mutating func some(_ body: (inout Self, Int) -> Void) {
        if let number = live.randomElement(using: &random) { body(&self, number) }
    }

    private mutating func changeServer() {
        let host = Int.random(in: hosts.indices, using: &random)
        hosts[host].server = sizes.servers.randomElement(using: &random) ?? .healthy
    }

    private mutating func changeGates() {
        guard sizes.hasOneLink else { return toggle(Int.random(in: gates.indices, using: &random)) }
        let isUp = gates.contains { $0.isOpen }
        for gate in gates.indices where gates[gate].isOpen == isUp { toggle(gate) }
    }

    private mutating func submit() {
        let gate = Int.random(in: gates.indices, using: &random)
        let deadline = chance(1, in: 3, &random) ? Int64.random(in: 0...40_000, using: &random) : nil
        let isGet = chance(1, in: 2, &random)
        var request = ModelRequest(
            host: gates[gate].host,
            gate: gate,
            traits: .init(isIdempotent: isGet, isReplayable: isGet || chance(2, in: 3, &random)),
            policy: .init(maximumAttempts: Int.random(in: 1...6, using: &random), maximumDelay: .seconds(5)),
            waitTimeout: chance(1, in: 3, &random)
                ? Int64.random(in: 0...20_000, using: &random) * Self.millisecond : nil,
            priority: RequestPriority.allCases.randomElement(using: &random) ?? .normal,
            deadline: deadline.map { now + $0 * Self.millisecond } ?? .max
        )
        request.lineSince = now
        request.lineClosed = gates[gate].closedTime(at: now)
        let number = requests.count
        requests.append(request)
        live.append(number)
        if gates[gate].isOpen, hosts[request.host].silentUntil <= now, request.deadline > now, chance(1, in: 6, &random)
        {
            requests[number].phase = .running
            requests[number].attempt = 1
            return serve(number)
        }
        enter(number, scheduler.submit(order(number), at: moment))
    }

    mutating func enter(_ number: Int, _ id: RequestScheduler.RequestID) {
        check(numbers[id] == nil, "a new request has the identifier of another one")
        requests[number].id = id
        numbers[id] = number
    }

    func order(_ number: Int) -> RequestScheduler.Order {
        let request = requests[number]
        return .init(
            gate: gates[request.gate].id,
            deadline: .init(nanoseconds: request.deadline),
            waitTimeout: request.waitTimeout.map { .nanoseconds($0) },
            priority: request.priority,
            traits: request.traits
        )
    }

    mutating func pause(_ number: Int) {
        guard let id = requests[number].id else { return }
        let hasConnection = requests[number].isOutOfWindow || chance(1, in: 2, &random)
        scheduler.pause(id, hasConnection: hasConnection, at: moment)
        guard !requests[number].isPaused else { return }
        leaveLine(number)
        if requests[number].phase == .running, !hasConnection { requests[number].phase = .waiting }
        requests[number].pausedAt = now
        requests[number].isOutOfWindow = true
    }

    mutating func resume(_ number: Int) {
        guard let id = requests[number].id else { return }
        scheduler.resume(id, at: moment)
        guard let pausedAt = requests[number].pausedAt else { return }
        let pause = now - pausedAt
        requests[number].pausedAt = nil
        if requests[number].deadline != .max { requests[number].deadline += pause }
        if case .delayed(let until) = requests[number].phase {
            requests[number].phase = .delayed(until: until + pause)
            plan(.delayOver(number), after: until + pause - now)
        }
        enterLine(number)
    }

    private mutating func cancel(_ number: Int) {
        guard let id = requests[number].id else { return }
        scheduler.cancel(id, at: moment)
        check(!scheduler.isCurrent(id), "a cancelled request is still registered")
        tally.cancelled += 1
        end(number)
    }

    mutating func toggle(_ number: Int) {
        let isOpen = !gates[number].isOpen
        scheduler.set(gates[number].id, isOpen: isOpen, at: moment)
        if isOpen {
            recordOutage(number)
            gates[number].closed = gates[number].closedTime(at: now)
        } else {
            gates[number].closedAt = now
            losePaths(number)
        }
        gates[number].isOpen = isOpen
    }

    /// Replaces an unused gate, and its host too if the scheduler can forget it.
    private mutating func replaceGate() {
        let number = Int.random(in: gates.indices, using: &random)
        guard !live.contains(where: { requests[$0].gate == number && requests[$0].id != nil }) else { return }
        let host = gates[number].host
        scheduler.forget(gate: gates[number].id)
        let isLast = gates.filter { $0.host == host }.count == 1
        if isLast, scheduler.isForgettable(hosts[host].id) {
            check(hosts[host].silentUntil <= now, "a host on hold is removable")
            scheduler.forget(hosts[host].id)
            hosts[host] = .init(id: scheduler.addHost(), server: hosts[host].server)
        }
        gates[number].id = scheduler.addGate(of: hosts[host].id, isOpen: gates[number].isOpen, at: moment)
    }

    /// Restores all gates and servers, and resumes all requests.
    mutating func settle() {
        settledAt = now
        for host in hosts.indices { hosts[host].server = .healthy }
        for gate in gates.indices where !gates[gate].isOpen { toggle(gate) }
        for number in live where requests[number].isPaused { resume(number) }
    }
}
