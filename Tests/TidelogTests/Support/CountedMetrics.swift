import Metrics
import Synchronization

/// Values of the swift-metrics counters while a body runs. Excludes counts of other tests in the same process.
final class CountedMetrics: Sendable {
    /// Counts by label, followed by `name=value` for each dimension.
    private let counts = Mutex<[String: Int64]>([:])

    /// The counts of the current task.
    @TaskLocal fileprivate static var current: CountedMetrics?

    /// A process can set its metrics system only once.
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
