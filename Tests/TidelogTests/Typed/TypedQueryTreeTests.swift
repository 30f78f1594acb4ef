import Foundation
import ODataQuery
import Testing

@testable import Tidelog

/// Conditions over typed properties: the same syntax tree as the text of a URL, and the same results.
@Suite struct TypedQueryTreeTests {
    @Test(arguments: TypedCondition.all + TypedCondition.types)
    func `a typed condition has the syntax tree of its text`(
        _ condition: TypedCondition
    ) throws {
        // The text does not contain the type of a literal, which depends on its comparison: `10` may be a decimal.
        let printed = try condition.filter().expression.print(version: .v401)
        #expect(try Expression.parse(printed, version: .v401) == Expression.parse(condition.url, version: .v401))
    }

    @Test func `a typed condition finds the same entities as its text, in the store and at the service`() async throws {
        let people = try await PeopleService()
        for condition in TypedCondition.all {
            let typed = DataQuery().filter(condition.filter()).orderBy(condition.set.key)
            let text = DataQuery().withURL(
                "\(condition.set.rawValue)?$filter=\(condition.url.escapedForURL)&$orderby=\(condition.set.key.name)")
            // The sandbox has no clock.
            for service in condition.url.contains("now()") ? [people.offline] : [people.offline, people.online] {
                let name = service === people.offline ? "the store" : "the service"
                #expect(
                    try await people.keys(condition.set, typed, by: service) == condition.keys,
                    "\(condition) in \(name)")
            }
            let found = try await people.offline.executeQuery(text).entityList()
            #expect(found.compactMap { condition.set.key.optionalInt(from: $0) } == condition.keys, "\(condition)")
        }
    }
    @Test func `functions and literals of V2 are printed in their V2 forms`() throws {
        func text(_ filter: QueryFilter) throws -> String { try filter.expression.print(version: .v2) }
        #expect(try text(Person.name.replace("a", with: "b") == "bdb") == "replace(Name,'a','b') eq 'bdb'")
        #expect(try text(Errand.cost > 10) == "Cost gt 10M")
        #expect(try text(Errand.number == 10) == "Number eq 10L")
        #expect(try text(Errand.person.name.contains("x")) == "substringof('x',Person/Name)")
        #expect(try text(Errand.cost * 2 > Errand.number) == "Cost mul 2M gt Number")
    }

    @Test func `conditions on derived types find the matching entities`() async throws {
        let people = try await PeopleService(isUploaded: false)
        for condition in TypedCondition.types + TypedCondition.all {
            let query = DataQuery().filter(condition.filter()).orderBy(condition.set.key)
            #expect(
                try await people.keys(condition.set, query, by: people.offline) == condition.keys, "\(condition)")
        }
    }
}

extension String {
    fileprivate var escapedForURL: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self
    }
}
