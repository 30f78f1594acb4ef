import EDM

/// Reads a JSON document.
///
/// Required: a document that can be read is written as JSON with the same value; a reader that refuses repeated names
/// reads the same value, or refuses the document.
func fuzzJSON(_ input: [UInt8]) throws(Finding) {
    guard let value = try? JSONValue.parse(input) else {
        try require(
            (try? JSONValue.parse(input, allowsRepeatedNames: false)) == nil,
            "a strict reader accepts a malformed document")
        return
    }
    if let strict = try? JSONValue.parse(input, allowsRepeatedNames: false) {
        try require(strict == value, "two readers differ: \(strict.text), \(value.text)")
    }
    let text = value.text
    guard let again = try? JSONValue.parse(Array(text.utf8)) else {
        throw Finding("the written document cannot be read: \(text)")
    }
    try require(again.text == text, "written differently: \(text), \(again.text)")
}

let jsonSeeds: [[UInt8]] = [
    #"{"a":[1,-2.5e10,"x\u00e9\ud83d\ude00\n",true,false,null,{}],"a":2,"":{"b":[]}}"#, "[]", "\u{FEFF}12", #""""#,
    "[[[[[[[[1]]]]]]]]", #"{"a":1e400,"b":-0,"c":0.1,"d":9223372036854775808}"#,
].map { Array($0.utf8) }
