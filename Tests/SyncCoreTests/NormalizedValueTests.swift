import EDM
import SyncCore
import Testing

/// The forms in which a service may store a sent value.
struct NormalizedValueTests {
    private func decimal(_ text: String) throws -> Value { .decimal(try #require(DecimalValue(text))) }
    private func time(_ text: String) throws -> Value { .dateTimeOffset(try #require(GlobalDateTime(text))) }

    @Test(arguments: [
        ("1.005", "1.01", true), ("1.005", "1", true), ("1.996", "1.99", true), ("1.9996", "2.00", true),
        ("1.005", "1.02", false), ("1.01", "1.005", false), ("1.5", "1.5001", false), ("-1.25", "-1.2", true),
    ])
    func `a decimal may be rounded or truncated`(_ sent: String, _ found: String, _ expected: Bool) throws {
        #expect(try decimal(sent).isNormalized(as: decimal(found), nil) == expected)
        #expect(try !decimal(sent).isNormalized(as: decimal(found), Facets(scale: .fixed(4))))
    }

    @Test(arguments: [
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z", true),
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:06Z", true),
        ("2026-01-02T03:04:05.378Z", "2026-01-02T03:04:06Z", false),
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.67Z", true),
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.66Z", false),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:04Z", false),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z", true),
    ])
    func `a time may lose digits of its second, or change its offset`(
        _ sent: String, _ found: String, _ expected: Bool
    ) throws {
        #expect(try time(sent).isNormalized(as: time(found), nil) == expected)
    }

    @Test(arguments: [
        ("  Ada ", "Ada", true), (" Ada ", " Ada", true), (" ", "", false), ("Ada", "Ad", false), ("Ada", "Eve", false),
        ("Ada", "ada", true), ("Ada ", "ADA", true), ("Ada", "aDa", false), ("ADA", "Ada", false),
        ("77", "0000000077", true), ("077", "0077", true), ("0077", "77", false), ("7a", "007a", false),
        ("77", "177", false), ("77", "078", false), ("", "0", false), ("0", "00", true),
    ])
    func `a text may lose spaces at its ends, change its case, or get zeros before its digits`(
        _ sent: String, _ found: String, _ expected: Bool
    ) {
        #expect(Value.string(sent).isNormalized(as: .string(found), nil) == expected)
    }

    @Test func `only changed values are evidence that an update took effect`() throws {
        let type = EntityType(kind: .entity, name: "Shop.Customer", properties: [])
        let sent: PropertyValues = ["Name": .string("Lovelace 1842"), "Code": .string("A ")]
        let found: PropertyValues = ["Name": .string("Lovelace 1842"), "Code": .string("A")]
        let former: PropertyValues = ["Name": .string("Byron 1816"), "Code": .string("B")]
        #expect(sent.areNormalized(in: found, former: former, of: type))
        let same: PropertyValues = ["Name": .string("Lovelace 1842"), "Code": .string("B")]
        #expect(!sent.areNormalized(in: found, former: same, of: type))
    }
}
