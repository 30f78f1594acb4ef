/// The use of the connections to a storage.
package struct PoolUse: Sendable, Hashable {
    /// Connections that execute a request.
    package var inUse = 0
    /// Requests that wait for a connection.
    package var waiting = 0
    /// Requests that have got a connection since the start.
    package var acquisitions: Int64 = 0
    /// Connections that could not be made, or were lost, since the start.
    package var failures: Int64 = 0

    package init() {}

    /// Returns the values for operators.
    ///
    /// - Parameter pools: The pools by the name of their storage.
    package static func gauges(_ pools: [(name: String, use: PoolUse)]) -> [GatewayMetrics.Gauge] {
        if pools.isEmpty { return [] }
        func gauge(
            _ name: String, _ help: String, isCounter: Bool = false, _ value: (PoolUse) -> Int64
        ) -> GatewayMetrics.Gauge {
            GatewayMetrics.Gauge(
                "gateway_pool_\(name)", help, label: "storage", isCounter: isCounter,
                pools.map { ($0.name, value($0.use)) })
        }
        return [
            gauge("connections_in_use", "Connections to the database that execute a request.") { Int64($0.inUse) },
            gauge("waiting", "Requests that wait for a connection to the database.") { Int64($0.waiting) },
            gauge("acquisitions_total", "Requests that have got a connection.", isCounter: true) { $0.acquisitions },
            gauge("failures_total", "Connections that could not be made, or were lost.", isCounter: true) {
                $0.failures
            },
        ]
    }
}
