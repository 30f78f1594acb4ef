import EDM
import Operations
import SyncCore
import Testing

/// The subjects of operations: the entities with pending changes from a user's perspective.
struct SubjectTests {
    /// Teams with members and a chief, without referential constraints, and projects with members.
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Team"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Members" Type="Collection(S.Person)" Partner="Team"/>
        <NavigationProperty Name="Chief" Type="S.Person"/></EntityType>
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Team" Type="S.Team" Partner="Members"/>
        <NavigationProperty Name="Projects" Type="Collection(S.Project)" Partner="Persons"/></EntityType>
        <EntityType Name="Project"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Persons" Type="Collection(S.Person)" Partner="Projects"/></EntityType>
        <EntityContainer Name="C">
        <EntitySet Name="Teams" EntityType="S.Team"><NavigationPropertyBinding Path="Members" Target="Persons"/>
        <NavigationPropertyBinding Path="Chief" Target="Persons"/></EntitySet>
        <EntitySet Name="Persons" EntityType="S.Person"><NavigationPropertyBinding Path="Team" Target="Teams"/>
        <NavigationPropertyBinding Path="Projects" Target="Projects"/></EntitySet>
        <EntitySet Name="Projects" EntityType="S.Project"><NavigationPropertyBinding Path="Persons" Target="Persons"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    private let store: TestStore
    private let team: EntityID
    private let person: EntityID
    private let project: EntityID

    init() throws {
        store = try TestStore(ServiceDescription(root: "http://s/", metadata: Array(Self.metadata.utf8)))
        team = try store.download("Teams", ["ID": .integer(1)])
        person = try store.download("Persons", ["ID": .integer(1)])
        project = try store.download("Projects", ["ID": .integer(1)])
    }

    private func subjects(_ action: Operation.Action, after queue: PendingQueue? = nil) throws -> Set<EntityID> {
        let queue = try queue ?? store.state.queue.load()
        return Set(try store.state.subjects(of: Operation(action), store.model, after: queue))
    }

    @Test func `a link belongs to its single-valued end`() throws {
        #expect(try subjects(.createLink(link(team, "Members", person))) == [person])
        #expect(try subjects(.deleteLink(link(team, "Members", person))) == [person])
        #expect(try subjects(.updateLink(link(person, "Team", team))) == [person])
        #expect(try subjects(.updateLink(link(team, "Chief", person))) == [team])
    }

    @Test func `a link between two collections belongs to neither end`() throws {
        #expect(try subjects(.createLink(link(person, "Projects", project))) == [])
    }

    @Test func `an update is also one of the entities whose link its bindings set`() throws {
        func update(_ navigation: String, _ target: EntityID, of id: EntityID) -> Operation.Action {
            .update(id, changes: [:], bindings: [Binding(navigation: navigation, targets: [target])])
        }
        #expect(try subjects(update("Members", person, of: team)) == [team, person])
        #expect(try subjects(update("Team", team, of: person)) == [person])
        #expect(try subjects(update("Projects", project, of: person)) == [person])
        let empty = Operation.Action.update(team, changes: [:], bindings: [Binding(navigation: "Members", targets: [])])
        #expect(try subjects(empty) == [team])
    }

    @Test func `a creation is one of its entities, and of those whose link its bindings set`() throws {
        let new = EntityID(rawValue: 90)
        let inner = EntityID(rawValue: 91)
        let bound = store.creation(new, "Teams", bindings: [Binding(navigation: "Members", targets: [person])])
        #expect(try subjects(.create(bound, parent: nil)) == [new, person])
        let single = store.creation(new, "Persons", bindings: [Binding(navigation: "Team", targets: [team])])
        #expect(try subjects(.create(single, parent: nil)) == [new])
        let child = store.creation(inner, "Teams", bindings: [Binding(navigation: "Members", targets: [person])])
        let deep = store.creation(new, "Persons", inline: [.init(navigation: "Team", entities: [child])])
        #expect(try subjects(.create(deep, parent: nil)) == [new, inner, person])
        #expect(
            try subjects(.create(store.creation(new, "Persons"), parent: Parent(entity: team, navigation: "Members")))
                == [new])
    }

    @Test func `a deletion is one of its entity`() throws {
        #expect(try subjects(.delete(team)) == [team])
    }

    @Test func `a link of an entity without a row belongs to the same end`() throws {
        try store.perform([.delete(team)])
        #expect(try subjects(.createLink(link(team, "Members", person))) == [person])
        let queue = PendingQueue()
        let new = EntityID(rawValue: 90)
        let creation = Operation(.create(store.creation(new, "Teams"), parent: nil))
        queue.put(PendingOperation(sequence: 1, time: 0, operation: creation, status: .pending), about: [])
        #expect(try subjects(.createLink(link(new, "Members", person)), after: queue) == [person])
        #expect(try subjects(.createLink(link(EntityID(rawValue: 99), "Members", person))) == [])
    }
}
