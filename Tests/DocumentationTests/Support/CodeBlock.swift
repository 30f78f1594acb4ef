/// A fenced block of code in an article.
struct CodeBlock: Equatable {
    /// The language after the fence, or an empty string.
    let language: String
    /// The number of the first line of the code, counted from 1.
    let line: Int
    let lines: [String]
    /// The constants that a comment before the block declares: `<!-- given: orders: EntitySet; name: Property -->`.
    let given: [Constant]

    /// A constant that a block uses and does not declare.
    struct Constant: Equatable {
        let name: String
        let type: String
    }

    /// Returns all blocks of a Markdown text in order. A block that is not closed extends to the end of the text.
    static func blocks(in text: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var open: (fence: String, indent: Int, language: String, line: Int, lines: [String])?
        var given: [Constant] = []
        func close() {
            guard let block = open else { return }
            blocks.append(CodeBlock(language: block.language, line: block.line, lines: block.lines, given: given))
            open = nil
            given = []
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.drop { $0 == " " }
            let fence = content.prefix { $0 == "`" }
            if let block = open {
                if content == block.fence {
                    close()
                } else {
                    let indent = min(block.indent, line.count - content.count)
                    open?.lines.append(String(line.dropFirst(indent)))
                }
            } else if fence.count >= 3 {
                let language = String(content.dropFirst(fence.count))
                open = (String(fence), line.count - content.count, language, index + 2, [])
            } else if let constants = constants(in: content) {
                given = constants
            } else if !content.isEmpty {
                given = []
            }
        }
        close()
        return blocks
    }

    private static func constants(in line: Substring) -> [Constant]? {
        guard line.hasPrefix("<!-- given: "), line.hasSuffix(" -->") else { return nil }
        return line.dropFirst(12).dropLast(4).split(separator: "; ").map { text in
            let name = text.prefix { $0 != ":" }
            let type = text.dropFirst(name.count + 1).drop { $0 == " " }
            return Constant(name: String(name), type: String(type))
        }
    }
}
