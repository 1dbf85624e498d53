import NetworkClientCore

extension HTTPConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it says, but for the values of fields that are secrets: those whose names say so, and those that
    /// ``RedirectPolicy/secretFields`` names.
    public var description: String {
        let children = customMirror.children.map { "\($0.label ?? ""): \($0.value)" }
        return "HTTPConfiguration(\(children.joined(separator: ", ")))"
    }

    /// As ``description``.
    public var debugDescription: String { description }

    /// Its properties, but for the values of fields that are secrets.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "headers": shownHeaders, "timeouts": timeouts, "tls": tls, "requestSerializer": requestSerializer,
            "maximumConnectionsPerHost": maximumConnectionsPerHost, "idleTimeout": idleTimeout as Any,
            "maximumBodySize": maximumBodySize, "maximumHeadSize": maximumHeadSize, "decompresses": decompresses,
            "binding": binding, "unixSocketPath": unixSocketPath as Any, "proxy": proxy,
            "eventMonitors": eventMonitors.count, "transport": transport != nil, "gate": gate,
            "requirement": requirement, "retry": retry, "pathLoss": pathLoss,
            "addsIdempotencyKeys": addsIdempotencyKeys, "circuitBreaker": circuitBreaker as Any,
            "redirects": redirects, "authentication": authentication,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }

    private var shownHeaders: [String] {
        headers.map { field in
            let name = field.name.rawName
            return "\(name): \(SecretNames.shown(field: name, field.value, by: "(hidden)", redirects.secretFields))"
        }
    }
}
