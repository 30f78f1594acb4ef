import ODataSandbox
import TestSupport
import Tidelog

/// A service of people and errands: the store in which they were created, and the service after the upload.
struct PeopleService {
    let offline: DataService
    let online: DataService
    private let store: OfflineODataProvider
    private let directory: TemporaryDirectory

    /// - Parameter isUploaded: False leaves everything in the store, with Eve as an employee; the sandbox stores no
    /// entities of derived types.
    init(isUploaded: Bool = true) async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(PeopleMetadata.text.utf8), v2Metadata: Array(PeopleMetadata.text.utf8),
            configuration: SandboxConfiguration())
        sandbox.origin = "http://people.test"
        let transport = SandboxTransport(sandbox)
        let root = "http://people.test/v4/"
        directory = try TemporaryDirectory()
        store = OfflineODataProvider(
            serviceRoot: root, parameters: OfflineODataParameters(storePath: directory.path, transport: transport))
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Persons", query: "/Persons"))
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Errands", query: "/Errands"))
        try await store.open()
        try await store.download()
        offline = DataService(provider: store)
        online = DataService(provider: OnlineODataProvider(serviceRoot: root, transport: transport))
        try await Self.fill(offline, hasEmployee: !isUploaded)
        try await online.loadMetadata()
        guard isUploaded else { return }
        let report = try await store.upload()
        guard report.rejected.isEmpty, report.remaining == 0 else { throw NotTaken(report: "\(report.rejected)") }
    }

    struct NotTaken: Error { let report: String }

    /// Returns the keys of the results of a query, in order.
    func keys(_ set: PeopleSet, _ query: DataQuery, by service: DataService) async throws -> [Int] {
        let query = query.from(try service.entitySet(withName: set.rawValue))
        return try await service.executeQuery(query).entityList().compactMap { set.key.optionalInt(from: $0) }
    }

    // MARK: Content

    private static func fill(_ service: DataService, hasEmployee: Bool) async throws {
        let persons = try await fillPersons(service, hasEmployee: hasEmployee)
        let errands: [(PropertyValues, Person?)] = [
            (
                [
                    "ErrandID": .integer(1), "Title": .string("Buy milk"), "Cost": decimal("10.50"),
                    "Hours": .double(0.5),
                    "Weight": .single(1.5), "Number": .integer(2), "Due": moment("2024-01-15T09:30:00Z"),
                    "Day": .date(day("2024-01-15")), "At": .timeOfDay(time("08:00:00")), "Length": span("PT1H"),
                    "Color": .enumeration("Green"), "Days": .enumeration("Mon,Tue"),
                ], persons[0]
            ),
            (
                [
                    "ErrandID": .integer(2), "Title": .string("Post letter"), "Cost": decimal("3"),
                    "Hours": .double(2.25),
                    "Weight": .single(0.25), "Number": .integer(5), "Due": moment("2024-02-29T23:59:59.5+01:00"),
                    "Day": .date(day("2024-02-28")), "At": .timeOfDay(time("17:30:15.25")), "Length": span("PT90M"),
                    "Color": .enumeration("Red"), "Days": .enumeration("Wed"),
                ], persons[0]
            ),
            (
                [
                    "ErrandID": .integer(3), "Title": .string("  Nap "), "Hours": .double(8), "Number": .integer(-3),
                    "Due": moment("2124-06-01T00:00:00Z"),
                ], persons[1]
            ),
            (["ErrandID": .integer(4), "Cost": decimal("100.25"), "Number": .integer(7)], nil),
        ]
        for (values, person) in errands {
            let errand = Errand(People.embedded.entityType("People.Errand"))
            for (name, value) in values { errand[name] = value }
            if let person { errand.bindEntity(person, to: Errand.person) }
            try await service.createEntity(errand)
        }
    }

    private static func fillPersons(_ service: DataService, hasEmployee: Bool) async throws -> [Person] {
        let rome = Value.complex(["Street": .string("Via Appia"), "City": .string("Rome"), "Number": .integer(7)])
        let oslo = Value.complex(["City": .string("Oslo")])
        var values: [PropertyValues] = [
            [
                "PersonID": .integer(1), "Name": .string("Ada"), "Nick": .string("Lady"), "Address": rome,
                "Emails": .collection([.string("ada@x.org"), .string("lady@y.com")]),
                "Addresses": .collection([rome, oslo]), "Photo": .binary([1, 2, 3]), "IsMember": .boolean(true),
                "Token": .guid(token),
            ],
            ["PersonID": .integer(2), "Name": .string("Bob"), "IsMember": .boolean(false)],
            [
                "PersonID": .integer(3), "Name": .string("Eve"), "Address": oslo,
                "Emails": .collection([.string("eve@x.org")]),
            ],
        ]
        if hasEmployee { values[2]["Salary"] = decimal("5000.5") }
        let persons: [Person] = [
            Person(People.embedded.entityType("People.Person")), Person(People.embedded.entityType("People.Person")),
            hasEmployee
                ? Employee(People.embedded.entityType("People.Employee"))
                : Person(People.embedded.entityType("People.Person")),
        ]
        for (person, values) in zip(persons, values) {
            person.entitySet = try service.entitySet(withName: "Persons")
            for (name, value) in values { person[name] = value }
            try await service.createEntity(person)
        }
        for (person, boss) in [(0, 2), (1, 0), (2, 1)] {
            try await service.createLink(from: persons[person], property: Person.boss, to: persons[boss])
        }
        return persons
    }
}

/// The entity sets, with the key property of each.
enum PeopleSet: String, Sendable {
    case persons = "Persons"
    case errands = "Errands"

    var key: Property { self == .persons ? Person.personID.property : Errand.errandID.property }
}

// Callers pass only valid literals.
let token = GuidValue(high: 0x1111_1111_2222_3333, low: 0x4444_5555_5555_5555)
func day(_ text: String) -> LocalDate { LocalDate(text) ?? LocalDate(daysSince1970: 0)! }
func time(_ text: String) -> LocalTime { LocalTime(text) ?? .midnight }
func instant(_ text: String) -> GlobalDateTime { GlobalDateTime(text) ?? GlobalDateTime(millisecondsSince1970: 0)! }
func duration(_ text: String) -> DayTimeDuration { DayTimeDuration(text) ?? DayTimeDuration(seconds: 0)! }
private func decimal(_ text: String) -> Value { .decimal(DecimalValue(text) ?? 0) }
private func moment(_ text: String) -> Value { .dateTimeOffset(instant(text)) }
private func span(_ text: String) -> Value { .duration(duration(text)) }

extension Value {
    fileprivate static func complex(_ properties: PropertyValues) -> Value {
        .complex(ComplexValue(properties: properties))
    }
}
