/// The counters of a gateway since its start, and their text in the format of Prometheus (version 0.0.4).
package struct GatewayMetrics: Sendable, Hashable {
    /// A family of counters. The labels are in the order of ``labels``.
    package enum Family: String, Sendable, Hashable, CaseIterable {
        /// Requests of clients by their kind and the class of the status.
        case requests = "gateway_requests_total"
        /// Bytes of the bodies of responses.
        case responseBytes = "gateway_response_bytes_total"
        /// Decisions of the ledger on units.
        case ledgerVerdicts = "gateway_ledger_verdicts_total"
        /// Recorded ends of attempts.
        case ledgerEnds = "gateway_ledger_ends_total"
        /// Responses of services that were not received, by the reason.
        case originErrors = "gateway_origin_errors_total"
        /// Reads of shared feeds by the form of the response.
        case feedReads = "gateway_feed_reads_total"
        /// Refreshes of shared feeds by their end.
        case feedRefreshes = "gateway_feed_refreshes_total"
        /// Permission probes by their result.
        case permissionProbes = "gateway_permission_probes_total"

        var labels: [String] {
            switch self {
            case .requests: ["kind", "status"]
            case .responseBytes: ["kind"]
            case .ledgerVerdicts: ["verdict"]
            case .ledgerEnds: ["end"]
            case .originErrors: ["endpoint", "reason"]
            case .feedReads: ["feed", "form"]
            case .feedRefreshes: ["feed", "end"]
            case .permissionProbes: ["feed", "result"]
            }
        }

        var help: String {
            switch self {
            case .requests: "Requests of clients."
            case .responseBytes: "Bytes of the bodies of answers."
            case .ledgerVerdicts: "Decisions of the ledger on units of uploads."
            case .ledgerEnds: "Ends of attempts to execute a unit."
            case .originErrors: "Responses of services that were not received."
            case .feedReads: "Answers from shared feeds."
            case .feedRefreshes: "Readings of services for shared feeds."
            case .permissionProbes: "Probes whether a user may read a shared feed."
            }
        }
    }

    /// A value that is determined when the text is written.
    package struct Gauge: Sendable, Hashable {
        let name: String
        let help: String
        let values: [(label: String, value: Int64)]
        let label: String
        let isCounter: Bool

        /// - Parameter isCounter: Whether the value only grows while the process runs.
        package init(
            _ name: String, _ help: String, label: String = "", isCounter: Bool = false,
            _ values: [(label: String, value: Int64)]
        ) {
            self.isCounter = isCounter
            self.name = name
            self.help = help
            self.label = label
            self.values = values
        }

        package static func == (a: Gauge, b: Gauge) -> Bool { a.text == b.text }
        package func hash(into hasher: inout Hasher) { hasher.combine(text) }

        var text: String {
            let lines = values.map { "\(name)\(GatewayMetrics.labels([label], [$0.label])) \($0.value)\n" }
            return "# HELP \(name) \(help)\n# TYPE \(name) \(isCounter ? "counter" : "gauge")\n\(lines.joined())"
        }
    }

    private struct Series: Sendable, Hashable {
        let family: Family
        let labels: [String]
    }

    /// The upper bounds of the buckets for latencies, in milliseconds.
    private static let bounds: [Int64] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000]

    private struct Histogram: Sendable, Hashable {
        var counts = [Int64](repeating: 0, count: GatewayMetrics.bounds.count + 1)
        var microseconds: Int64 = 0
    }

    /// The largest number of series: labels are bounded, but an error must not fill the memory.
    private static let maximumSeries = 10_000

    private var counters: [Series: Int64] = [:]
    private var latencies: [String: Histogram] = [:]

    package init() {}

    /// Adds to a counter. Additions to new series are dropped if there are too many.
    package mutating func add(_ count: Int64 = 1, to family: Family, _ labels: String...) {
        let series = Series(family: family, labels: labels)
        guard counters[series] != nil || counters.count < Self.maximumSeries else { return }
        counters[series, default: 0] &+= count
    }

    /// The value of a counter.
    package func value(_ family: Family, _ labels: String...) -> Int64 {
        counters[Series(family: family, labels: labels)] ?? 0
    }

    /// Adds the time until the head of a response.
    package mutating func observe(microseconds: Int64, kind: String) {
        let bucket = Self.bounds.firstIndex { microseconds <= $0 * 1_000 } ?? Self.bounds.count
        latencies[kind, default: Histogram()].counts[bucket] += 1
        latencies[kind, default: Histogram()].microseconds &+= microseconds
    }

    // MARK: Text

    /// Returns the text for a scraper. Lines are sorted.
    package func text(_ gauges: [Gauge] = []) -> String {
        var text = ""
        for family in Family.allCases {
            let known = counters.filter { $0.key.family == family }
            if known.isEmpty { continue }
            text += "# HELP \(family.rawValue) \(family.help)\n# TYPE \(family.rawValue) counter\n"
            let lines = known.map { "\(family.rawValue)\(Self.labels(family.labels, $0.key.labels)) \($0.value)\n" }
            text += lines.sorted().joined()
        }
        text += latencyText
        return text + gauges.map(\.text).joined()
    }

    private var latencyText: String {
        let name = "gateway_request_seconds"
        if latencies.isEmpty { return "" }
        var text = "# HELP \(name) Time until the head of the answer.\n# TYPE \(name) histogram\n"
        for (kind, histogram) in latencies.sorted(by: { $0.key < $1.key }) {
            var total: Int64 = 0
            for (bound, count) in zip(Self.bounds.map { Self.seconds($0 * 1_000) } + ["+Inf"], histogram.counts) {
                total += count
                text += "\(name)_bucket\(Self.labels(["kind", "le"], [kind, bound])) \(total)\n"
            }
            text += "\(name)_sum\(Self.labels(["kind"], [kind])) \(Self.seconds(histogram.microseconds))\n"
            text += "\(name)_count\(Self.labels(["kind"], [kind])) \(total)\n"
        }
        return text
    }

    /// Returns a decimal number of seconds.
    private static func seconds(_ microseconds: Int64) -> String {
        let fraction = String(microseconds % 1_000_000 + 1_000_000).dropFirst()
        let digits = fraction.reversed().drop { $0 == "0" }.reversed()
        return "\(microseconds / 1_000_000)" + (digits.isEmpty ? "" : "." + String(digits))
    }

    fileprivate static func labels(_ names: [String], _ values: [String]) -> String {
        let pairs = zip(names, values).filter { !$0.0.isEmpty }.map { "\($0)=\"\(escaped($1))\"" }
        return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n", "\r\n": result += "\\n"
            default: result.append(character)
            }
        }
    }
}
