import EDM
import ODataQuery
import ODataWire
public import OfflineStore
public import OperationLog
import Operations
import SyncCore

/// Builds a store from the lines of a ``LogExport``.
///
/// The store receives its name only in ``finish()``, so no files remain after a failure.
public final class LogImport {
    /// The result of an import.
    public struct Summary: Sendable, Hashable {
        /// The number of imported records.
        public let records: UInt64
        /// The sequence number of the last record in the new log.
        public let lastSequence: UInt64
        /// The number of unsent operations without their stream, as in ``LogExport/Summary/missingStreams``. They
        /// cannot be sent until the files are in the store's `streams` directory or the streams are written again.
        public let missingStreams: Int
    }

    private let unfinished: UnfinishedStore
    private let keys: [LogKey]
    private var line = 0
    private var log: LogCopy?
    private var description: StoreDescription?
    private var service: ServiceDescription?
    private var records: UInt64 = 0
    private var checksum = FNV1a()
    private var streams = StreamWrites()
    private var hasSnapshot = false
    private var first: UInt64 = 1
    private var isEnded = false
    private var isDone = false
    private let decoder = RecordDecoder()

    /// Begins an import.
    ///
    /// - Parameters:
    ///   - directory: The directory of the store, which must not exist.
    ///   - keys: The keys of the new store, of which the first one encrypts it.
    /// - Throws: `invalidRequest` if the directory already exists.
    public init(to directory: String, keys: [LogKey] = []) throws(TidelogError) {
        unfinished = try UnfinishedStore(directory)
        self.keys = keys
    }

    deinit { if !isDone { unfinished.discard() } }

    /// Adds the next line, without its line end. Empty lines are ignored.
    ///
    /// - Throws: `invalidRequest` if it is no line of an export, or not the expected one. The message contains the line
    ///   number.
    public func add(line bytes: [UInt8]) throws(TidelogError) {
        line += 1
        guard !bytes.isEmpty else { return }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue.parse(bytes)
        } catch {
            throw failure("is not JSON: \(error)")
        }
        guard json.object != nil else { throw failure("is not an object") }
        guard !isEnded else { throw failure("follows the end") }
        guard log != nil else { return try begin(json) }
        if json["end"] != nil { return try end(json) }
        try add(json)
    }

    /// Completes the store and gives it its name.
    ///
    /// - Throws: `invalidRequest` if the end of the export is missing.
    public func finish() throws(TidelogError) -> Summary {
        guard isEnded, let log else {
            line += 1
            throw failure("is missing: the export is incomplete")
        }
        do throws(LogError) {
            try log.finish()
        } catch {
            throw TidelogError(error)
        }
        guard let description = description ?? service.map({ StoreDescription(serviceRoot: $0.root) }) else {
            throw TidelogError(
                .invalidRequest, "The export does not contain the service.", recovery: "Export the whole log.")
        }
        try unfinished.finish(description, keys: keys)
        isDone = true
        return Summary(records: records, lastSequence: log.nextSequence - 1, missingStreams: streams.count)
    }

    private func begin(_ json: JSONValue) throws(TidelogError) {
        guard let version = json["tidelogExport"]?.integer else { throw failure("is not the first one of an export") }
        guard version == LogExport.version else {
            throw failure("has format version \(version), which this version of Tidelog does not support")
        }
        guard let store = json["storeIdentifier"]?.string.flatMap(Self.identifier),
            let number = json["firstSequence"]?.integer, number > 0
        else { throw failure("has no store identifier or no first sequence number") }
        guard json["complete"] == .boolean(true) else {
            throw TidelogError(
                .invalidRequest,
                "The export begins with operation \(number) and does not contain the state before it.",
                recovery: "Export the log from its beginning.")
        }
        if let root = json["serviceRoot"]?.string { description = StoreDescription(serviceRoot: root) }
        try takeOptions(json["service"])
        first = UInt64(number)
        do throws(LogError) {
            log = try LogCopy(directory: unfinished.files.log, store: store, firstSequence: first, keys: keys)
        } catch {
            throw TidelogError(error)
        }
    }

    private func takeOptions(_ json: JSONValue?) throws(TidelogError) {
        guard let members = json?.object?.members, description != nil else { return }
        var options = ServiceOptions()
        for member in members {
            do throws(ServiceOptions.InvalidOption) {
                try options.set(member.name, to: member.value.string ?? "")
            } catch {
                throw failure("has an unknown service option: \(error)")
            }
        }
        description?.service = options
    }

    private func add(_ json: JSONValue) throws(TidelogError) {
        guard let log else { return }
        guard let number = json["kindNumber"]?.integer, let kind = UInt8(exactly: number),
            let text = json["payload"]?.string, let payload = Base64.decode(Array(text.utf8))
        else { throw failure("has no kind number or no bytes in Base64") }
        let place = json["snapshot"] ?? json["sequence"]
        guard let sequence = place?.integer, sequence > 0, UInt64(sequence) == log.nextSequence else {
            throw failure("is not operation \(log.nextSequence), which must be next")
        }
        checksum.add(kind, payload)
        do {
            if json["snapshot"] != nil {
                hasSnapshot = true
                try check(snapshotItem: kind, payload)
                streams.add(snapshotItem: kind, payload)
                try log.addSnapshotItem(kind: kind, payload: payload)
            } else {
                records += 1
                try check(
                    record: kind, payload, at: log.nextSequence,
                    isUndecodable: json["kind"]?.string == "undecodable")
                try log.add(kind: kind, payload: payload)
            }
        } catch {
            switch error {
            case let error as LogError: throw TidelogError(error)
            case let error as TidelogError: throw error
            default: throw failure("cannot be imported: \(error)")
            }
        }
    }

    private func check(
        record kind: UInt8, _ payload: [UInt8], at sequence: UInt64, isUndecodable: Bool
    ) throws(TidelogError) {
        do throws(CodecError) {
            let record = try decoder.decode(kind: kind, payload: payload)
            if case .serviceInstalled(let installed) = record.body { service = installed }
            streams.add(record.body, sequence)
        } catch {
            // The record was already undecodable in the exported log.
            guard !isUndecodable else { return }
            throw failure("has bytes that are not a record of kind \(kind): \(error)")
        }
    }

    private func check(snapshotItem kind: UInt8, _ payload: [UInt8]) throws(TidelogError) {
        guard kind == SnapshotCodec.ItemKind.service.rawValue, let known = SnapshotCodec.ItemKind(rawValue: kind) else {
            return
        }
        guard case .service(let installed)? = try? SnapshotCodec.decode(known, payload: payload) else {
            throw failure("has bytes that are not an item of a snapshot")
        }
        service = installed
    }

    private func end(_ json: JSONValue) throws(TidelogError) {
        guard let log, json["lastSequence"]?.integer == Int64(exactly: log.nextSequence - 1),
            json["records"]?.integer == Int64(exactly: records), json["checksum"]?.string == checksum.text
        else { throw failure("does not match the records before it") }
        guard first == 1 || hasSnapshot else { throw failure("ends the export before the snapshot that it requires") }
        isEnded = true
    }

    private func failure(_ what: String) -> TidelogError {
        TidelogError(
            .invalidRequest, "Line \(line) of the export \(RecordSummary.oneLine(what, limit: 300)).",
            recovery: "Export the store again with 'tidelog export'.")
    }

    private static func identifier(_ text: String) -> StoreIdentifier? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return StoreIdentifier(bytes: bytes)
    }
}
