/// A declaration of a source that apps see: a public or open one, a requirement of a public protocol, or a case of a
/// public enumeration.
struct PublicDeclaration {
    let name: String
    /// The line of its first modifier, from 1.
    let line: Int
    /// The text of that line, without its indentation.
    let head: Substring
    /// The lines of its documentation comment.
    let comment: [Substring]
    /// Whether it is a requirement of a public protocol.
    let isRequirement: Bool
    /// Whether a call, or reading the property, throws.
    let isThrowing: Bool

    var namesErrors: Bool { comment.contains { $0.contains("- Throws:") } }

    /// A declaration with members.
    private struct Scope {
        let indentation: Int
        let keyword: Substring
        let isPublic: Bool
    }

    /// Returns the declarations of a source with the indentation of `swift format`, except for extensions.
    ///
    /// Several cases in one line are one declaration. Members in the line of their type are not found.
    static func all(in text: String) -> [PublicDeclaration] {
        let declaration =
            /(?:@\w+(?:\([^)]*\))? )*((?:[a-z]+(?:\([a-z]+\))? )*)(func|var|let|init|subscript|typealias|associatedtype|struct|class|enum|actor|protocol|extension|case)\b(?: `?([^\s(`:{,<]+|<=?))?/
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var found: [PublicDeclaration] = []
        var scopes: [Scope] = []
        var isInLiteral = false
        for (index, line) in lines.enumerated() {
            let indentation = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            let text = line[line.utf8.index(line.startIndex, offsetBy: indentation)...]
            if isInLiteral {
                isInLiteral = !text.hasPrefix("\"\"\"")
                continue
            }
            isInLiteral = line.hasSuffix("\"\"\"")
            // Most lines are comments, or too deep for a member of a type.
            guard text.first.map({ $0.isLowercase || $0 == "@" }) ?? false,
                indentation <= (scopes.last?.indentation ?? 0) + 4
                    || ["public ", "open ", "@"].contains(where: text.hasPrefix),
                let match = text.prefixMatch(of: declaration)
            else { continue }
            let keyword = match.2
            let modifiers = match.1.split(separator: " ")
            let isPublic = modifiers.contains("public") || modifiers.contains("open")
            scopes.removeAll { $0.indentation >= indentation }
            let scope = scopes.last.flatMap { $0.isPublic && $0.indentation + 4 == indentation ? $0 : nil }
            let isRequirement = scope?.keyword == "protocol"
            let isCase = keyword == "case" && scope?.keyword == "enum"
            if ["struct", "class", "enum", "actor", "protocol", "extension"].contains(keyword) {
                scopes.append(Scope(indentation: indentation, keyword: keyword, isPublic: isPublic))
            }
            guard keyword != "extension", isPublic || isRequirement || isCase else { continue }
            found.append(
                PublicDeclaration(
                    name: String(match.3 ?? keyword), line: index + 1, head: text,
                    comment: comment(before: index, of: lines), isRequirement: isRequirement,
                    isThrowing: isThrowing(keyword, lines[index...])))
        }
        return found
    }

    /// Returns the documentation comment of the declaration in a line, which attributes may separate from it.
    private static func comment(before index: Int, of lines: [Substring]) -> [Substring] {
        var above = lines[..<index].reversed()[...].map { $0.drop { $0 == " " } }[...]
        // The arguments of an attribute may take several lines, of which the last one is a parenthesis.
        if above.first == ")" { above = above.drop { !$0.hasPrefix("@") } }
        return above.drop { $0.hasPrefix("@") }.prefix { $0.hasPrefix("///") }.map { $0 }
    }

    private static func isThrowing(_ keyword: Substring, _ lines: ArraySlice<Substring>) -> Bool {
        switch keyword {
        case "var": throwsWhenRead(lines)
        case "func", "init", "subscript": throwsWhenCalled(lines)
        default: false
        }
    }

    /// Returns whether the getter of a property, in its first line or the next one, throws.
    private static func throwsWhenRead(_ lines: ArraySlice<Substring>) -> Bool {
        lines.prefix(2).contains { $0.contains(/(?:^\s*|\{ )get (?:async )?throws\b/) }
    }

    /// Returns whether `throws` is outside of the parentheses of the declaration with which the lines begin.
    private static func throwsWhenCalled(_ lines: ArraySlice<Substring>) -> Bool {
        var depth = 0
        var signature = ""
        for line in lines {
            // Inside of parentheses, or the first line.
            guard depth > 0 || signature.isEmpty else { break }
            for character in line {
                if character == "(" { depth += 1 }
                if depth == 0, character == "{" { return signature.contains(/\bthrows\b/) }
                if depth == 0 { signature.append(character) }
                if character == ")" { depth -= 1 }
            }
        }
        return signature.contains(/\bthrows\b/)
    }
}
