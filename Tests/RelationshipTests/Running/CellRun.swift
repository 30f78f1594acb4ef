import EDM
import Foundation
import ODataSandbox
import ODataWire
import SyncCore
import TestSupport
import Tidelog

/// Runs a cell: the call, a check of both ends, upload, download, and a check of the service.
final class CellRun {
    private let cell: Cell
    private let combination: Combination
    private let provider: OfflineODataProvider
    private let service: DataService
    private let transport: SandboxTransport
    private let path: String
    private let calls: CallRun
    /// The readLinks that new entities received at their creation. They remain valid permanently.
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
        calls = CallRun(service, combination)
    }

    static func observe(_ cell: Cell, on template: Template) async throws -> Observation {
        try await template.withCopy { provider, transport, path in
            try await CellRun(cell, template.combination, provider, transport, path).observe()
        }
    }

    private func observe() async throws -> Observation {
        try await calls.load(cell.call)
        let before = try await trace()
        do {
            try await calls.perform(cell.call)
        } catch let error as TidelogError {
            guard case .refused(let code) = error.code else { throw error }
            return Observation(
                refusal: Observation.Refusal(
                    code: code.rawValue, message: error.message, recovery: error.recovery ?? "",
                    leftNoTrace: try await trace() == before),
                local: try await view())
        }
        for (name, entity) in calls.entities where name.isNew { links[name] = entity.readLink }
        let local = try await view()
        return Observation(local: local, synchronization: try await synchronize())
    }

    /// Returns the state that a refused call must not change: the state digest and the bytes of the log.
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

    // MARK: Views

    private func load(_ set: String, _ readLink: String) async throws -> EntityValue {
        let entity = EntityValue(try calls.type(set))
        entity.readLink = readLink
        try await service.loadEntity(entity)
        return entity
    }

    /// Returns the current state of the new entities that still exist.
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
            let navigation = try calls.property(end.set, end.navigation)
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

    private func serverView() async throws -> View {
        var labels: [String: String] = [:]
        for (name, entity) in try await newEntities() {
            guard let key = entity.key?.values[0].value.integerValue else { continue }
            labels["\(name.set)(\(key))"] = name.label
        }
        return View(transport.sandbox, combination) { set, key in labels["\(set)(\(key))"] ?? key }
    }
}
