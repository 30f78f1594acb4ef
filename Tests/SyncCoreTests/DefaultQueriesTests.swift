import EDM
import Operations
import SyncCore
import Testing

struct DefaultQueriesTests {
    @Test func `a relationship without dependent properties is expanded by one query`() throws {
        let queries = DefaultQueries.of(try TestStore().model).map(\.query)
        #expect(queries.filter { $0.contains("$expand") } == ["Suppliers?$expand=Products"])
    }

    @Test func `each entity set has a query with its name`() throws {
        let model = try TestStore().model
        #expect(DefaultQueries.of(model).map(\.name) == model.entitySets.map(\.name))
    }
}
