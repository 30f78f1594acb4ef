import EDM
import Operations
import SyncCore
import Testing

/// Contained entities in the fold.
struct ContainmentFoldTests {
    @Test func `a new contained entity belongs to the queries that expand its container`() throws {
        let log = try ContainmentLog(queries: ["Whole": "People?$expand=Trips", "Plain": "People"])
        let trip = try log.uploadTrip()
        #expect(try log.store.state.pendingOperations().isEmpty)
        #expect(try log.store.state.bookkeeping.isCovered(trip, by: "Whole"))
        #expect(try !log.store.state.bookkeeping.isCovered(trip, by: "Plain"))
    }

    @Test func `contained entities are removed with their container`() throws {
        let log = try ContainmentLog(queries: ["Whole": "People?$expand=Trips"])
        let trip = try log.uploadTrip()
        #expect(try log.store.state.row(trip) != nil)
        try log.store.add(.entitiesMissing([log.person]))
        #expect(try log.store.state.allRows.isEmpty)
        #expect(try log.store.state.allLinks.isEmpty)
    }
}
