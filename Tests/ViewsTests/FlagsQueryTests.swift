import EDM
import Testing

@testable import Views

/// Conditions with enumerations whose members can be combined.
struct FlagsQueryTests {
    @Test(arguments: ["has 'Red'", "has S.Colour'Red'", "has S.Colour'1'", "has 'Blue,Red'"])
    func `has compares flags by their numbers in any form`(_ condition: String) throws {
        let store = try RowQueryTests.Store()
        try store.put("Orders", 1001, ["ID": .integer(1), "Colours": .enumeration("3")])
        try store.put("Orders", 1002, ["ID": .integer(2), "Colours": .enumeration("Blue, Red")])
        try store.put("Orders", 1003, ["ID": .integer(3), "Colours": .enumeration("Blue")])
        let request = try store.request("Orders?$filter=Colours " + condition)
        #expect(try store.ids(store.query.answerInMemory(request)) == [1001, 1002])
    }
}
