import NetworkClient
import Testing

/// What options say beside nothing.
struct RequestOptionsTests {
    @Test func `what is never done is said, and not left to the session`() {
        let options = RequestOptions(binding: .unbound, gate: .goesAtOnce, retry: .never, proxy: .direct)
        #expect(options.binding != nil && options.gate != nil && options.retry != nil && options.proxy != nil)
        #expect(RequestOptions(redirects: .refuse).redirects != nil)
    }
}
