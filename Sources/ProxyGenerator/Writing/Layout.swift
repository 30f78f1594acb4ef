/// A piece of source that is written on one line if it fits, and is otherwise broken as `swift format` does.
indirect enum Layout {
    case text(String)
    /// Items between an opening and a closing text, separated by commas.
    case group(String, [Layout], String, GroupStyle)

    enum GroupStyle {
        /// The closing text follows the last item directly.
        case call
        /// The closing text, which also opens a body, is on its own line.
        case signature
        /// Like `signature`, with a comma after every item.
        case literal
    }

    static func call(_ open: String, _ items: [String], _ close: String = ")") -> Layout {
        .group(open, items.map { .text($0) }, close, .call)
    }

    private var flat: String {
        switch self {
        case .text(let text): text
        case .group(let open, let items, let close, _): open + items.map(\.flat).joined(separator: ", ") + close
        }
    }

    /// The maximum length of a line that can be broken.
    static let width = 120

    /// - Parameter suffix: Text that must follow the piece directly.
    func lines(indentation: Int, suffix: String = "") -> [String] {
        let margin = String(repeating: " ", count: indentation)
        let one = margin + flat + suffix
        guard one.count > Self.width, case .group(let open, let items, let close, let form) = self, !items.isEmpty
        else {
            return [one]
        }
        let end = form == .call ? close + suffix : form == .literal ? "," : ""
        let inner = margin + "    " + items.map(\.flat).joined(separator: ", ") + end
        var lines = [margin + open]
        if inner.count <= Self.width {
            lines.append(inner)
        } else {
            for (index, item) in items.enumerated() {
                lines += item.lines(indentation: indentation + 4, suffix: index < items.count - 1 ? "," : end)
            }
        }
        return form == .call ? lines : lines + [margin + close + suffix]
    }
}
