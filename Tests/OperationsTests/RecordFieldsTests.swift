import EDM
import Operations
import Testing

/// ``RecordFields`` describes payloads correctly, and covers the kinds of records that make up most of a log.
@Suite struct RecordFieldsTests {
    private static func fields(_ body: Record.Body) -> (payload: [UInt8], fields: [RecordFields.Field]) {
        let (kind, payload) = RecordCodec.encode(Record(time: 1_770_000_000_000, body: body))
        return (payload, payload.withUnsafeBytes { RecordFields.of(kind: kind, payload: $0) })
    }

    @Test(arguments: RecordCodecTests.bodies)
    func `fields are in order, do not overlap and have the content of their form`(body: Record.Body) {
        let (payload, fields) = Self.fields(body)
        var done = 0
        for field in fields {
            #expect(field.range.lowerBound >= done)
            #expect(!field.range.isEmpty)
            done = field.range.upperBound
            guard field.form != .fixed else { continue }
            let numberEnd = payload[field.range].firstIndex { $0 < 0x80 }
            switch field.form {
            case .number: #expect(numberEnd == field.range.upperBound - 1)
            case .text:
                guard field.range.count <= 128 else { continue }
                #expect(Int(payload[field.range.lowerBound]) == field.range.count - 1)
            case .fixed: break
            }
        }
        #expect(done <= payload.count)
    }

    @Test func `operations, pages and responses have fields, and other records have none`() {
        for body in RecordCodecTests.bodies {
            switch body {
            // The entities in a call are not separate numbers, so calls of actions are not described.
            case .operation(let operation) where operation.call != nil:
                #expect(Self.fields(body).fields.isEmpty)
            case .operation, .downloadPage, .entitiesRead, .batchAnswered: #expect(!Self.fields(body).fields.isEmpty)
            default: #expect(Self.fields(body).fields.isEmpty)
            }
        }
    }

    @Test func `two operations of the same structure differ only in their fields`() {
        func literals(_ number: Int64, _ note: String) -> [UInt8] {
            let operation = Operation(
                .update(
                    EntityID(rawValue: UInt64(number)),
                    changes: ["Number": .integer(number), "Note": .string(note), "Flag": .boolean(number % 2 == 0)],
                    bindings: []), baseETag: "W/\"\(number)\"")
            let (payload, fields) = Self.fields(.operation(operation))
            var literals: [UInt8] = []
            var done = 0
            for field in fields {
                literals += payload[done..<field.range.lowerBound]
                done = field.range.upperBound
            }
            return literals + payload[done...]
        }
        #expect(literals(1, "a") == literals(123_456_789, "something else"))
    }

    @Test func `truncated records have no fields, and changed bytes never trap`() {
        for body in RecordCodecTests.bodies {
            let (kind, payload) = RecordCodec.encode(Record(time: 5, body: body))
            for length in 0..<payload.count {
                payload[..<length].withUnsafeBytes { #expect(RecordFields.of(kind: kind, payload: $0).isEmpty) }
            }
            for index in payload.indices {
                var changed = payload
                changed[index] = 0xFF
                changed.withUnsafeBytes {
                    for field in RecordFields.of(kind: kind, payload: $0) {
                        #expect(field.range.upperBound <= $0.count)
                    }
                }
            }
        }
    }
}
