import NetworkClient
import Testing

struct ErrorTests {
    @Test func `an error says which request failed and why`() {
        var error = HTTPError(
            .connectionRefused,
            processing: .neverSent,
            reason: "nobody listens on 127.0.0.1:80",
            errno: 111
        )
        #expect("\(error)" == "nobody listens on 127.0.0.1:80")
        error.request = "GET http://127.0.0.1/"
        #expect("\(error)" == "GET http://127.0.0.1/: nobody listens on 127.0.0.1:80")
    }
}
