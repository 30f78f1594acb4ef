import EDM
import ODataQuery
import Operations
import SyncCore
import Views

/// Queries on the pending operations as entities of `ErrorArchive` and `RequestQueue`, and on the `EventLog`; see
/// ``QueueModel``.
struct QueueQueries {
    let core: StoreCore

    /// Returns the operations that were rejected, are in doubt or wait for a conflict decision, in order.
    func errorArchive() throws(TidelogError) -> [ErrorArchiveEntry] {
        let reader = try queueReader()
        var conflicts: [SequenceNumber: Conflict] = [:]
        for conflict in try ConflictFinder.conflicts(in: core) {
            for operation in conflict.operations { conflicts[operation] = conflict }
        }
        return try core.read { state throws in
            var found = try state.pendingOperations(.rejected) + state.pendingOperations(.inDoubt)
            let known = Set(found.map(\.sequence))
            for operation in conflicts.keys where !known.contains(operation) {
                if let pending = try state.pendingOperation(operation) { found.append(pending) }
            }
            return try found.sorted { $0.sequence < $1.sequence }.compactMap {
                try reader.archived($0, conflict: conflicts[$0.sequence])
            }
        }
    }

    /// Returns the number of the operation for a link such as `ErrorArchive(5)`, or nil for any other link.
    func archivedOperation(_ link: String) throws(TidelogError) -> SequenceNumber? {
        guard let url = try url(link), url.navigation == nil, url.own.hasPrefix(QueueModel.archive + "(") else {
            return nil
        }
        return try queueRows(url).first.map(\.id.rawValue)
    }

    func url(_ url: String) throws(TidelogError) -> QueueURL? { try self.url(encoded: URLText.encoded(url)) }

    /// Parses a percent-encoded URL as ``url(_:)`` does.
    func url(encoded url: String) throws(TidelogError) -> QueueURL? {
        guard core.hasModel else { return nil }
        return QueueURL(url, root: try core.service?.root, service: try core.model)
    }

    /// Returns the result of a query on the queue.
    ///
    /// - Parameter url: A result of ``url(_:)``.
    func answer(_ url: QueueURL) throws(TidelogError) -> QueryAnswer {
        guard let navigation = url.navigation else {
            return try answer(try queueRequest(url.own))
        }
        guard let row = try queueRows(url).first else {
            throw TidelogError(.notFound, "The request does not exist.", place: url.own)
        }
        return try answer(navigation, of: row, url.rest)
    }

    /// Returns the result for a navigation property of an entity of the queue or the archive.
    ///
    /// - Parameter url: A result of ``url(_:)`` without a navigation property.
    func answer(_ url: QueueURL, _ property: Property, _ options: QueryOptions) throws(TidelogError) -> QueryAnswer {
        let version = try core.model.version
        let text: String
        do throws(URLSyntaxError) {
            text = try options.print(version: version)
        } catch {
            throw TidelogError(error)
        }
        return try answer(QueueURL(url, property.name, rest: text.isEmpty ? "" : "?" + text))
    }

    /// Returns the result for a navigation property of a row.
    ///
    /// - Parameter rest: The URL after the navigation property.
    func answer(_ navigation: String, of row: EntityRow, _ rest: String) throws(TidelogError) -> QueryAnswer {
        if navigation == QueueModel.affectedEntity {
            guard case .string(let link)? = row.values["EntityLink"] else { return QueryAnswer(entities: []) }
            return try StoreQueries(core: core).query(link + rest)
        }
        return try answer(
            try queueRequest(QueueModel.queue + rest), from: try dependentRequests()[row.id.rawValue] ?? [])
    }

    /// Returns the operations that wait for another operation, grouped by that operation.
    private func dependentRequests() throws(TidelogError) -> [SequenceNumber: [EntityRow]] {
        let held = try UploadPlans(core: core).plan().held
        var found: [SequenceNumber: [EntityRow]] = [:]
        for row in try queueRows(QueueModel.queue) {
            if let other = held[row.id.rawValue]?.waitsFor { found[other, default: []].append(row) }
        }
        return found
    }

    func answer(_ request: ServiceRequest) throws(TidelogError) -> QueryAnswer {
        try answer(request, from: try queueRows(request))
    }

    private func queueRequest(_ url: String) throws(TidelogError) -> ServiceRequest {
        let version = try core.model.version
        do throws(URLSyntaxError) {
            return try ServiceRequest.parse(url, model: QueueModel.model, version: version)
        } catch {
            throw TidelogError(error)
        }
    }

    private func answer(_ request: ServiceRequest, from rows: [EntityRow]) throws(TidelogError) -> QueryAnswer {
        let navigation = try QueueNavigation(
            model: core.model, now: GlobalDateTime(millisecondsSince1970: core.environment.now()),
            dependents: try asksForDependents(request.options) ? dependentRequests() : [:])
        let found = try core.read { _ in
            do {
                let query = navigation.query(try core.views)
                var count: Int64?
                if request.options.count == true || request.path.target == .count {
                    var all = request.options
                    (all.top, all.skip, all.orderBy) = (nil, nil, [])
                    count = try query.apply(all, to: rows).count
                }
                let found = request.path.target == .count ? [] : try query.apply(request.options, to: rows).rows
                return (rows: found, count: count)
            } catch let error as EvaluationError {
                throw TidelogError(error)
            }
        }
        let isSingle = if case .entity = request.path.target { true } else { false }
        var entities: [EntitySnapshot] = []
        for row in found.rows {
            var snapshot = Self.snapshot(row, request.options)
            for item in request.options.expand { snapshot.expanded += try expanded(item, of: row) }
            entities.append(snapshot)
        }
        return QueryAnswer(
            entities: entities, count: found.count, isSingle: isSingle,
            form: request.path.target == .count ? .count : .entities)
    }

    private static func snapshot(_ row: EntityRow, _ options: QueryOptions) -> EntitySnapshot {
        let link = "\(row.set)(\(row.id.rawValue))"
        var values = row.values
        let key = row.set == QueueModel.events ? "ID" : "RequestID"
        var selected: Set<String> = options.select.isEmpty ? Set(values.names) : [key]
        for case .name(let name)? in options.select.map(\.path.first) { selected.insert(name) }
        for case .star? in options.select.map(\.path.first) { selected = Set(values.names) }
        for name in values.names where !selected.contains(name) { values[name] = nil }
        return EntitySnapshot(
            set: row.set, type: row.type, values: values, readLink: link, editLink: link,
            state: Self.state(of: row.set))
    }

    private static func state(of set: String) -> EntitySnapshot.SyncState {
        switch set {
        case QueueModel.archive: .error
        case QueueModel.events: .clean
        default: .pending
        }
    }

    // MARK: Rows

    private func queueRows(_ url: QueueURL) throws(TidelogError) -> [EntityRow] {
        try queueRows(try queueRequest(String(url.own.prefix { $0 != "?" })))
    }

    private func queueRows(_ request: ServiceRequest) throws(TidelogError) -> [EntityRow] {
        guard case .entitySet(let set)? = request.path.segments.first else { return [] }
        var number: SequenceNumber?
        for segment in request.path.segments.dropFirst() {
            switch segment {
            case .key(.key(let key)):
                if case .integer(let value)? = key.values.first?.value { number = SequenceNumber(exactly: value) ?? 0 }
            case .key(.entityID(let id)): number = id
            case .count: break
            default:
                throw TidelogError(
                    .unsupported,
                    set.name == QueueModel.events
                        ? "\(set.name) supports no further paths."
                        : "\(set.name) supports only the paths AffectedEntity and DependentRequests.")
            }
        }
        let rows = try queueRows(set.name)
        return number.map { number in rows.filter { $0.id.rawValue == number } } ?? rows
    }

    private func queueRows(_ set: String) throws(TidelogError) -> [EntityRow] {
        if set == QueueModel.events { return try core.read { try $0.bookkeeping.events().map(QueueReader.row) } }
        let reader = try queueReader()
        guard set == QueueModel.queue else { return try errorArchive().map { reader.row($0) } }
        let held = try UploadPlans(core: core).plan().held
        return try core.read { state throws in
            try state.pendingOperations().map { try reader.row($0, held: held[$0.sequence]) }
        }
    }

    private func queueReader() throws(TidelogError) -> QueueReader {
        QueueReader(
            state: core.state,
            requests: QueuedRequest(
                state: core.state, model: try core.model, root: try core.service?.root ?? "",
                options: try core.serviceOptions))
    }

    // MARK: Navigation

    /// Returns whether an expression navigates to dependent requests, which requires an upload plan.
    func asksForDependents(_ options: QueryOptions) throws(TidelogError) -> Bool {
        let version = try core.model.version
        do throws(URLSyntaxError) {
            return try options.print(version: version).contains(QueueModel.dependentRequests)
        } catch {
            return true
        }
    }

    /// Returns the entities that `$expand` adds to an entity of the queue or the archive.
    func expanded(_ item: ExpandItem, of row: EntityRow) throws(TidelogError) -> [EntitySnapshot.Expanded] {
        guard case .name(let name)? = item.path.last,
            let property = QueueModel.model.findEntityType(row.type)?.findProperty(name), property.isNavigation
        else {
            throw TidelogError(
                .unsupported,
                "\(row.set) can expand only \(QueueModel.affectedEntity) and \(QueueModel.dependentRequests).")
        }
        let text: String
        do throws(URLSyntaxError) {
            text = try item.options.print(version: .v401)
        } catch {
            throw TidelogError(error)
        }
        do throws(TidelogError) {
            let answer = try self.answer(property.name, of: row, text.isEmpty ? "" : "?" + text)
            let count = item.form == .count ? Int64(answer.entities.count) : answer.count
            var expanded = EntitySnapshot.Expanded(navigation: name, entities: answer.entities, count: count)
            expanded.form = item.form
            return [expanded]
        } catch  where error.code == .notFound {
            return [EntitySnapshot.Expanded(navigation: name, entities: [])]
        }
    }
}

extension HoldReason {
    /// The operation that this one waits for, if there is one.
    fileprivate var waitsFor: SequenceNumber? {
        switch self {
        case .waitsFor(let other), .behindRejected(let other), .behindInDoubt(let other), .behindDeferred(let other),
            .behindDraft(let other), .withOperation(let other):
            other
        default: nil
        }
    }
}
