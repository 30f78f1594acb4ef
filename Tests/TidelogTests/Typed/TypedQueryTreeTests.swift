import Foundation
import ODataWire
import Testing

@testable import Tidelog

/// A condition over typed properties is the same syntax tree as the text of a URL, and finds the same.
@Suite struct TypedQueryTreeTests {
    @Test(arguments: TypedCondition.all) func `a typed condition is the tree of its text`(
        _ condition: TypedCondition
    ) throws {
        // What a literal is compared with decides its type, which the text does not say: `10` of a decimal.
        let printed = try condition.filter().expression.print(version: .v401)
        #expect(try Expression.parse(printed, version: .v401) == Expression.parse(condition.url, version: .v401))
    }

    @Test func `a typed condition finds what its text finds, in the store and in the service`() async throws {
        let people = try await PeopleService()
        for condition in TypedCondition.all {
            let typed = DataQuery().filter(condition.filter()).orderBy(condition.set.key)
            let text = DataQuery().withURL(
                "\(condition.set.rawValue)?$filter=\(condition.url.escapedForURL)&$orderby=\(condition.set.key.name)")
            for service in [people.offline, people.online] {
                let name = service === people.offline ? "the store" : "the service"
                #expect(
                    try await people.keys(condition.set, typed, by: service) == condition.keys,
                    "\(condition) in \(name)")
            }
            let found = try await people.offline.executeQuery(text).entityList()
            #expect(found.compactMap { condition.set.key.optionalInt(from: $0) } == condition.keys, "\(condition)")
        }
    }
}

extension String {
    fileprivate var escapedForURL: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self
    }
}
