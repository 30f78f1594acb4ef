extension [UInt8] {
    /// Returns whether the UTF-8 of a text occurs in the bytes. The generic search of the standard library takes much
    /// longer.
    func contains(text: String) -> Bool {
        let text = Array(text.utf8)
        guard let first = text.first, text.count <= count else { return text.isEmpty }
        for start in 0...(count - text.count) where self[start] == first {
            var length = 1
            while length < text.count, self[start + length] == text[length] { length += 1 }
            if length == text.count { return true }
        }
        return false
    }
}
