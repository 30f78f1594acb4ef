internal import ArgumentParser
internal import EDM
internal import LogInspection
internal import OfflineStore
internal import Operations
internal import Tidelog

/// The option `--at SEQ|TIME`, on commands that can read the store as of an earlier record.
struct PointOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The store as of the operation with this number, or of this time: 2026-11-21T07:43:17Z, without a \
            zone in UTC.
            """, valueName: "seq|time"))
    var at: PointArgument?
}

/// A position in the history, as an argument.
struct PointArgument: ExpressibleByArgument {
    let point: PointInTime
    /// The text of the argument.
    let text: String

    init?(argument: String) {
        text = argument
        if let sequence = SequenceNumber(argument) {
            point = .sequence(sequence)
        } else if let time = TimeArgument(argument: argument) {
            point = .time(time.milliseconds)
        } else {
            return nil
        }
    }
}

/// A time as an argument: `2026-11-21T07:43:17Z`, in UTC without a zone.
struct TimeArgument: ExpressibleByArgument {
    /// The number of milliseconds since 1970.
    let milliseconds: Timestamp

    init?(argument: String) {
        guard let time = GlobalDateTime(argument) ?? GlobalDateTime(argument + "Z") else { return nil }
        milliseconds = time.millisecondsSince1970
    }
}

/// A store for reading: the current one, or one as of an earlier record.
protocol StoreView: ServiceBackend {
    func operationStatus(_ options: UploadOptions?) async throws(TidelogError) -> [OperationStatus]
    func undoneOperations() async throws(TidelogError) -> [OperationStatus]
    func plannedBatches(_ options: UploadOptions?) async throws(TidelogError) -> [PlannedBatch]
    var serviceOptions: ServiceOptions { get async throws(TidelogError) }
    func use(_ options: ServiceOptions) async throws(TidelogError)
    func keyMap() async throws(TidelogError) -> [KeyAssignment]
    func quarantine() async throws(TidelogError) -> [QuarantineEntry]
}

extension OfflineODataProvider: StoreView {}
extension HistoricalODataProvider: StoreView {}

extension StoreOptions {
    /// Runs the body on the store, which is opened and closed again, or on the store as of a point, which needs no
    /// lock.
    func withView<T>(_ options: PointOptions, _ body: (any StoreView) async throws -> T) async throws -> T {
        guard let at = options.at else { return try await withStore(body) }
        return try await body(try await past(at: at.point))
    }

    /// Returns the store as of a point. A damaged store is read as far as possible.
    func past(at point: PointInTime) async throws -> HistoricalODataProvider {
        let parameters = try parameters
        return try await HistoricalODataProvider(try await inspected.past(at: point), parameters: parameters)
    }
}
