import EDM
import ODataQuery
import Testing

@testable import Tidelog

/// Conversion of a condition on an entity into a condition on an entity that leads to it.
@Suite struct QueryMovingTests {
    struct Move: Sendable, CustomStringConvertible {
        let description: String
        let filter: @Sendable () throws -> QueryFilter

        init(_ text: String, _ filter: @escaping @Sendable () throws -> QueryFilter) {
            description = text
            self.filter = filter
        }
    }

    static let toOne: [Move] = [
        Move("Person/Name eq 'Ada'") { try (Person.name == "Ada").below(Errand.person) },
        Move("Person/Boss/Name eq 'Eve'") { try (Person.boss.name == "Eve").below(Errand.person) },
        Move("Person/Address/City eq Person/Name") { try (Person.address.city == Person.name).below(Errand.person) },
        Move("startswith(tolower(Person/Name),'a') and not (Person/Nick eq null)") {
            try (Person.name.toLower().startsWith("a") && !(Person.nick == nil)).below(Errand.person)
        },
        Move("(Person/PersonID add 1) in (2,3)") { try (Person.personID + 1).isIn([2, 3]).below(Errand.person) },
        Move("Person/Errands/any(x1:x1/Cost gt 10)") { try Person.errands.any { $0.cost > 10 }.below(Errand.person) },
        Move("Person/Errands/any(x1:x1/Title eq Person/Name)") {
            try Person.errands.any { $0.title == Person.name }.below(Errand.person)
        },
        Move("Person/Errands/$count gt 2") { try (Person.errands.count() > 2).below(Errand.person) },
        Move("isof(Person,People.Employee)") { try QueryFilter.isOf(Employee.self).below(Errand.person) },
        Move("Person/People.Employee/Salary gt 1") { try (EntityPath(Employee.self).salary > 1).below(Errand.person) },
        Move("sap.entityexists(Person/Boss)") { try QueryFilter.entityExists(Person.boss).below(Errand.person) },
        Move("Boss/Boss/Name eq 'Ada'") { try (Person.name == "Ada").below(Person.boss).below(Person.boss) },
    ]

    static let toMany: [Move] = [
        Move("Errands/any(x1:x1/Cost gt 10)") { try (Errand.cost > 10).below(Person.errands) },
        Move("Errands/any(x1:x1/Cost gt 10 and x1/Person/Name eq 'Ada')") {
            try (Errand.cost > 10 && Errand.person.name == "Ada").below(Person.errands)
        },
        Move("Reports/any(x2:x2/Errands/any(x1:x1/Title eq x2/Name))") {
            try Person.errands.any { $0.title == Person.name }.below(Person.reports)
        },
        Move("Reports/any(x1:isof(x1,People.Employee))") {
            try QueryFilter.isOf(Employee.self).below(Person.reports)
        },
        Move("Reports/any(x1:x1/Boss/Name eq 'Ada')") {
            try (Person.name == "Ada").below(Person.boss).below(Person.reports)
        },
        Move("Boss/Reports/any(x1:x1/Name eq 'Ada')") {
            try (Person.name == "Ada").below(Person.reports).below(Person.boss)
        },
        Move("Reports/any(x2:x2/Reports/any(x1:x1/Name eq 'Ada'))") {
            try (Person.name == "Ada").below(Person.reports).below(Person.reports)
        },
        Move("Errands/any(x1:length(x1/Title) gt 3)") {
            try (Errand.title.length() > 3).below(Person.errands.property)
        },
    ]

    @Test(arguments: toOne + toMany) func `a condition is moved below a navigation property`(_ move: Move) throws {
        #expect(try move.filter().expression.print(version: .v401) == move.description)
    }

    @Test func `a moved condition changes the paths of the entity, not those of lambda items`() throws {
        func moved(_ text: String, _ property: some PropertyReference) throws -> String {
            let filter = QueryFilter(expression: try Expression.parse(text, version: .v401))
            return try filter.below(property).expression.print(version: .v401)
        }
        let count = "Errands/$count($filter=Cost gt 1 and Title eq $it/Name) gt 2"
        #expect(
            try moved(count, Errand.person)
                == "Person/Errands/$count($filter=Cost gt 1 and Title eq $it/Person/Name) gt 2")
        #expect(
            try moved(count, Person.reports)
                == "Reports/any(x1:x1/Errands/$count($filter=Cost gt 1 and Title eq x1/Name) gt 2)")
        #expect(
            try moved("$it/Name eq 'x' and $root/Persons(1)/Name eq Name", Errand.person)
                == "Person/Name eq 'x' and $root/Persons(1)/Name eq Person/Name")
        #expect(
            try moved("cast(PersonID,Edm.String) eq '1'", Errand.person) == "cast(Person/PersonID,Edm.String) eq '1'")
    }

    @Test func `the variable of a moved condition differs from the names that the condition uses`() throws {
        let inner = QueryFilter(
            expression: try Expression.parse("x1 eq 1 and Parts/any(x2:x2/a eq 2)", version: .v401))
        #expect(
            try inner.below(Person.errands).expression.print(version: .v401)
                == "Errands/any(x3:x3/x1 eq 1 and x3/Parts/any(x2:x2/a eq 2))")
    }

    @Test(arguments: [
        QueryFilter.isLocal, .hasPendingChanges, .isInErrorState, .upsertedLastDownload,
        Person.name == "x" && !QueryFilter.isLocal,
    ])
    func `conditions on the local state cannot be moved`(_ filter: QueryFilter) throws {
        let error = #expect(throws: TidelogError.self) { try filter.below(Person.errands) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a moved condition finds the entities whose targets satisfy the original one`() async throws {
        let people = try await PeopleService()
        func keys(_ set: PeopleSet, _ filter: QueryFilter) async throws -> [Int] {
            try await people.keys(set, DataQuery().filter(filter).orderBy(set.key), by: people.offline)
        }
        #expect(try await keys(.errands, (Person.name == "Ada").below(Errand.person)) == [1, 2])
        #expect(try await keys(.persons, (Errand.cost > 50).below(Person.errands)) == [])
        #expect(try await keys(.persons, (Errand.cost > 10).below(Person.errands).below(Person.boss)) == [2])
        #expect(
            try await keys(.persons, Person.errands.any { $0.cost > 10 && $0.person == nil }.below(Person.reports))
                == [])
    }
}
