import GatewayCore
import Testing

struct MetricsTests {
    @Test func `the text contains families with help, sorted series and cumulative buckets`() {
        var metrics = GatewayMetrics()
        metrics.add(to: .requests, "read", "2xx")
        metrics.add(to: .requests, "batch", "4xx")
        metrics.add(2, to: .requests, "read", "2xx")
        metrics.observe(microseconds: 4_000, kind: "read")
        metrics.observe(microseconds: 70_000_000, kind: "read")
        let text = metrics.text([.init("gateway_x", "Help.", label: "state", [("doubt", 7)])])
        #expect(
            text.hasPrefix(
                """
                # HELP gateway_requests_total Requests of clients.
                # TYPE gateway_requests_total counter
                gateway_requests_total{kind="batch",status="4xx"} 1
                gateway_requests_total{kind="read",status="2xx"} 3
                # HELP gateway_request_seconds
                """))
        #expect(text.contains("gateway_request_seconds_bucket{kind=\"read\",le=\"0.001\"} 0\n"))
        #expect(text.contains("gateway_request_seconds_bucket{kind=\"read\",le=\"0.005\"} 1\n"))
        #expect(text.contains("gateway_request_seconds_bucket{kind=\"read\",le=\"60\"} 1\n"))
        #expect(text.contains("gateway_request_seconds_bucket{kind=\"read\",le=\"+Inf\"} 2\n"))
        #expect(text.contains("gateway_request_seconds_sum{kind=\"read\"} 70.004\n"))
        #expect(text.hasSuffix("# TYPE gateway_x gauge\ngateway_x{state=\"doubt\"} 7\n"))
    }

    @Test func `a label cannot end its string or its line`() {
        var metrics = GatewayMetrics()
        metrics.add(to: .ledgerEnds, "a\"b\\c\nd")
        #expect(metrics.text().contains(#"{end="a\"b\\c\nd"} 1"#))
    }

    @Test func `the number of series is bounded`() {
        var metrics = GatewayMetrics()
        for number in 0..<20_000 { metrics.add(to: .ledgerEnds, "\(number)") }
        #expect(metrics.value(.ledgerEnds, "9999") == 1)
        #expect(metrics.value(.ledgerEnds, "10000") == 0)
    }
}
