import ReachabilityCore

/// Writes notices as JSON lines, version 1; `docs/event.schema.json` is the law.
enum ChangeJSON {
    /// One notice as a line, with the line feed.
    ///
    /// - Parameters:
    ///   - change: The notice.
    ///   - time: When it came.
    ///   - tellsKindSource: Whether interfaces have the member `by`, which tells how their kind is known.
    /// - Returns: The line in UTF-8.
    static func line(_ change: StateChange, at time: Timestamp, tellsKindSource: Bool = false) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("v")
            writer.integer(version)
            writer.key("seq")
            writer.integer(change.sequence)
            writer.key("time")
            writer.string(time.utcText)
            writer.key("event")
            writer.string(change.event.rawValue)
            writer.key("status")
            writer.string(change.status.name)
            writer.key("previous")
            writer.string(change.previous?.name)
            writer.key("path")
            writer.path(change.path, tellsKindSource: tellsKindSource)
            writer.key("reasons")
            writer.array(change.allReasons) { $0.string($1.rawValue) }
        }
        writer.lineFeed()
        return writer.bytes
    }

    /// The member `v`.
    static let version = 1
}

extension StateChange {
    /// What caused the change, then why there is no path or what is wrong with it, each reason once.
    var allReasons: [Reason] {
        reasons + path.reasons.filter { !reasons.contains($0) }
    }
}

extension JSONWriter {
    fileprivate mutating func path(_ path: NetworkPath, tellsKindSource: Bool) {
        object { writer in
            writer.key("interface")
            if let interface = path.interface {
                writer.interface(interface, tellsKindSource: tellsKindSource)
            } else {
                writer.null()
            }
            writer.key("carriers")
            writer.array(path.carriers) { $0.interface($1, tellsKindSource: tellsKindSource) }
            writer.key("ipv4")
            writer.familyPath(path.ipv4)
            writer.key("ipv6")
            writer.familyPath(path.ipv6)
        }
    }

    private mutating func interface(_ interface: NetworkInterface, tellsKindSource: Bool) {
        object { writer in
            writer.key("index")
            writer.integer(interface.index)
            writer.key("name")
            writer.string(interface.name)
            writer.key("kind")
            writer.string(interface.kind.rawValue)
            if tellsKindSource {
                writer.key("by")
                writer.string(interface.kindSource.rawValue)
            }
        }
    }

    private mutating func familyPath(_ path: FamilyPath?) {
        guard let path else { return null() }
        object { writer in
            writer.key("interface")
            writer.string(path.interface.name)
            writer.key("gateway")
            writer.string(path.gateway?.description)
            writer.key("source")
            writer.string(path.source.description)
            writer.key("metric")
            writer.integer(path.metric)
        }
    }
}
