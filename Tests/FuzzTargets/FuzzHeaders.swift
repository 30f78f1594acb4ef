import EDM
import GatewayCore
import ODataWire
import SyncCore

/// Reads the head of a message with HTTP fields, as a response and as a request to a gateway.
///
/// Required: a body that a gateway reads has an unambiguous length within its limits; no field of a forwarded request
/// can end the head; a token or an outcome that can be decoded is encoded in the same bytes.
func fuzzHeaders(_ input: [UInt8]) throws(Finding) {
    try fuzzStoredForms(input)
    guard let response = HTTPMessage.response(input) else { return }
    let headers = response.headers
    if let delay = RetryAfter.delay(headers, now: 0) {
        try require(delay >= .zero && delay <= .seconds(1_000_000_000), "a pause of \(delay)")
    }
    _ = MonitorResponseKind(response, now: 0)
    _ = try? RepeatabilityIdentifier(headers)
    _ = TraceContext(headers)
    let limits = GatewayLimits()
    let target = "/" + (headers["X-Target"] ?? "")
    guard
        let length = try? RequestFraming.check(
            method: "POST", target: target, minor: Int(input[0] % 2), headers: headers, limits: limits)
    else { return }
    if case .known(let count) = length {
        try require((1...limits.bodyBytes).contains(count), "a body of \(count) bytes")
    }
    let forwarded = HeaderRules.forwarded(headers, trustsForwarded: false)
    try require(forwarded.obstacle(inBatch: false) == nil, "a field that ends the head is forwarded: \(forwarded)")
    try require(forwarded.values("Transfer-Encoding").isEmpty, "the coding of one connection is forwarded")
}

/// Decodes the forms that a gateway stores or sends in links.
private func fuzzStoredForms(_ input: [UInt8]) throws(Finding) {
    if let token = FeedToken(encoded: input) {
        try require(FeedToken(encoded: token.encoded)?.encoded == token.encoded, "a token changes")
    }
    if let outcome = UnitOutcome(encoded: input) {
        try require(UnitOutcome(encoded: outcome.encoded)?.encoded == outcome.encoded, "an outcome changes")
    }
}

let headerSeeds: [[UInt8]] =
    [
        "HTTP/1.1 503 Busy\r\nRetry-After: Fri, 27 Nov 2026 18:00:00 GMT\r\nDate: Fri, 27 Nov 2026 17:59:00 GMT\r\n\r\n",
        "HTTP/1.1 200 OK\r\nHost: a\r\nContent-Length: 12\r\nConnection: keep-alive, x\r\nX-Target: odata/Customers?a=b\r\n\r\nx",
        "HTTP/1.1 202 Accepted\r\nLocation: m\r\nRetry-After: 7\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nHost: a\r\nTransfer-Encoding: chunked\r\nRepeatability-Request-ID: r\r\nRepeatability-First-Sent: Fri, 27 Nov 2026 18:00:00 GMT\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n",
    ].map { Array($0.utf8) } + [
        FeedToken(feed: 1, salt: [1, 2], generation: 3, audience: [4], place: .rows(after: "a"), began: 5).encoded,
        FeedToken(
            feed: 1, salt: [1, 2], generation: 3, place: .changes(start: 2, after: FeedPosition(since: 1, key: "k"))
        )
        .encoded,
        UnitOutcome.members([WireResponse(status: 201, headers: ["Location": "a"], body: [1, 2, 3])]).encoded,
        UnitOutcome.failed(WireResponse(status: 400), culprit: 1).encoded,
    ]
