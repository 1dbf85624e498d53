import NetworkClientCore
import Testing

struct ConnectionStateTests {
    @Test func `a connection can be reused after a complete exchange`() {
        var state = ConnectionState()
        for count in 1...3 {
            #expect(state.begin() == true)
            #expect(state.begin() == false)
            state.requestSent()
            #expect(state.receivedHead(keepsAlive: true) == true)
            #expect(state.ended() == .reuse)
            #expect(state.requests == count)
            #expect(state.isReused == (count > 1))
        }
    }

    @Test func `a connection that the server closes is not reused`() {
        var state = ConnectionState()
        _ = state.begin()
        state.requestSent()
        #expect(state.receivedHead(keepsAlive: false) == true)
        #expect(state.ended() == .close)
        #expect(state.isClosed)
        #expect(state.begin() == false)
    }

    @Test func `a response before the end of the request closes the connection`() {
        var state = ConnectionState()
        _ = state.begin()
        #expect(state.receivedHead(keepsAlive: true) == true)
        #expect(state.ended() == .close)
    }

    @Test func `a response without a request is not accepted`() {
        var state = ConnectionState()
        #expect(state.receivedHead(keepsAlive: true) == false)
        _ = state.begin()
        #expect(state.receivedHead(keepsAlive: true) == true)
        #expect(state.receivedHead(keepsAlive: true) == false)
    }
}
