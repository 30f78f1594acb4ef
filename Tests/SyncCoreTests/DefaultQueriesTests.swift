import EDM
import Operations
import SyncCore
import Testing

struct DefaultQueriesTests {
    @Test func `a relationship without dependent properties is expanded once`() throws {
        let queries = DefaultQueries.of(try TestStore().model).map(\.query)
        #expect(queries.filter { $0.contains("$expand") } == ["Suppliers?$expand=Products"])
    }

    @Test func `every entity set has a query of its name`() throws {
        let model = try TestStore().model
        #expect(DefaultQueries.of(model).map(\.name) == model.entitySets.map(\.name))
    }
}
