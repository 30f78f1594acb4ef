import Metrics
import Synchronization

/// What the counters of swift-metrics got while a body ran, and from it alone: other tests count in the same process.
final class CountedMetrics: Sendable {
    /// By label, with `name=value` behind it for each dimension.
    private let counts = Mutex<[String: Int64]>([:])

    /// Where the task that is counted in stands.
    @TaskLocal fileprivate static var current: CountedMetrics?

    /// A process has one metrics system for good.
    private static let isSetUp: Bool = {
        MetricsSystem.bootstrap(Factory())
        return true
    }()

    static func counting(_ body: () async throws -> Void) async throws -> [String: Int64] {
        precondition(isSetUp)
        let counted = CountedMetrics()
        try await $current.withValue(counted) { try await body() }
        return counted.counts.withLock { $0 }
    }

    fileprivate func add(_ amount: Int64, to name: String) { counts.withLock { $0[name, default: 0] += amount } }
}

private final class Counter: CounterHandler {
    let name: String

    init(_ name: String) { self.name = name }

    func increment(by amount: Int64) { CountedMetrics.current?.add(amount, to: name) }
    func reset() {}
}

private struct Factory: MetricsFactory {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Counter(([label] + dimensions.map { "\($0.0)=\($0.1)" }).joined(separator: " "))
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
