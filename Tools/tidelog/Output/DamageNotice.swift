internal import OperationLog
internal import Synchronization

/// The report of damage of a log before its readable rest is used.
struct DamageNotice {
    private let salvage: RepairPlan.Salvage
    private let log: String

    init(_ salvage: RepairPlan.Salvage, log: String) {
        self.salvage = salvage
        self.log = log
    }

    private static let reported = Mutex<Set<String>>([])

    /// Prints the report, only once in a process.
    func warn() {
        guard Self.reported.withLock({ $0.insert(log).inserted }) else { return }
        Console.printError("tidelog: \(line)")
    }

    private var line: String {
        let lost = salvage.lost
        guard lost.count > 0 else {
            return "The log \(oneLine(log)) is damaged, but no record is lost. Run 'tidelog repair'."
        }
        return
            "The log \(oneLine(log)) is damaged: \(counted(lost.count, "record is", "records are")) lost (\(lost.words)). The "
            + "output is based on the readable records. Run 'tidelog repair' for details."
    }
}

extension LostRecords {
    private static let shownRanges = 10

    /// The numbers as text, such as `3, 12 to 14`.
    var words: String {
        let shown = ranges.prefix(Self.shownRanges).map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
        return shown.joined(separator: ", ") + (ranges.count > Self.shownRanges ? ", …" : "")
    }
}
