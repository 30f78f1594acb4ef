import EDM

extension JSONWriter {
    mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: some BinaryInteger) {
        self.name(name)
        raw(String(value))
    }

    mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        boolean(value)
    }

    mutating func numbers(_ name: String, _ values: [some BinaryInteger]) {
        self.name(name)
        beginArray()
        for value in values { raw(String(value)) }
        endArray()
    }
}
