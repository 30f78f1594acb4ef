import EDM
import Testing
import Tidelog

/// All faults of `odata-sandbox`, during uploads of creates whose entities are removed from the store.
@Suite(.timeLimit(.minutes(20))) struct RemovalFaultTests {
    @Test(arguments: MatrixService.all)
    func `KE-27 after any single fault, an entity deleted while its create is sent is at the service in no case`(
        _ service: MatrixService
    ) async throws {
        try await OperationMatrix<DeletionDuringUpload>(service: service).run("deletions during the upload")
    }

    @Test(arguments: MatrixService.all)
    func `KE-27 after any single fault, an entity deleted after the upload of its create is at the service in no case`(
        _ service: MatrixService
    ) async throws {
        try await OperationMatrix<DeletionAfterUpload>(service: service).run("deletions after the upload")
    }

    @Test(arguments: MatrixService.all)
    func `KE-27 after any single fault, a create that removes its entity from the store takes effect once`(
        _ service: MatrixService
    ) async throws {
        try await OperationMatrix<RemovalTrial>(service: service).run("removals after the upload")
    }
}

/// New entities whose keys the service or the app assigns. The first has an ETag.
private struct NewEntities {
    static let requests = [SentRequest("POST", "Orders"), SentRequest("POST", "Visits")]
    static let properties = [("Orders", "Note"), ("Visits", "Subject")]

    let mark: String
    private let links: [(set: String, link: String)]

    init(_ mark: String, _ device: AppDevice) async throws {
        self.mark = mark
        let number = UInt64(mark.filter(\.isNumber)) ?? 0
        let order = try await device.create("Orders", ["Note": .string(mark)])
        let visit = try await device.create(
            "Visits", ["VisitID": .guid(GuidValue(high: 7, low: number)), "Subject": .string(mark)])
        links = [("Orders", try #require(order.readLink)), ("Visits", try #require(visit.readLink))]
    }

    /// Deletes the entities as a user does: by the links that the app has kept.
    func delete(_ service: DataService) async {
        for (set, link) in links {
            do {
                let entity = EntityValue(try service.entitySet(withName: set).entityType)
                entity.readLink = link
                try await service.deleteEntity(entity)
            } catch {
                Issue.record("\(link): \(error)")
            }
        }
    }

    /// Checks that neither the service nor the store has the entities.
    func checkAbsence(_ result: TrialResult, _ device: AppDevice) async throws {
        for (set, property) in Self.properties {
            let served = try await device.count(set, property, mark)
            let isOpen = !result.open(set).isEmpty
            #expect(served == 0 || served == 1 && isOpen, result.explained("\(served) of \(set)"))
            #expect(try await device.all(set, property, mark).isEmpty, result.explained("local \(set)"))
        }
    }
}

private struct DeletionDuringUpload: OperationTrial {
    static let queries = ["Orders"]

    static func requests(_ service: MatrixService) -> [SentRequest] { NewEntities.requests }

    private let entities: NewEntities

    init(_ mark: String, _ device: AppDevice, _ service: MatrixService) async throws {
        let entities = try await NewEntities(mark, device)
        let app = device.service
        device.interrupt { await entities.delete(app) }
        self.entities = entities
    }

    func check(_ result: TrialResult, _ device: AppDevice) async throws {
        try await entities.checkAbsence(result, device)
    }
}

private struct DeletionAfterUpload: OperationTrial {
    static let queries = ["Orders"]

    /// A create that was not sent, or has not taken effect, is undone.
    static func adjust(_ parameters: inout OfflineODataParameters) { parameters.undoesLocalCreation = true }

    static func requests(_ service: MatrixService) -> [SentRequest] { NewEntities.requests }

    private let entities: NewEntities

    init(_ mark: String, _ device: AppDevice, _ service: MatrixService) async throws {
        entities = try await NewEntities(mark, device)
    }

    func changeAfterUpload(_ device: AppDevice) async throws { await entities.delete(device.service) }

    func check(_ result: TrialResult, _ device: AppDevice) async throws {
        try await entities.checkAbsence(result, device)
    }
}

/// The store removes the entities itself, because the service replaces them.
private struct RemovalTrial: OperationTrial {
    static let queries = ["Orders"]

    static func adjust(_ parameters: inout OfflineODataParameters) {
        parameters.removesCreatedEntitiesAfterUpload = ["Orders", "Visits"]
    }

    static func requests(_ service: MatrixService) -> [SentRequest] { NewEntities.requests }

    private let entities: NewEntities

    init(_ mark: String, _ device: AppDevice, _ service: MatrixService) async throws {
        entities = try await NewEntities(mark, device)
    }

    func check(_ result: TrialResult, _ device: AppDevice) async throws {
        for isDownloaded in [false, true] {
            if isDownloaded { try await device.provider.download() }
            for (set, property) in NewEntities.properties {
                let served = try await device.count(set, property, entities.mark)
                let local = try await device.all(set, property, entities.mark).count
                if result.open(set).isEmpty {
                    #expect(served == 1, result.explained("\(served) of \(set)"))
                    #expect(local == (isDownloaded ? 1 : 0), result.explained("\(local) local \(set), \(isDownloaded)"))
                } else {
                    #expect(served <= 1 && set == "Orders", result.explained("\(served) of \(set), open"))
                    #expect(local == 1, result.explained("\(local) local \(set), open"))
                }
            }
        }
    }
}
