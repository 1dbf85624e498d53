import ReachabilityCore

/// Traces as JSON Lines, version 1; `docs/trace.schema.json` describes them.
package enum TraceJSON {
    /// Returns the line of a hop, without its end.
    package static func line(_ hop: TraceHop, name: String? = nil) -> String {
        let answer = hop.answer
        return object([
            ("v", "1"), ("event", quoted("hop")), ("hop", String(hop.number)),
            ("address", answer.map { quoted($0.address.description) } ?? "null"),
            ("name", name.map(quoted) ?? "null"),
            ("roundTrip", answer.map { QuantityText.seconds($0.roundTrip) } ?? "null"),
            ("answer", answer.map { quoted(word($0.meaning)) } ?? "null"),
            ("mtu", mtu(hop).map(String.init) ?? "null"),
        ])
    }

    /// Returns the last line, which has the result, without its end.
    package static func line(_ verdict: TraceVerdict, _ text: TraceText, sentence: String) -> String {
        let (hop, address, roundTrip) = place(verdict, text)
        return object([
            ("v", "1"), ("event", quoted("end")), ("destination", quoted(text.destination.description)),
            ("host", text.host.map(quoted) ?? "null"), ("interface", text.interface.map(quoted) ?? "null"),
            ("gateway", text.gateway.map { quoted($0.description) } ?? "null"),
            ("transport", quoted(text.port == nil ? "udp" : "tcp")), ("result", quoted(word(verdict))),
            ("hop", hop.map(String.init) ?? "null"), ("address", address.map { quoted($0.description) } ?? "null"),
            ("roundTrip", roundTrip.map(QuantityText.seconds) ?? "null"), ("text", quoted(sentence)),
        ])
    }

    private static func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String { "\"\(text.escapedForJSONAndTerminal)\"" }

    private static func mtu(_ hop: TraceHop) -> Int? {
        if case .rejection(.packetTooBig(let mtu)) = hop.answer?.meaning { return Int(mtu) }
        return hop.narrowing?.mtu
    }

    private static func word(_ meaning: TraceHop.Meaning) -> String {
        switch meaning {
        case .router: word(.timeExceeded)
        case .rejection(let error), .destination(.error(let error)): word(error)
        case .destination(.response(let response)): response.rawValue
        }
    }

    private static func word(_ error: ICMPError) -> String {
        switch error {
        case .timeExceeded: "timeExceeded"
        case .networkUnreachable: "networkUnreachable"
        case .hostUnreachable: "hostUnreachable"
        case .protocolUnreachable: "protocolUnreachable"
        case .portUnreachable: "portUnreachable"
        case .prohibited: "prohibited"
        case .packetTooBig: "packetTooBig"
        case .other: "other"
        }
    }

    private static func word(_ verdict: TraceVerdict) -> String {
        switch verdict {
        case .reached: "reached"
        case .rejected: "rejected"
        case .loop: "loop"
        case .tooFar: "tooFar"
        case .silentBeyond: "silentBeyond"
        case .silent: "silent"
        case .neighborSilent: "neighborSilent"
        case .timeUp: "timeUp"
        case .noPath, .unusable: "noPath"
        case .thisMachine: "thisMachine"
        }
    }

    /// The last hop that answers, its address, and the round trip to the destination.
    private static func place(_ verdict: TraceVerdict, _ text: TraceText) -> (Int?, IPAddress?, Duration?) {
        switch verdict {
        case .reached(let hops, let roundTrip): (hops, text.destination, roundTrip)
        case .rejected(_, let router, let hop), .tooFar(let router, let hop), .silentBeyond(let router, let hop):
            (hop, router, nil)
        case .loop(let routers, let hop): (hop, routers.first, nil)
        case .timeUp(let last?, let hop): (hop, last, nil)
        case .timeUp(nil, _), .silent, .neighborSilent, .noPath, .unusable, .thisMachine: (nil, nil, nil)
        }
    }
}
