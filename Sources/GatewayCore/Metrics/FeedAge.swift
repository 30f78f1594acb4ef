/// The times since the readings that made or confirmed the newest generations of feeds.
package enum FeedAge {
    /// Returns the gauge, or nothing if no feed was read.
    ///
    /// The names of feeds are unique for an endpoint only. If two feeds have the same name, the older one counts.
    ///
    /// - Parameters:
    ///   - heads: The names of the feeds and the times at which their readings began, in milliseconds.
    ///   - now: The time of the same clock.
    package static func gauges(_ heads: [(feed: String, readBegan: Int64)], now: Int64) -> [GatewayMetrics.Gauge] {
        if heads.isEmpty { return [] }
        var oldest: [String: Int64] = [:]
        for (feed, began) in heads { oldest[feed] = min(oldest[feed] ?? .max, began) }
        return [
            GatewayMetrics.Gauge(
                "gateway_feed_head_age_seconds", "Time since the reading of the newest generation began.",
                label: "feed",
                oldest.sorted { $0.key < $1.key }.map { feed, began in
                    let (age, overflows) = now.subtractingReportingOverflow(began)
                    return (feed, overflows ? 0 : max(age, 0) / 1_000)
                })
        ]
    }
}
