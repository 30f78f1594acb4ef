internal import OperationLog
internal import Operations

extension Bench {
    static let log = Bench(
        name: "log",
        summary: "The operation log: commits, size, reading; compared with SQLite, RocksDB, zstd and plain writes."
    ) { surroundings in
        var report = Report()
        if let missing = RocksDB.missing { report.notes.append("Without RocksDB: \(missing).") }
        for part in [DurableCommits.measure, BufferedAppends.measure, Allocations.measure, SealedLog.measure] {
            report.cases += try await part(surroundings)
        }
        if let missing = Allocations.missing { report.notes.append(missing) }
        return report
    }
}

/// Logs as the benchmarks create them.
enum BenchLog {
    /// The layout of values in records that the engine passes to its log.
    static let layout = RecordLayout { kind, payload, fields in
        for field in RecordFields.of(kind: kind, payload: payload) {
            switch field.form {
            case .number: fields.append(RecordField(.number, field.range))
            case .text: fields.append(RecordField(.text, field.range))
            case .fixed: fields.append(RecordField(.fixed, field.range))
            }
        }
    }

    static func open(_ path: String, _ options: OperationLog.Options) throws -> OperationLog {
        var options = options
        options.lockPath = path + ".lock"
        return try OperationLog.open(directory: path, options: options).log
    }

    static func open(_ path: String, durability: OperationLog.Options.Durability) throws -> OperationLog {
        try open(path, OperationLog.Options(durability: durability))
    }
}
