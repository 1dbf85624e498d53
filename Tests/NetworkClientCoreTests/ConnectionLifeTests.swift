import NetworkClientCore
import Testing

struct ConnectionLifeTests {
    @Test func `a whole exchange leaves the connection for the next`() {
        var life = ConnectionLife()
        for count in 1...3 {
            #expect(life.begin() == true)
            #expect(life.begin() == false)
            life.requestSent()
            #expect(life.answered(keepsAlive: true) == true)
            #expect(life.ended() == .reuse)
            #expect(life.requests == count)
            #expect(life.isReused == (count > 1))
        }
    }

    @Test func `a connection that the server ends serves no other`() {
        var life = ConnectionLife()
        _ = life.begin()
        life.requestSent()
        #expect(life.answered(keepsAlive: false) == true)
        #expect(life.ended() == .close)
        #expect(life.isClosed)
        #expect(life.begin() == false)
    }

    @Test func `an answer before the request's end ends the connection`() {
        var life = ConnectionLife()
        _ = life.begin()
        #expect(life.answered(keepsAlive: true) == true)
        #expect(life.ended() == .close)
    }

    @Test func `an answer to nothing is none`() {
        var life = ConnectionLife()
        #expect(life.answered(keepsAlive: true) == false)
        _ = life.begin()
        #expect(life.answered(keepsAlive: true) == true)
        #expect(life.answered(keepsAlive: true) == false)
    }
}
