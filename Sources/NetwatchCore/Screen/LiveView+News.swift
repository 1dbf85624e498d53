import ReachabilityCore

extension LiveView {
    /// Takes news; what changes nothing that is shown leaves ``revision`` as it is.
    mutating func take(_ input: LiveViewInput) {
        switch input {
        case .change(let change, let latency, at: let moment):
            advance(to: moment)
            take(change, latency)
        case .model(let snapshot, let evaluation, let why, at: let moment):
            advance(to: moment)
            take(snapshot, evaluation, why)
        case .counters(let counters, at: let moment): alter(\.traffic.shown) { $0.traffic.take(counters, at: moment) }
        case .wifi(let details): alter(\.wifi) { $0.take(details) }
        case .destination(let place, let state, at: let moment):
            advance(to: moment)
            take(state, at: place)
        case .recording(let state, at: let moment):
            advance(to: moment)
            alter(\.recording) { $0.recording = state }
        case .explanation(let lines):
            revision += 1
            open(.explanation(lines))
        case .tick(let moment): advance(to: moment)
        case .key, .wheel, .resize: break
        }
    }

    /// Alters something, and counts it if it is another afterwards.
    private mutating func alter<Value: Equatable>(_ part: KeyPath<Self, Value>, _ body: (inout Self) -> Void) {
        let before = self[keyPath: part]
        body(&self)
        if self[keyPath: part] != before { revision += 1 }
    }

    /// When the frame was to change by time has come, it counts as another even where a clock that was set undid that:
    /// whoever waits for that moment learns the next.
    private mutating func advance(to moment: ViewMoment) {
        if moment.instant >= clock.nextChange { revision += 1 }
        alter(\.clock.face) { view in
            let suspended = view.clock.take(moment)
            guard let suspended else { return view.timeline.advance(to: view.clock.elapsed) }
            let start = view.clock.elapsed.advanced(by: .zero - suspended)
            view.timeline.noteGap(from: start, to: view.clock.elapsed)
            view.clock.noteEvent()
        }
    }

    private mutating func take(_ change: StateChange, _ latency: Duration?) {
        revision += 1
        timeline.note(change.status, at: clock.elapsed)
        if verdict.take(change, clock) { clock.noteEvent() }
        let isShown = log.append(change, latency: latency, time: .init(clock.now))
        // Who reads older events is not disturbed.
        if isShown, navigation.logTop > 0 { navigation.logTop += 1 }
    }

    private mutating func take(_ snapshot: NetworkSnapshot, _ evaluation: PathEvaluation, _ why: [Sentence]) {
        let rows = InterfaceRows(snapshot: snapshot, path: evaluation.path, context: options.context, words: words)
        alter(\.interfaces) { $0.interfaces = rows.rows() }
        alter(\.wifi) { view in
            let present = Set(view.interfaces.map(\.index))
            view.wifi = view.wifi.filter { present.contains($0.key) }
            view.dropDeadSigns()
        }
        alter(\.verdict.why) { $0.verdict.explain(why) }
    }

    private mutating func take(_ details: [WiFiDetails]) {
        var signs: [InterfaceIndex: WiFiSign] = [:]
        for each in details {
            let index = each.interface.index
            signs[index] = WiFiSign(each, words).calmed(after: wifi[index])
        }
        wifi = signs
        dropDeadSigns()
    }

    /// A radio whose link can't carry packets has no network; what was read just before it lost it comes later.
    private mutating func dropDeadSigns() {
        for row in interfaces where row.condition != .up { wifi[row.index] = nil }
    }

    private mutating func take(_ state: DestinationState, at place: Int) {
        guard destinations.indices.contains(place) else { return }
        alter(\.destinations) { view in
            if view.destinations[place].take(state, view.clock) { view.clock.noteEvent() }
        }
    }
}
