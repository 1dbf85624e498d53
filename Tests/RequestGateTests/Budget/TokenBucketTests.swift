import RequestGate
import Testing

struct TokenBucketTests {
    @Test func `a host that is down gets a hundred retries, or fifty after timeouts`() {
        for (isTimeout, retries) in [(false, 100), (true, 50)] {
            var bucket = TokenBucket()
            let taken = (0..<1_000).count { _ in bucket.take(isTimeout: isTimeout) }
            #expect(taken == retries)
            #expect(bucket.tokens == 0)
        }
    }

    @Test func `a cost that exceeds the tokens changes nothing`() {
        var bucket = TokenBucket(capacity: 9)
        #expect(bucket.take(isTimeout: true) == false)
        #expect(bucket.tokens == 9 && bucket.isFull)
        #expect(bucket.take(isTimeout: false) == true)
        #expect(bucket.tokens == 4 && !bucket.isFull)
    }

    @Test func `a success returns one token or the cost of its retry, up to the capacity`() {
        var bucket = TokenBucket(capacity: 20)
        #expect(bucket.take(isTimeout: true) == true)
        bucket.succeeded()
        #expect(bucket.tokens == 11)
        bucket.succeeded(cost: TokenBucket.cost(isTimeout: false))
        #expect(bucket.tokens == 16)
        bucket.succeeded(cost: TokenBucket.cost(isTimeout: true))
        #expect(bucket.isFull && bucket.tokens == 20)
        bucket.succeeded(cost: -5)
        bucket.succeeded(cost: .max)
        #expect(bucket.isFull)
    }

    @Test func `a bucket without capacity is full and allows no retry`() {
        var bucket = TokenBucket(capacity: -1)
        #expect(bucket.take(isTimeout: false) == false)
        #expect(bucket.isFull)
    }

    @Test func `a bucket takes at most 8 bytes`() { #expect(MemoryLayout<TokenBucket>.size <= 8) }
}
