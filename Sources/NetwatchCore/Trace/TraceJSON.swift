import ReachabilityCore

/// Traces as JSON Lines, version 1; `docs/trace.schema.json` describes them.
package enum TraceJSON {
    /// Returns the line of a hop, without its end.
    package static func line(_ hop: TraceHop, name: String? = nil) -> String {
        let answer = hop.answer
        return JSONValue.object([
            ("v", "1"), ("event", JSONValue.string("hop")), ("hop", String(hop.number)),
            ("address", JSONValue.string(answer?.address.description)),
            ("name", JSONValue.string(name)),
            ("roundTrip", answer.map { QuantityText.seconds($0.roundTrip) } ?? "null"),
            ("answer", JSONValue.string(answer.map { word($0.meaning) })),
            ("mtu", JSONValue.number(mtu(hop))),
        ])
    }

    /// Returns the last line, which has the result, without its end.
    package static func line(_ verdict: TraceVerdict, _ text: TraceText, sentence: String) -> String {
        let (hop, address, roundTrip) = place(verdict, text)
        return JSONValue.object([
            ("v", "1"), ("event", JSONValue.string("end")),
            ("destination", JSONValue.string(text.destination.description)),
            ("host", JSONValue.string(text.host)), ("interface", JSONValue.string(text.interface)),
            ("gateway", JSONValue.string(text.gateway?.description)),
            ("transport", JSONValue.string(text.port == nil ? "udp" : "tcp")),
            ("result", JSONValue.string(word(verdict))), ("hop", JSONValue.number(hop)),
            ("address", JSONValue.string(address?.description)),
            ("roundTrip", roundTrip.map(QuantityText.seconds) ?? "null"), ("text", JSONValue.string(sentence)),
        ])
    }

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
