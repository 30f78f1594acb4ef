import EventService
import Testing
import Tidelog

/// The samples of the guide to defining queries.
@Suite struct DefiningQuerySamples {
    /// Returns the literal for a key. In V4 it has no suffix.
    private func literal(_ dialect: Dialect) -> String { dialect == .v2 ? "10000L" : "10000" }

    private func provider(_ dialect: Dialect) -> [OfflineODataDefiningQuery] {
        let id = literal(dialect)
        return [
            OfflineODataDefiningQuery(
                name: "Events_10000", query: "/Events?$filter=EventID eq \(id)&$expand=Features",
                automaticallyRetrievesStreams: false),
            OfflineODataDefiningQuery(
                name: "Sessions_10000", query: "/Sessions?$filter=EventID eq \(id)",
                automaticallyRetrievesStreams: false),
            OfflineODataDefiningQuery(
                name: "Tracks_10000", query: "/Tracks?$filter=EventID eq \(id)",
                automaticallyRetrievesStreams: false),
            OfflineODataDefiningQuery(
                name: "UserSessionAgendas", query: "/UserSessionAgendas?$filter=EventID eq \(id)",
                automaticallyRetrievesStreams: false),
            OfflineODataDefiningQuery(
                name: "Features", query: "/Features", automaticallyRetrievesStreams: false),
        ]
    }

    @Test(arguments: Dialect.allCases)
    func `sample add defining queries: all information of one event`(_ dialect: Dialect) async throws {
        let conference = try await Conference(dialect, generatesEventKeys: false, queries: provider(dialect))
        let service = conference.service
        let event = try await service.fetchEvent()
        #expect(try await service.fetchEvents().map(\.eventID) == [Conference.europe])
        #expect(try await conference.sample.related(event, Event.sessions).count == 1)
        #expect(try await conference.sample.related(event, Event.tracks).count == 1)
        #expect(try await conference.sample.related(event, Event.features).count == 1)
        #expect(try await conference.provider.getDefiningQueries().map(\.name) == provider(dialect).map(\.name))
    }

    @Test(arguments: Dialect.allCases)
    func `sample mixed relationships: expansion and referential constraints are united`(_ dialect: Dialect) async throws
    {
        let conference = try await Conference(
            dialect,
            queries: [
                OfflineODataDefiningQuery(name: "Canada", query: "/Events?$expand=Sessions&$filter=Country eq 'CAN'"),
                OfflineODataDefiningQuery(name: "USA", query: "/Events?$filter=Country eq 'USA'"),
                OfflineODataDefiningQuery(name: "Sessions", query: "/Sessions"),
            ])
        for event in try await conference.service.fetchEvents() {
            #expect(try await conference.sample.related(event, Event.sessions).count == 1, "\(event.name ?? "")")
        }
    }
}
