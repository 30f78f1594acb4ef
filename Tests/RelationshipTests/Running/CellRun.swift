import EDM
import Foundation
import ODataSandbox
import ODataWire
import SyncCore
import TestSupport
import Tidelog

/// Carries a cell out: the call, a look at both ends, upload, download, and a look at the service.
final class CellRun {
    private let cell: Cell
    private let combination: Combination
    private let provider: OfflineODataProvider
    private let service: DataService
    private let transport: SandboxTransport
    private let path: String
    private var entities: [Call.Name: EntityValue] = [:]
    /// The readLinks that new entities got at their creation: good for ever.
    private var links: [Call.Name: String] = [:]

    private init(
        _ cell: Cell, _ combination: Combination, _ provider: OfflineODataProvider, _ transport: SandboxTransport,
        _ path: String
    ) {
        self.cell = cell
        self.combination = combination
        self.provider = provider
        self.transport = transport
        self.path = path
        service = DataService(provider: provider)
    }

    static func observe(_ cell: Cell, on template: Template) async throws -> Observation {
        try await template.withCopy { provider, transport, path in
            try await CellRun(cell, template.combination, provider, transport, path).observe()
        }
    }

    private func observe() async throws -> Observation {
        for name in cell.call.names where !name.isNew && entities[name] == nil {
            entities[name] = try await load(name.set, "\(name)")
        }
        let before = try await trace()
        do {
            try await perform(cell.call)
        } catch let error as TidelogError {
            guard case .refused(let code) = error.code else { throw error }
            return Observation(
                refusal: Observation.Refusal(
                    code: code.rawValue, message: error.message, recovery: error.recovery ?? "",
                    leftNoTrace: try await trace() == before),
                local: try await view())
        }
        for (name, entity) in entities where name.isNew { links[name] = entity.readLink }
        let local = try await view()
        return Observation(local: local, synchronization: try await synchronize())
    }

    /// Everything that a refused call must leave as it was: the state's digest and the log's bytes.
    private func trace() async throws -> [String] {
        let log = URL(fileURLWithPath: path).appendingPathComponent("log")
        let files = try FileManager.default.contentsOfDirectory(atPath: log.path).sorted()
        let contents = try files.map { name in
            name + ":" + (try Data(contentsOf: log.appendingPathComponent(name))).base64EncodedString()
        }
        return [try await provider.stateDigest()] + contents
    }

    private func synchronize() async throws -> Observation.Synchronization {
        let planned = try await provider.plannedBatch()
        transport.forgetRequests()
        let report = try await provider.upload()
        let batches = transport.requests.filter { $0.method == "POST" }
        let afterUpload = try await view()
        try await provider.download()
        return Observation.Synchronization(
            planned: planned.map { WireRequest(method: "POST", url: $0.url, headers: $0.headers, body: $0.body) },
            batches: batches,
            failures: report.rejected.map { "\($0)" } + report.inDoubt.map { "operation \($0) is in doubt" }
                + (report.remaining == 0 ? [] : ["\(report.remaining) operations remain"]),
            afterUpload: afterUpload, afterDownload: try await view(), server: try await serverView())
    }

    // MARK: Calls

    private func perform(_ call: Call) async throws {
        switch call {
        case .createLink(let from, let to):
            try await service.createLink(
                from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .updateLink(let from, let to):
            try await service.updateLink(
                from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .deleteLink(let from, let to):
            try await service.deleteLink(
                from: try entity(from.entity), property: try property(from), to: try to.map { try entity($0) })
        case .createEntity(let draft): try await service.createEntity(try prepare(draft))
        case .createRelatedEntity(let draft, let place):
            try await service.createRelatedEntity(
                try prepare(draft), in: try entity(place.entity), property: try property(place))
        case .updateEntity(let draft): try await service.updateEntity(try prepare(draft))
        case .deleteEntity(let name): try await service.deleteEntity(try entity(name))
        case .changeSet(let calls):
            let changes = ChangeSet()
            for call in calls { try record(call, in: changes) }
            try await service.applyChanges(changes)
        }
    }

    private func record(_ call: Call, in changes: ChangeSet) throws {
        switch call {
        case .createLink(let from, let to):
            changes.createLink(from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .updateLink(let from, let to):
            changes.updateLink(from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .deleteLink(let from, let to):
            changes.deleteLink(
                from: try entity(from.entity), property: try property(from), to: try to.map { try entity($0) })
        case .createEntity(let draft): changes.createEntity(try prepare(draft))
        case .createRelatedEntity(let draft, let place):
            changes.createRelatedEntity(
                try prepare(draft), in: try entity(place.entity), property: try property(place))
        case .updateEntity(let draft): changes.updateEntity(try prepare(draft))
        case .deleteEntity(let name): changes.deleteEntity(try entity(name))
        case .changeSet: preconditionFailure("A change set holds no change set.")
        }
    }

    private func prepare(_ draft: Call.Draft) throws -> EntityValue {
        let entity = try entity(draft.entity)
        for (name, value) in draft.values {
            entity.setDataValue(for: try property(draft.entity.set, name), to: value.map { .integer(Int64($0)) })
        }
        for (name, target) in draft.bound {
            entity.bindEntity(try self.entity(target), to: try property(draft.entity.set, name))
        }
        for (name, targets) in draft.related {
            let property = try property(draft.entity.set, name)
            let values = try targets.map { try prepare($0) }
            if property.isCollection {
                property.setEntityList(in: entity, to: values)
            } else {
                property.setEntityValue(in: entity, to: values[0])
            }
        }
        return entity
    }

    /// One object for each name of the cell; a new entity has its label property set, and no key.
    private func entity(_ name: Call.Name) throws -> EntityValue {
        if let known = entities[name] { return known }
        let entity = EntityValue(try type(name.set))
        let end = name.set == combination.first.set ? combination.first : combination.second
        entity[end.label] = .string("new")
        entities[name] = entity
        return entity
    }

    private func type(_ set: String) throws -> EntityType { try service.entitySet(withName: set).entityType }

    private func property(_ set: String, _ name: String) throws -> Property { try type(set).property(withName: name) }

    private func property(_ place: Call.Place) throws -> Property { try property(place.entity.set, place.navigation) }

    // MARK: Looking

    private func load(_ set: String, _ readLink: String) async throws -> EntityValue {
        let entity = EntityValue(try type(set))
        entity.readLink = readLink
        try await service.loadEntity(entity)
        return entity
    }

    /// New entities that are still there, as they are now.
    private func newEntities() async throws -> [(name: Call.Name, entity: EntityValue)] {
        var found: [(name: Call.Name, entity: EntityValue)] = []
        for (name, link) in links { found.append((name, try await load(name.set, link))) }
        return found
    }

    private func view() async throws -> View {
        var labels: [String: String] = [:]
        for (name, entity) in try await newEntities() { labels[entity.readLink ?? ""] = name.label }
        func label(_ entity: EntityValue) -> String {
            labels[entity.readLink ?? ""] ?? entity.key.map { "\($0.values[0].value.integerValue ?? 0)" } ?? "?"
        }
        var contradictions: [String] = []
        var seen: [[(label: String, partners: [String])]] = []
        for end in [combination.first, combination.second] {
            let navigation = try property(end.set, end.navigation)
            let query = DataQuery().from(try service.entitySet(withName: end.set)).expand(navigation)
            var entries: [(label: String, partners: [String])] = []
            for entity in try await service.executeQuery(query).entityList() {
                let partners = entity.relatedEntities(navigation)
                entries.append((label(entity), partners.map(label)))
                if let constraint = end.constraint {
                    let named = entity[constraint]?.integerValue
                    let key = partners.first?.key?.values[0].value.integerValue
                    if named != key {
                        contradictions.append("\(end.set)(\(label(entity)))/\(constraint) is \(named ?? 0)")
                    }
                }
                let again = EntityValue(entity.entityType)
                again.readLink = entity.readLink
                try await service.loadProperty(navigation, into: again)
                let loaded = again.relatedEntities(navigation).map(label).sorted()
                if loaded != partners.map(label).sorted() {
                    contradictions.append("\(end.set)(\(label(entity)))/\(end.navigation) loads \(loaded)")
                }
            }
            seen.append(entries)
        }
        let (firsts, seconds) = (seen[0].map(\.label), seen[1].map(\.label))
        return View(
            first: View.text(firsts, seconds, seen[0].flatMap { entry in entry.partners.map { (entry.label, $0) } }),
            second: View.text(firsts, seconds, seen[1].flatMap { entry in entry.partners.map { ($0, entry.label) } }),
            contradictions: contradictions)
    }

    /// The same of what the service holds, read from its printed state.
    private func serverView() async throws -> View {
        var labels: [String: String] = [:]
        for (name, entity) in try await newEntities() {
            guard let key = entity.key?.values[0].value.integerValue else { continue }
            labels["\(name.set)(\(key))"] = name.label
        }
        func label(_ name: Substring) -> String {
            labels[String(name)] ?? Call.Name(stringLiteral: String(name)).label
        }
        var seen: [[(label: String, partners: [String])]] = []
        for set in [combination.first.set, combination.second.set] {
            var entries: [(label: String, partners: [String])] = []
            for line in transport.sandbox.stateText(of: [set], values: false).split(separator: "\n") {
                if line.hasPrefix("  ") {
                    let names = line.split(separator: ":", maxSplits: 1)[1].split(separator: ",")
                    entries[entries.count - 1].partners = names.map { label($0.drop { $0 == " " }) }
                } else {
                    entries.append((label(line), []))
                }
            }
            seen.append(entries)
        }
        let (firsts, seconds) = (seen[0].map(\.label), seen[1].map(\.label))
        return View(
            first: View.text(firsts, seconds, seen[0].flatMap { entry in entry.partners.map { (entry.label, $0) } }),
            second: View.text(firsts, seconds, seen[1].flatMap { entry in entry.partners.map { ($0, entry.label) } }))
    }
}
