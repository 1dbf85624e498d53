import NetworkClientCore
import Testing

struct ConnectionStateTests {
    @Test func `a whole exchange leaves the connection for the next`() {
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

    @Test func `a connection that the server ends serves no other`() {
        var state = ConnectionState()
        _ = state.begin()
        state.requestSent()
        #expect(state.receivedHead(keepsAlive: false) == true)
        #expect(state.ended() == .close)
        #expect(state.isClosed)
        #expect(state.begin() == false)
    }

    @Test func `an answer before the request's end ends the connection`() {
        var state = ConnectionState()
        _ = state.begin()
        #expect(state.receivedHead(keepsAlive: true) == true)
        #expect(state.ended() == .close)
    }

    @Test func `an answer to nothing is none`() {
        var state = ConnectionState()
        #expect(state.receivedHead(keepsAlive: true) == false)
        _ = state.begin()
        #expect(state.receivedHead(keepsAlive: true) == true)
        #expect(state.receivedHead(keepsAlive: true) == false)
    }
}
