import NIOHTTP1

extension RequestHandle {
    /// Whether the server refuses that its leave is asked for the body, so that the request goes again without (RFC 9110,
    /// 10.1.1).
    ///
    /// Belongs to the session's event loop.
    func mayGoWithoutExpectation(_ status: Int) -> Bool {
        status == 417 && current.expectsContinue && current.hasBody && canGoAgain
    }
}

extension PreparedRequest {
    /// The same, whose body does not wait for the server's leave.
    var withoutExpectation: Self {
        var next = self
        next.expectsContinue = false
        next.head.headers.remove(name: "Expect")
        return next
    }
}
