import ODataQuery
import Testing

@testable import Tidelog

/// Query steps with typed properties.
@Suite struct TypedDataQueryTests {
    @Test func `a typed query has the syntax tree of its URL`() throws {
        let query = DataQuery()
            .filter(Person.name.startsWith("A") && Person.errands.any { $0.cost > 10 })
            .expand(Person.errands) { $0.filter(Errand.number > 2).orderBy(Errand.cost, .descending).top(3) }
            .expand(Person.boss, with: DataQuery().select(Person.name))
            .orderBy(Person.address.city).orderBy(Person.name.length(), .descending)
            .select(Person.name, Person.address.city, Person.emails)
        let text =
            "$filter=startswith(Name,'A') and Errands/any(x1:x1/Cost gt 10)"
            + "&$expand=Errands($filter=Number gt 2;$orderby=Cost desc;$top=3),Boss($select=Name)"
            + "&$orderby=Address/City,length(Name) desc&$select=Name,Address/City,Emails"
        let expected = try QueryOptions.parse(text, version: .v401)
        let printed = try query.options.print(version: .v401)
        #expect(try QueryOptions.parse(printed, version: .v401) == expected)
    }

    @Test func `equal calls generate equal variable names`() {
        func filter() -> QueryFilter { Person.errands.any { one in one.person.errands.all { $0.cost > one.cost } } }
        #expect(filter() == filter())
    }

    @Test func `a lambda within a lambda gets a different variable`() throws {
        let inner = Person.errands.any { $0.cost > 10 }
        let outer = Person.reports.any { report in inner && report.name == "Bob" }
        #expect(
            try outer.expression.print(version: .v401)
                == "Reports/any(x2:Errands/any(x1:x1/Cost gt 10) and x2/Name eq 'Bob')")
        // Variables that the dynamic functions named are unchanged.
        let named = Person.reports.property.any("x1") { _ in inner }
        let around = Person.reports.any { _ in named }
        #expect(
            try around.expression.print(version: .v401)
                == "Reports/any(x2:Reports/any(x1:Errands/any(x1:x1/Cost gt 10)))")
    }

    @Test func `properties with the name of a member of paths are addressed by path`() throws {
        #expect(Errand.person.property == People.errand("Person"))
        let path = Errand.person.path(Person.property) == "Ada"
        #expect(try path.expression.print(version: .v401) == "Person/Name eq 'Ada'")
        #expect((Errand.person.path(Person.boss).name == "Ada") == (Errand.person.boss.name == "Ada"))
        #expect(Errand.person.path(Person.errands).any() == Errand.person.errands.any())
        #expect((Errand.person.path(People.person("Name")).equal("Ada")) == path)
    }

    @Test func `a class without an entity type matches no entity`() async throws {
        final class Stranger: EntityValue {}
        let people = try await PeopleService(isUploaded: false)
        for filter in [QueryFilter.isOf(Stranger.self), Person.reports.of(Stranger.self).any()] {
            #expect(try await people.keys(.persons, DataQuery().filter(filter), by: people.offline) == [])
        }
    }

    @Test func `orders, expansions and selections are evaluated`() async throws {
        let people = try await PeopleService()
        for service in [people.offline, people.online] {
            let byCity = DataQuery().orderBy(Person.address.city, .descending).orderBy(Person.name)
            #expect(try await people.keys(.persons, byCity, by: service) == [1, 3, 2])
            let query = DataQuery().from(try service.entitySet(withName: "Persons")).filter(Person.name == "Ada")
                .select(Person.name, Person.address.city)
                .expand(Person.errands) { $0.filter(Errand.cost > 1).orderBy(Errand.cost).top(1) }
            let ada = try await service.executeQuery(query).requiredEntity()
            #expect(ada.relatedEntities(Person.errands).map { $0["Title"] } == [.string("Post letter")])
            #expect(ada["Nick"] == nil)
            // The sandbox returns complex values as a whole, as a service may.
            guard case .complex(let address)? = ada["Address"] else {
                Issue.record("There is no address.")
                return
            }
            let names = Array(address.properties.names)
            #expect(names == (service === people.offline ? ["City"] : ["Street", "City", "Number"]))
        }
    }

    @Test func `aggregates and computed values accept typed properties`() async throws {
        let people = try await PeopleService()
        func rows(_ query: DataQuery) async throws -> [Value?] {
            let query = query.from(try people.offline.entitySet(withName: "Errands"))
            return try await people.offline.executeQuery(query).entityList().map { $0["Total"] }
        }
        #expect(try await rows(DataQuery().aggregate(Errand.number.sum(as: "Total"))) == [.integer(11)])
        #expect(
            try await rows(DataQuery().aggregate(Errand.cost.max(as: "Total")))
                == [.decimal(try #require(DecimalValue("100.25")))])
        let grouped = DataQuery().filter(Errand.person != nil)
            .groupBy([Errand.person.name], Errand.cost.sum(as: "Total"), .count(as: "Errands"))
            .orderBy(TypedPath<DecimalValue>.named("Total"), .descending)
        #expect(try await rows(grouped) == [.decimal(13.5), .null])
        let computed = DataQuery().compute(Errand.cost * Errand.number, as: "Total")
            .filter(TypedPath<DecimalValue>.named("Total") > 20).orderBy(Errand.errandID)
        #expect(try await rows(computed) == [.decimal(21), .decimal(701.75)])
    }

    @Test func `a decimal literal is exact`() {
        #expect((0.1 as DecimalValue).text == "0.1")
        #expect((1234567890.12345 as DecimalValue).text == "1234567890.12345")
        #expect((-5.5 as DecimalValue).text == "-5.5")
        #expect((2.0 as DecimalValue) == 2)
        #expect((1e-7 as DecimalValue) == DecimalValue("0.0000001"))
    }
}
