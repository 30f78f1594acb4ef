/// A row of a report: a measurement, its baseline, and its target.
struct Case: Sendable {
    let name: String
    let ours: Double
    let unit: Unit
    var baseline: Baseline?
    var target: Target?

    struct Baseline: Sendable {
        let name: String
        /// The value in the unit of the case, measured in the same run.
        let value: Double
    }

    enum Unit: String, Sendable {
        case operationsPerSecond = "operations/s"
        case rowsPerSecond = "rows/s"
        case commitsPerSecond = "commits/s"
        case bytesPerOperation = "bytes/operation"
        case allocationsPerOperation = "allocations/operation"
        case megabytesPerSecond = "MB/s"
        case nanosecondsPerOperation = "ns/operation"
        case microseconds = "µs"
        case microsecondsPerRow = "µs/row"
        case microsecondsPerOperation = "µs/operation"
        case milliseconds = "ms"
        case mebibytes = "MiB"
    }

    enum Target: Sendable {
        /// The measured value has to be at least this factor times the baseline.
        case ratioAtLeast(Double)
        /// The measured value has to be at most this factor times the baseline.
        case ratioAtMost(Double)
        case atLeast(Double)
        case atMost(Double)
    }

    init(_ name: String, _ ours: Double, _ unit: Unit, against baseline: Baseline? = nil, target: Target? = nil) {
        self.name = name
        self.ours = ours
        self.unit = unit
        self.baseline = baseline
        self.target = target
    }

    /// Returns a row that compares the limit of a measurement, the same work without the engine, with the baseline of
    /// its target. It shows which targets no engine can meet that does this work.
    static func limit(of name: String, _ limit: Baseline, _ unit: Unit, against baseline: Baseline) -> Case {
        Case("\(name): \(limit.name)", limit.value, unit, against: baseline)
    }

    /// The measured value divided by the baseline's.
    var ratio: Double? { baseline.map { ours / $0.value } }

    /// Whether the target is met; nil if there is none, or if it cannot be evaluated.
    var isMet: Bool? {
        switch target {
        case nil: nil
        case .ratioAtLeast(let least): ratio.map { $0 >= least }
        case .ratioAtMost(let most): ratio.map { $0 <= most }
        case .atLeast(let least): ours >= least
        case .atMost(let most): ours <= most
        }
    }
}

extension Case.Target: CustomStringConvertible {
    var description: String {
        switch self {
        case .ratioAtLeast(let least): "ratio ≥ \(NumberText.short(least))"
        case .ratioAtMost(let most): "ratio ≤ \(NumberText.short(most))"
        case .atLeast(let least): "≥ \(NumberText.short(least))"
        case .atMost(let most): "≤ \(NumberText.short(most))"
        }
    }
}

/// A row as JSON. It always contains every member; inapplicable ones are null.
extension Case: Encodable {
    private enum Member: String, CodingKey {
        case name = "case", ours, unit, baseline, ratio, target, met
    }

    private enum BaselineMember: String, CodingKey {
        case name, value
    }

    func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: Member.self)
        try row.encode(name, forKey: .name)
        try row.encode(ours, forKey: .ours)
        try row.encode(unit.rawValue, forKey: .unit)
        if let baseline {
            var nested = row.nestedContainer(keyedBy: BaselineMember.self, forKey: .baseline)
            try nested.encode(baseline.name, forKey: .name)
            try nested.encode(baseline.value, forKey: .value)
        } else {
            try row.encodeNil(forKey: .baseline)
        }
        try row.encode(ratio, forKey: .ratio)
        try row.encode(target?.description, forKey: .target)
        try row.encode(isMet, forKey: .met)
    }
}
