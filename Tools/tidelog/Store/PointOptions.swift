internal import ArgumentParser
internal import EDM
internal import LogInspection
internal import Operations
internal import SyncEngine
internal import Tidelog

/// `--at SEQ|TIME`, on commands that look at the store and can look at it as it was.
struct PointOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The store as it was behind the operation with this number, or at this time: 2026-11-21T07:43:17Z, without a \
            zone in UTC.
            """, valueName: "seq|time"))
    var at: PointArgument?
}

/// A place in the history as people write it.
struct PointArgument: ExpressibleByArgument {
    let point: PointInTime
    /// As it was written.
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

/// A time as people write it: `2026-11-21T07:43:17Z`, without a zone in UTC.
struct TimeArgument: ExpressibleByArgument {
    /// Since 1970.
    let milliseconds: Timestamp

    init?(argument: String) {
        guard let time = GlobalDateTime(argument) ?? GlobalDateTime(argument + "Z") else { return nil }
        milliseconds = time.millisecondsSince1970
    }
}

/// A store that can be looked at: as it is, or as it was.
protocol StoreView: DataServiceProvider {
    func operationStatus(_ options: UploadOptions?) async throws(TidelogError) -> [OperationStatus]
    func undoneOperations() async throws(TidelogError) -> [OperationStatus]
    func plannedBatches(_ options: UploadOptions?) async throws(TidelogError) -> [PlannedBatch]
    var serviceOptions: ServiceOptions { get async throws(TidelogError) }
    func use(_ options: ServiceOptions) async throws(TidelogError)
    func keyMap() async throws(TidelogError) -> [KeyAssignment]
    func quarantine() async throws(TidelogError) -> [QuarantineEntry]
}

extension OfflineODataProvider: StoreView {}
extension PastODataProvider: StoreView {}

extension StoreOptions {
    /// Runs the body on the store, which is opened for it and closed again; or on the store as it was, which needs no lock.
    func withView<T>(_ options: PointOptions, _ body: (any StoreView) async throws -> T) async throws -> T {
        guard let at = options.at else { return try await withStore(body) }
        return try await body(try await past(at: at.point))
    }

    /// The store as it was; of a damaged one as far as it can be read.
    func past(at point: PointInTime) async throws -> PastODataProvider {
        let parameters = try parameters
        return try await PastODataProvider(try await inspected.past(at: point), parameters: parameters)
    }
}
