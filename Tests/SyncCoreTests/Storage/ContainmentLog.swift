import EDM
import Operations
import SyncCore

/// A log about a person with contained trips.
struct ContainmentLog {
    private static let service = ServiceDescription(
        root: "http://127.0.0.1/v4/",
        metadata: Array(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="Travel" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
              <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
              <NavigationProperty Name="Trips" Type="Collection(Travel.Trip)" ContainsTarget="true"/>
            </EntityType>
            <EntityType Name="Trip"><Key><PropertyRef Name="TripID"/></Key>
              <Property Name="TripID" Type="Edm.Int32" Nullable="false"/>
            </EntityType>
            <EntityContainer Name="Container"><EntitySet Name="People" EntityType="Travel.Person"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """.utf8))

    let store: TestStore
    let person: EntityID

    /// Creates a log with a downloaded person.
    ///
    /// - Parameter queries: The defining queries, which contain the person.
    init(queries: KeyValuePairs<String, String>) throws {
        store = try TestStore(Self.service)
        person = try store.newID()
        let image = EntityImage(entity: person, set: "People", type: "Travel.Person", values: ["ID": .integer(1)])
        for (name, query) in queries {
            try store.add(.definingQueryAdded(DefiningQuery(name: name, query: query)))
            try store.add(.downloadStarted(queries: [name]))
            try store.add(.downloadPage(DownloadPage(query: name, entities: [image])))
            try store.add(.downloadFinished(query: name))
        }
    }

    /// Creates a trip of the person, which the service confirms.
    func uploadTrip() throws -> EntityID {
        let trip = try store.newID()
        let creation = store.creation(trip, "People/Trips", ["TripID": .integer(1)])
        try store.perform([.create(creation, parent: Parent(entity: person, navigation: "Trips"))])
        try store.answer(try store.plan())
        return trip
    }

    /// Returns a log in which a trip is created, and the person is deleted by another client.
    static func records() throws -> [Record] {
        let log = try ContainmentLog(queries: ["People": "People?$expand=Trips"])
        _ = try log.uploadTrip()
        try log.store.add(.entitiesMissing([log.person]))
        return log.store.records
    }
}
