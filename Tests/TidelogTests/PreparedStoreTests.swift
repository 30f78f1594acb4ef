import ODataSandbox
import OperationLog
import TestSupport
import Testing
import Tidelog

/// DQ-30: stores that are prepared for other devices.
@Suite struct PreparedStoreTests {
    @Test(arguments: Client.offline)
    func `DQ-30: a device opens a prepared store with its own identity and key, and downloads the changes only`(
        _ client: Client
    ) async throws {
        let directory = try TemporaryDirectory()
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let undone = try await shop.one("Orders", 1)
        undone["Note"] = .string("never sent")
        try await shop.service.updateEntity(undone)
        let error = await #expect(throws: TidelogError.self) {
            try await PreparedODataStore.write(from: store, to: directory.path + "/prepared")
        }
        #expect(error?.code == .refused(.notAllowed))
        _ = try await store.undoAllPendingChanges()
        try await PreparedODataStore.write(from: store, to: directory.path + "/prepared")
        // Another client changes an entity after the preparation.
        let other = try await shop.server.executeQuery(DataQuery().withURL("Customers(1)")).requiredEntity()
        other["Name"] = .string("later")
        try await shop.server.updateEntity(other)

        let key = try #require(LogKey((1...32).map { UInt8($0) }))
        var identifiers: Set<String> = []
        for name in ["first", "second"] {
            var parameters = OfflineODataParameters(
                storePath: directory.path + "/" + name, transport: shop.transport,
                storeEncryptionKey: name == "second" ? key : nil)
            parameters.preparedStore = directory.path + "/prepared"
            let provider = OfflineODataProvider(serviceRoot: try store.serviceRoot, parameters: parameters)
            try await provider.open()
            let service = DataService(provider: provider)
            for set in ["Customers", "Orders", "Products"] {
                let count = try await service.executeQuery(DataQuery().withURL(set)).entityList().count
                #expect(try await shop.fetch(set).count == count, "\(set)")
            }
            #expect(try await provider.operationStatus().isEmpty)
            #expect(try await provider.undoneOperations().isEmpty)
            #expect(try await provider.getDefiningQueries().count == Shop.sets.count)
            try await provider.download()
            let found = try await service.executeQuery(DataQuery().withURL("Customers(1)")).requiredEntity()
            // The second device also downloads the change of the first one.
            #expect(found["Name"] == .string(name == "first" ? "later" : "by first"))
            found["Name"] = .string("by \(name)")
            try await service.updateEntity(found)
            #expect(try await provider.upload().rejected.isEmpty)
            await provider.close()
            let reader = try LogReader(directory: directory.path + "/\(name)/log", keys: [key])
            identifiers.insert(reader.storeIdentifier.description)
            // It is opened again without the prepared store.
            parameters.preparedStore = nil
            let again = OfflineODataProvider(parameters: parameters)
            try await again.open()
            await again.close()
        }
        #expect(identifiers.count == 2)
    }
}
