import EDM
import ODataQuery
import SyncCore
import Testing

/// The texts of keys in different notations of one value.
struct KeyTextTests {
    private func text(_ value: Value) -> String { KeyText.of(KeyPredicate([(name: "At", value: value)])) }

    @Test func `the offset of a point in time and trailing zeros do not distinguish keys`() throws {
        let texts = try ["2026-01-01T10:00:00+02:00", "2026-01-01T08:00:00Z", "2026-01-01T08:00:00.000Z"].map {
            text(.dateTimeOffset(try #require(GlobalDateTime($0))))
        }
        #expect(texts == Array(repeating: "At=dateTimeOffset(2026-01-01T08:00:00Z)", count: 3))
        #expect(text(.dateTimeOffset(try #require(GlobalDateTime("2026-01-01T10:00:00Z")))) != texts[0])
    }

    @Test func `trailing zeros do not distinguish local times`() throws {
        let short = try #require(LocalDateTime("2026-01-01T08:00:00"))
        let long = try #require(LocalDateTime("2026-01-01T08:00:00.000"))
        #expect(text(.dateTime(short)) == text(.dateTime(long)))
        #expect(text(.timeOfDay(short.time)) == text(.timeOfDay(long.time)))
        let other = try #require(LocalDateTime("2026-01-01T08:00:00.001"))
        #expect(text(.dateTime(short)) != text(.dateTime(other)))
    }
}
