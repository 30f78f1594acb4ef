import EventService
import ODataSandbox
import Testing
import Tidelog

/// Events with sessions, tracks and features: the model of the guides to keys and defining queries.
struct Conference {
    static let europe = 10000

    let sample: SampleService<EventService>
    var service: EventService { sample.service }
    var provider: OfflineODataProvider { sample.provider }

    /// Creates the service and a store of it.
    ///
    /// - Parameter generatesEventKeys: Whether the service assigns the keys of events. Otherwise the app does.
    init(
        _ dialect: Dialect, generatesEventKeys: Bool = true, queries: [OfflineODataDefiningQuery]? = nil
    ) async throws {
        let generated: Set = ["Sessions", "Tracks", "Features"]
        let sandbox = try Sandbox(
            v4Metadata: try Checkout.metadata("Events.v4"), v2Metadata: try Checkout.metadata("Events.v2"),
            configuration: SandboxConfiguration(
                generatedKeys: generatesEventKeys ? generated.union(["Events"]) : generated))
        sample = try await SampleService(sandbox, dialect, queries: queries, seed: Self.fill) {
            EventService(provider: $0)
        }
    }

    /// Creates two events, each with a session and a track, and a feature that both events have.
    private static func fill(_ service: EventService) async throws {
        let feature = Feature(withDefaults: false)
        feature.name = "Live stream"
        try await service.createEntity(feature)
        for (name, country, id) in [("Summit", "CAN", europe), ("Fair", "USA", 20000)] {
            let event = Event(withDefaults: false)
            event.eventID = id
            event.name = name
            event.country = country
            try await service.createEntity(event)
            let session = Session(withDefaults: false)
            session.title = "Opening of the \(name)"
            try await service.createRelatedEntity(session, in: event, property: Event.sessions)
            let track = Track(withDefaults: false)
            track.name = "Keynotes of the \(name)"
            try await service.createRelatedEntity(track, in: event, property: Event.tracks)
            try await service.createLink(from: event, property: Event.features, to: feature)
        }
    }
}
