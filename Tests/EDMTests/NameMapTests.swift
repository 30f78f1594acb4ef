import EDM
import Testing

struct NameMapTests {
    @Test(arguments: [0, 1, 7, 8, 9, 1_000])
    func `each name has its value, and no other name has one`(_ count: Int) {
        // All lengths around the words of the hash, with common beginnings and ends.
        let names = (0..<count).map { String(repeating: "N", count: $0 % 26) + "ame\($0)" }
        let map = NameMap(names.enumerated().map { ($1, $0) })
        #expect(map.count == count)
        for (place, name) in names.enumerated() {
            #expect(map[name] == place)
            #expect(map[name + "x"] == nil)
            #expect(map[String(name.dropFirst())] == names.firstIndex(of: String(name.dropFirst())))
        }
        #expect(map[""] == nil)
    }

    @Test func `the first of several values is used`() {
        let map = NameMap([("a", 1), ("b", 2), ("a", 3)])
        #expect(map["a"] == 1 && map["b"] == 2 && map.count == 2)
    }

    @Test func `names are equal as in a dictionary, by canonical equivalence`() {
        let map = NameMap([("caf\u{E9}", 1), ("cafe\u{301}", 2), ("tea", 3)])
        #expect(map["caf\u{E9}"] == 1 && map["cafe\u{301}"] == 1 && map["tea"] == 3 && map.count == 2)
        #expect(NameMap([("K", 1)])["\u{212A}"] == 1)
        #expect(NameMap([("K", 1)])["\u{E9}"] == nil)
    }
}
