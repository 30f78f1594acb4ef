import Testing

@testable import Transport

struct ResponseMeterTests {
    private func limits(_ change: (inout ResponseLimits) -> Void = { _ in }) -> ResponseLimits {
        var limits = ResponseLimits()
        (limits.bufferedBytes, limits.streamedBytes, limits.mediaBytes, limits.refusalBytes) = (100, 1_000, 10_000, 50)
        change(&limits)
        return limits
    }

    @Test(arguments: zip(ResponseMeter.BodyUse.allCases, [100, 1_000, 10_000]))
    func `a body may be as large as the limit for its use, and no larger`(_ use: ResponseMeter.BodyUse, _ limit: Int) {
        var meter = ResponseMeter(limits(), use, status: 200, isRedirect: false)
        #expect(meter.count(limit, received: Int64(limit)) == .init(kept: limit, end: .none))
        let beyond = meter.count(1, received: Int64(limit) + 1)
        #expect(beyond.end == .refused("the response has more than \(limit) bytes"))
    }

    @Test(arguments: [400, 404, 500, 503], ResponseMeter.BodyUse.allCases)
    func `the beginning of an error response's body is kept, and the rest is cut off`(
        _ status: Int, _ use: ResponseMeter.BodyUse
    ) {
        var meter = ResponseMeter(limits(), use, status: status, isRedirect: false)
        #expect(meter.count(40, received: 40) == .init(kept: 40, end: .none))
        #expect(meter.count(40, received: 80) == .init(kept: 10, end: .cut))
    }

    @Test func `at most a few KiB of a redirect's body are kept`() {
        var meter = ResponseMeter(
            limits { $0.refusalBytes = 1 << 20 }, .buffered, status: 302, isRedirect: true)
        let kept = (0..<64).map { _ in meter.count(16_384, received: 16_384).kept }
        #expect(kept.reduce(0, +) == Int(ResponseMeter.keptOfRedirect))
        #expect(
            meter.count(1, received: 1).end == .refused("the body of the redirect has more than 1048576 bytes"))
    }

    @Test func `a body that exceeds the decompression ratio is refused after the first 8 MiB`() {
        var meter = ResponseMeter(
            limits { $0.streamedBytes = .max }, .streamed, status: 200, isRedirect: false)
        let free = Int(ResponseMeter.freelyExpanded)
        #expect(meter.count(free, received: 10).end == .none)
        let sentence = "the response decompresses to more than 200 times as many bytes as were received"
        #expect(meter.count(1, received: 10).end == .refused(sentence))
    }

    @Test func `an uncompressed body never exceeds the decompression ratio`() {
        var meter = ResponseMeter(limits { $0.streamedBytes = .max }, .streamed, status: 200, isRedirect: false)
        for count in 1...100 { #expect(meter.count(1 << 20, received: Int64(count) << 20).end == .none) }
    }
}

struct HeadWaitTests {
    private let start = ContinuousClock.now

    @Test func `the head timeout starts at the last sent byte`() {
        var wait = HeadTimeout(.seconds(10))
        #expect(wait.left(start, sent: 0) == .seconds(10))
        #expect(wait.left(start + .seconds(9), sent: 0) == .seconds(1))
        #expect(wait.left(start + .seconds(9), sent: 100) == .seconds(10))
        #expect(wait.left(start + .seconds(19), sent: 100) == .zero)
    }

    @Test func `without a limit there is no head timeout`() {
        var wait = HeadTimeout(nil)
        #expect(wait.left(start, sent: 0) == nil)
    }
}
