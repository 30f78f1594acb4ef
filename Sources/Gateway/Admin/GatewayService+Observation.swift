internal import GatewayCore
internal import Synchronization
internal import Transport

/// The states and counters for operators.
extension GatewayService {
    /// Whether the gateway can answer requests: it is not stopping, and the storage can be used.
    package func isReady() async -> Bool {
        if isStopping { return false }
        return (try? await storage.openRows()) != nil
    }

    /// Returns the counters in the format of Prometheus.
    package func metricsText() async -> String {
        var gauges = [
            GatewayMetrics.Gauge(
                "gateway_requests_in_progress", "Requests in progress.", [("", Int64(requestsInProgress))])
        ]
        if let open = try? await storage.openRows() {
            let names: [(LedgerRow.UnitState, String)] = [(.sending, "sending"), (.doubt, "doubt")]
            gauges.append(
                GatewayMetrics.Gauge(
                    "gateway_ledger_rows", "Rows of the ledger without an outcome.", label: "state",
                    names.map { ($1, Int64(open[$0] ?? 0)) }))
        }
        let pools = [("ledger", storage.poolUse), ("feeds", feeds?.storage.poolUse)]
        gauges += PoolUse.gauges(pools.compactMap { name, use in use.map { (name, $0) } })
        if let feeds { gauges += await feeds.ages() }
        return metrics.snapshot.text(gauges)
    }

    /// Counts a response.
    func observe(_ kind: String, status: Int, since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = start.duration(to: .now).components
        let microseconds = seconds &* 1_000_000 &+ attoseconds / 1_000_000_000_000
        metrics.change { metrics in
            metrics.add(to: .requests, kind, "\(status / 100)xx")
            metrics.observe(microseconds: microseconds, kind: kind)
        }
    }

    func count(_ family: GatewayMetrics.Family, _ label: String) { metrics.change { $0.add(to: family, label) } }

    func count(_ family: GatewayMetrics.Family, _ first: String, _ second: String) {
        metrics.add(family, first, second)
    }

    func countError(_ error: TransportError, _ endpoint: GatewayConfiguration.Endpoint) {
        count(.originErrors, endpoint.name, "\(error.code)")
    }

    func count(_ verdicts: [LedgerVerdict]) {
        for verdict in verdicts {
            let name =
                switch verdict {
                case .send: "sent"
                case .replay: "replayed"
                case .wait: "waited"
                case .refuse(let refusal): "refused_\(refusal)"
                }
            count(.ledgerVerdicts, name)
        }
    }

    func count(_ completions: [LedgerCompletion]) {
        for completion in completions {
            let name =
                switch completion.end {
                case .done: "done"
                case .doubt: "doubt"
                case .notExecuted: "not_executed"
                }
            count(.ledgerEnds, name)
        }
    }
}

extension RequestClass.RequestKind {
    /// The label of the kind in counters.
    var label: String {
        switch self {
        case .read: "read"
        case .metadata: "metadata"
        case .multipartBatch, .jsonBatch: "batch"
        case .modification: "modification"
        }
    }
}

/// The counters of a gateway, shared by its parts.
final class MetricsBox: Sendable {
    private let metrics = Mutex(GatewayMetrics())

    var snapshot: GatewayMetrics { metrics.withLock { $0 } }

    func change(_ body: (inout GatewayMetrics) -> Void) { metrics.withLock { body(&$0) } }

    func add(_ family: GatewayMetrics.Family, _ first: String, _ second: String) {
        change { $0.add(to: family, first, second) }
    }
}
