import EDM
import SeededRandom
import Testing

@Suite struct `The JSON scanner` {
    @Test(arguments: [
        ("{}", "{}"), (" [ 1 , -0.5e+10 , true,false,null ] ", "[1,-0.5e+10,true,false,null]"),
        (#"{"b":1,"a":2,"b":3}"#, #"{"b":1,"a":2,"b":3}"#), ("\u{FEFF}0", "0"), (#""\u0041\/\ud83d\ude00""#, #""A/😀""#),
        (#""\"\\\b\f\n\r\t\u0001""#, #""\"\\\b\f\n\r\t\u0001""#),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        (#""schräg €""#, #""schräg €""#),
    ])
    func `valid JSON is read with its order, repeated names and digits`(text: String, written: String) throws {
        #expect(try JSONValue.parse(Array(text.utf8)).text == written)
    }

    @Test(arguments: [
        (#"{"a":1,"b":2,"a":3}"#, 13, "a"), (#"{"a":1,"\u0061":2}"#, 7, "a"), (#"{"\u0061":1,"a":2}"#, 12, "a"),
        (#"{"a\tb":1,"c":{"a":1},"a\tb":2}"#, 22, "a\tb"),
        ("{" + (0..<30).map { "\"name\($0)\":0," }.joined() + "\"name7\":0}", 321, "name7"),
        // Both after the 24th member, from which on names are hashed.
        ("{" + (0..<30).map { "\"name\($0)\":0," }.joined() + "\"name27\":0}", 321, "name27"),
        ("{" + (10..<40).map { "\"name\($0)\":0," }.joined() + "\"nam\\u006539\":0}", 331, "name39"),
        (#"{"\u0061":1,"b":2,"\u0061":3}"#, 18, "a"),
    ])
    func `a repeated name is an error whether its object is read or skipped`(
        text: String, offset: Int, name: String
    ) throws {
        for skips in [false, true] {
            let error = try #require(throws: JSONError.self) {
                var scanner = try JSONScanner(Array(text.utf8))
                scanner.checksNames = true
                if skips { try scanner.skip() } else { _ = try scanner.value() }
            }
            #expect(error.code == .duplicateName)
            #expect(error.offset == offset)
            #expect(error.message.contains(name))
        }
    }

    @Test(arguments: [
        ("", JSONError.Code.truncated, 0), ("[", .truncated, 1), ("{\"a\"", .truncated, 4), ("\"abc", .truncated, 4),
        ("[1,]", .syntax, 3), ("{\"a\":1,}", .syntax, 7), ("{a:1}", .syntax, 1), ("[1 2]", .syntax, 3),
        ("01", .syntax, 1),
        ("1.", .truncated, 2), ("1.e3", .syntax, 2), ("-", .truncated, 1), ("+1", .syntax, 0), (".5", .syntax, 0),
        ("NaN", .syntax, 0), ("tru", .truncated, 0), ("truE", .syntax, 0), ("'a'", .syntax, 0),
        ("\"a\nb\"", .syntax, 2),
        (#""\x""#, .syntax, 1), (#""\u12g4""#, .syntax, 1), (#""\ud83d""#, .loneSurrogate, 1),
        (#""\ude00""#, .loneSurrogate, 1), (#""\ud83d\u0041""#, .loneSurrogate, 1), ("1 2", .syntax, 2),
        ("{} }", .syntax, 3),
        (#"{"a":1 "b":2}"#, .syntax, 7), ("[1}", .syntax, 2), ("// c\n1", .syntax, 0),
    ])
    func `a syntax error has a code and an offset`(text: String, code: JSONError.Code, offset: Int) throws {
        let error = try #require(throws: JSONError.self) { try JSONValue.parse(Array(text.utf8)) }
        #expect(error.code == code)
        #expect(error.offset == offset)
    }

    @Test(
        arguments: [
            ([0x22, 0x61, 0xFF, 0x22], 2), ([0x22, 0xC3, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
            ([0x22, 0xC0, 0x80, 0x22], 1), ([0x22, 0xC3, 0xA4, 0x80, 0x22], 3),
        ] as [([UInt8], Int)])
    func `bytes that are not UTF-8 are rejected with their offset`(bytes: [UInt8], offset: Int) throws {
        let error = try #require(throws: JSONError.self) { try JSONValue.parse(bytes) }
        #expect(error.code == .invalidUTF8)
        #expect(error.offset == offset)
    }

    @Test func `nesting deeper than the limit is rejected`() throws {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        let error = try #require(throws: JSONError.self) { try JSONValue.parse(deep) }
        #expect(error.code == .tooDeep)
        #expect(error.offset == 100)
        let allowed = Array((String(repeating: "[", count: 100) + String(repeating: "]", count: 100)).utf8)
        #expect(throws: Never.self) { try JSONValue.parse(allowed) }
    }

    @Test func `documents larger than the limit are rejected`() throws {
        let error = try #require(throws: JSONError.self) {
            try JSONValue.parse(Array("[1,2]".utf8), limits: .init(size: 4))
        }
        #expect(error.code == .tooLarge)
    }

    @Test func `the items of an array are read one by one`() throws {
        var scanner = try JSONScanner(Array(#"{"x":{"y":[]},"value":[{"a":1},{"a":2}],"end":true}"#.utf8))
        var items: [String] = []
        try scanner.beginObject()
        while let name = try scanner.nextName() {
            guard name == "value" else {
                try scanner.skip()
                continue
            }
            try scanner.beginArray()
            while try scanner.nextItem() { items.append(try scanner.value().text) }
        }
        try scanner.end()
        #expect(items == [#"{"a":1}"#, #"{"a":2}"#])
    }

    @Test func `a lookup by name returns the last of several members with the name`() throws {
        #expect(try JSONValue.parse(Array(#"{"a":1,"a":2}"#.utf8))["a"] == .number("2"))
    }

    @Test func `damaged documents never trap and never cause an endless loop`() throws {
        let document = Array(
            #"{"d":{"results":[{"__metadata":{"uri":"x\u00e4\ud83d\ude00"},"N":-1.5e10,"T":true,"L":[null,"é"]}]}}"#
                .utf8)
        for length in 0..<document.count {
            #expect(throws: JSONError.self) { try JSONValue.parse(Array(document[..<length])) }
        }
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<5000 {
            var damaged = document
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            // A document that is still valid JSON must be written as equal JSON.
            if let value = try? JSONValue.parse(damaged) {
                #expect(try JSONValue.parse(Array(value.text.utf8)) == value, "seed \(seed)")
            }
        }
    }
}
