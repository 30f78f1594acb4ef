import EDM
internal import LogInspection

/// A record in full, as lines: its JSON with one member in each line.
struct DetailText {
    private let detail: RecordDetail

    init(_ detail: RecordDetail) { self.detail = detail }

    var lines: [String] {
        guard let value = try? JSONValue.parse(Array(detail.json.utf8)) else { return [oneLine(detail.entry.summary)] }
        var lines: [String] = []
        // Iterative, because the depth of a value is not bounded.
        var left: [(name: String, value: JSONValue, depth: Int)] = [("", value, -1)]
        while let (name, value, depth) = left.popLast() {
            let indent = String(repeating: "  ", count: max(depth, 0))
            switch value {
            case .object(let members):
                if depth >= 0 { lines.append(indent + name + ":") }
                for member in members.members.reversed() {
                    left.append((oneLine(member.name), member.value, depth + 1))
                }
            case .array(let items) where items.contains(where: \.isNested):
                if depth >= 0 { lines.append(indent + name + ":") }
                for (place, item) in items.enumerated().reversed() { left.append(("\(place + 1)", item, depth + 1)) }
            default: lines.append(indent + name + ": " + oneLine(text(of: value)))
            }
        }
        return lines
    }

    private func text(of value: JSONValue) -> String {
        var json = JSONWriter()
        json.value(value)
        return json.text
    }
}

extension JSONValue {
    fileprivate var isNested: Bool {
        switch self {
        case .object, .array: true
        default: false
        }
    }
}
