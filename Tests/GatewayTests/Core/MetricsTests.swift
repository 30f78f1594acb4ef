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

    @Test func `the use of connections is reported for each storage`() {
        var use = PoolUse()
        (use.inUse, use.waiting, use.acquisitions, use.failures) = (1, 2, 3, 4)
        let text = GatewayMetrics().text(PoolUse.gauges([("ledger", use), ("feeds", PoolUse())]))
        #expect(
            text.contains(
                """
                # TYPE gateway_pool_connections_in_use gauge
                gateway_pool_connections_in_use{storage="ledger"} 1
                gateway_pool_connections_in_use{storage="feeds"} 0

                """))
        #expect(text.contains("gateway_pool_waiting{storage=\"ledger\"} 2\n"))
        #expect(
            text.contains(
                "# TYPE gateway_pool_acquisitions_total counter\ngateway_pool_acquisitions_total{storage=\"ledger\"} 3\n"
            ))
        #expect(text.contains("gateway_pool_failures_total{storage=\"ledger\"} 4\n"))
        #expect(GatewayMetrics().text(PoolUse.gauges([])) == "")
    }

    @Test func `the age of a feed is that of its newest generation, and of the older of two with one name`() {
        let gauges = FeedAge.gauges([("b", 4_000), ("a", 8_500), ("b", 2_000), ("c", 90_000)], now: 10_000)
        #expect(
            GatewayMetrics().text(gauges).hasSuffix(
                """
                # TYPE gateway_feed_head_age_seconds gauge
                gateway_feed_head_age_seconds{feed="a"} 1
                gateway_feed_head_age_seconds{feed="b"} 8
                gateway_feed_head_age_seconds{feed="c"} 0

                """))
        #expect(FeedAge.gauges([], now: 1) == [])
        #expect(GatewayMetrics().text(FeedAge.gauges([("a", .min)], now: .max)).hasSuffix("{feed=\"a\"} 0\n"))
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
