import EDM
import ODataQuery
import Testing

/// Values of the form `/Date(ticks±offset)/` (MS-ODATA 2.2.6.3.1).
@Suite struct `Dates of V2 JSON` {
    private func read(_ text: String, as type: PrimitiveType = .dateTime) -> Value? {
        try? PrimitiveLiteral.parse(text, as: type, version: .v2, form: .json)
    }

    @Test(arguments: [
        ("/Date(0)/", "1970-01-01T00:00:00"), ("/Date(0+0000)/", "1970-01-01T00:00:00"),
        ("/Date(0-0000)/", "1970-01-01T00:00:00"), ("/Date(0+0060)/", "1970-01-01T01:00:00"),
        ("/Date(0-0060)/", "1969-12-31T23:00:00"), ("/Date(-1)/", "1969-12-31T23:59:59.999"),
        ("/Date(-86400000+1439)/", "1969-12-31T23:59:00"), ("/Date(1330558323000+60)/", "2012-03-01T00:32:03"),
        ("/Date(253402300799999)/", "9999-12-31T23:59:59.999"),
    ])
    func `a date is read as the local time of its ticks and offset`(text: String, local: String) throws {
        let expected = try #require(LocalDateTime(local))
        guard case .dateTime(let found)? = read(text) else {
            Issue.record("\(text) is not read")
            return
        }
        #expect(found == expected, "\(text): \(found)")
    }

    @Test(arguments: [
        "/Date(0+1440)/", "/Date(0+)/", "/Date(0+00000)/", "/Date()/", "/Date(0", "/Date(0)", "/Date(0)/x",
        "/Date(+1)/",
        "/Date(0+00:60)/", "/Date(9999999999999999999)/",
        "/Date(--1)/",
    ])
    func `a date with an invalid format or out of range is rejected`(text: String) {
        #expect(read(text) == nil)
        #expect(read(text, as: .dateTimeOffset) == nil)
    }
}
