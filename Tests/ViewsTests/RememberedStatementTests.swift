import EDM
import ODataWire
import Testing

@testable import Views

/// A query that differs from one before in its values alone runs the statement of that one, and finds its own entities.
struct RememberedStatementTests {
    @Test(arguments: [
        ("Mood eq 'Bad'", "Mood eq 'Awful'"), ("Mood in ('Bad','0')", "Mood in ('Awful','1')"),
        ("Mood eq 'Bad' or Mood eq '0'", "Mood eq 'Awful' or Mood eq '1'"), ("'Bad' eq Mood", "'Awful' eq Mood"),
    ])
    func `members of enumerations that are written as strings are those of the query`(first: String, second: String)
        throws
    {
        let shop = try SmallShop()
        try shop.put("Orders", 1, ["Mood": .enumeration("Bad")])
        try shop.put("Orders", 2, ["Mood": .enumeration("Awful")])
        #expect(try shop.find("Orders?$filter=" + first) == [1])
        #expect(try shop.find("Orders?$filter=" + second) == [2])
    }

    /// For Swift the two are equal; for OData, which compares Unicode scalars, they are not.
    @Test(arguments: ["Text eq '%@'", "contains(Text,'%@')", "endswith(Text,'%@')", "Text in ('x','%@')"])
    func `texts whose characters are composed in another way are other texts`(filter: String) throws {
        let shop = try SmallShop()
        for (id, text) in [(1, "é"), (2, "e\u{301}")] as [(UInt64, String)] {
            try shop.put("Orders", id, ["Text": .string(text)])
        }
        for (id, text) in [(1, "é"), (2, "e\u{301}")] as [(UInt64, String)] {
            #expect(try shop.find("Orders?$filter=" + filter.replacing("%@", with: text)) == [id])
        }
    }

    @Test func `a decimal keeps its zeros where a function sees them`() throws {
        let shop = try SmallShop()
        try shop.put("Orders", 1, ["Text": .string("1.50")])
        try shop.put("Orders", 2, ["Text": .string("1.5")])
        #expect(try shop.find("Orders?$filter=Text eq cast(1.50,Edm.String)") == [1])
        #expect(try shop.find("Orders?$filter=Text eq cast(1.5,Edm.String)") == [2])
    }
}
