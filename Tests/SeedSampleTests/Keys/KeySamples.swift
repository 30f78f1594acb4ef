import EventService
import Testing
import Tidelog

/// The samples of the guide to creating and deleting entities.
@Suite struct KeySamples {
    @Test(arguments: Dialect.allCases)
    func `sample withDefaults false: any number of events without a key`(_ dialect: Dialect) async throws {
        let conference = try await Conference(dialect)
        let eventService = conference.service
        for _ in 1...3 {
            let event = Event(withDefaults: false)
            event.country = "USA"
            event.name = "SAP Summit"
            try await eventService.createEntity(event)
        }
        try await conference.sample.synchronize()
        let keys = try await eventService.fetchEvents().map(\.eventID)
        #expect(Set(keys).count == 5)
        #expect(!keys.contains(nil))
    }

    @Test(arguments: Dialect.allCases)
    func `sample unsetDataValue: the default key is taken out again`(_ dialect: Dialect) async throws {
        let conference = try await Conference(dialect)
        let eventService = conference.service
        for _ in 1...2 {
            let event = Event()
            event.country = "USA"
            event.name = "SAP Summit"
            event.unsetDataValue(for: Event.eventID)
            try await eventService.createEntity(event)
        }
        try await conference.sample.synchronize()
        #expect(try await eventService.fetchEvents().count == 4)
    }

    @Test(arguments: Dialect.allCases)
    func `sample unsetDataValue without its line: the second event with the default key is a duplicate`(
        _ dialect: Dialect
    ) async throws {
        let conference = try await Conference(dialect)
        let eventService = conference.service
        try await eventService.createEntity(Event())
        let error = await #expect(throws: TidelogError.self) { try await eventService.createEntity(Event()) }
        #expect(error?.code == .refused(.duplicateKey))
    }

    @Test(arguments: Dialect.allCases)
    func `sample readLink: a new track is read back, created, uploaded and downloaded`(
        _ dialect: Dialect
    ) async throws {
        let conference = try await Conference(dialect)
        let eventService = conference.service
        let track = Track(withDefaults: false)
        track.name = "Keynote"
        try await eventService.createEntity(track)
        let readLink = track.readLink

        func readBack() async throws -> Track {
            let readBackTrack = Track(withDefaults: false)
            readBackTrack.readLink = readLink
            try await eventService.loadEntity(readBackTrack)
            return readBackTrack
        }
        #expect(try await readBack().name == "Keynote")
        try await conference.provider.upload()
        #expect(try await readBack().name == "Keynote")
        try await conference.provider.download()
        let downloaded = try await readBack()
        #expect(downloaded.name == "Keynote")
        #expect(downloaded.readLink != readLink, "the real key replaces the local name")
    }

    @Test(arguments: Dialect.allCases)
    func `sample loadEntity with a query: selected and expanded`(_ dialect: Dialect) async throws {
        let conference = try await Conference(dialect)
        let track = try await conference.service.fetchTrack()
        let readBackTrack = Track(withDefaults: false)
        readBackTrack.readLink = track.readLink
        try await conference.service.loadEntity(readBackTrack, DataQuery().select(Track.name).expand(Track.event))
        #expect(readBackTrack.name == "Keynotes of the Summit")
        #expect(readBackTrack.relatedEntity(Track.event)?.dataValue(for: Event.name) == .string("Summit"))
    }

    @Test(arguments: Dialect.allCases)
    func `sample withURL: a query by a readLink`(_ dialect: Dialect) async throws {
        let conference = try await Conference(dialect)
        let eventService = conference.service
        let new = Track(withDefaults: false)
        new.name = "Keynote"
        try await eventService.createEntity(new)
        let readLink = try #require(new.readLink)

        let query = DataQuery().withURL(readLink)
        let track = try await eventService.fetchTrack(matching: query)
        #expect(track.name == "Keynote")
    }

    @Test(arguments: Dialect.allCases)
    func `sample editLink: an entity that is known by its editLink only is deleted`(_ dialect: Dialect) async throws {
        let conference = try await Conference(dialect)
        let eventService = conference.service
        let track = try await eventService.fetchTrack()
        let editLink = track.editLink

        let trackToDelete = Track(withDefaults: false)
        trackToDelete.editLink = editLink
        try await eventService.deleteEntity(trackToDelete)
        #expect(try await eventService.fetchTracks().count == 1)
        try await conference.sample.synchronize()
        #expect(try await conference.sample.server.fetchTracks().count == 1)
    }
}
