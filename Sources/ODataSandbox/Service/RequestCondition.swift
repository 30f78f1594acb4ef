internal import EDM
internal import ODataQuery
internal import ODataWire

/// The condition in the `if` member of a request of a JSON batch: a Boolean expression that may contain
/// `$<name>/$succeeded`, `$<name>` and `$<name>/<path>` (OData JSON Format 4.01, section 19.1).
struct RequestCondition {
    /// The response to an earlier request.
    struct Answer {
        let name: String
        let response: WireResponse
    }

    let text: String

    /// The names of the requests to which the condition refers.
    var names: [String] {
        parts.compactMap { if case .reference(let name, _) = $0 { name } else { nil } }
    }

    init(_ text: String) { self.text = text }

    /// Returns whether the condition is true.
    ///
    /// - Parameter failed: The failed requests and groups.
    func isTrue(
        _ answers: [Answer], failed: Set<String>, _ version: ODataVersion
    ) throws(SandboxError) -> Bool {
        var expression = ""
        for part in parts {
            switch part {
            case .text(let text): expression += text
            case .reference(let name, let path):
                let response = answers.last { $0.name == name }?.response
                expression +=
                    path == ["$succeeded"]
                    ? String(!failed.contains(name) && response?.isSuccess != false)
                    : Self.literal(response.flatMap { try? JSONValue.parse($0.body) }, at: path)
            }
        }
        do {
            let parsed = try Expression.parse(expression, version: version)
            return try ExpressionEvaluator().isTrue(parsed, for: EvaluationScope(PropertyValues()))
        } catch {
            throw SandboxError(400, .invalidBatch, "The condition “\(text)” cannot be evaluated: \(error)")
        }
    }

    private enum TemplatePart {
        case text(String)
        case reference(String, path: [String])
    }

    /// The text, split at its references. Literals in quotes contain none.
    private var parts: [TemplatePart] {
        var parts: [TemplatePart] = []
        var rest = text[...]
        var plain = ""
        var isQuoted = false
        while let next = rest.first {
            if next == "\u{27}" { isQuoted.toggle() }
            guard next == "$", !isQuoted, plain.last.map({ !$0.isLetter && $0 != "/" }) ?? true else {
                plain.append(next)
                rest.removeFirst()
                continue
            }
            let token = rest.prefix { $0.isLetter || $0.isNumber || "$/_.~:@-".contains($0) }
            let steps = token.dropFirst().split(separator: "/").map(String.init)
            rest = rest[token.endIndex...]
            guard let name = steps.first else {
                plain += token
                continue
            }
            parts += [.text(plain), .reference(name, path: Array(steps.dropFirst()))]
            plain = ""
        }
        return parts + [.text(plain)]
    }

    /// Returns the value at the path as a literal; null if there is none, or if it is not primitive.
    private static func literal(_ body: JSONValue?, at path: [String]) -> String {
        var value = body
        for step in path { value = value?[step] }
        if path.isEmpty, let inner = body?["value"] { value = inner }
        switch value {
        case .string(let text)?:
            return "\u{27}"
                + text.split(separator: "\u{27}", omittingEmptySubsequences: false)
                .joined(separator: "\u{27}\u{27}") + "\u{27}"
        case .number?, .boolean?: return value?.text ?? "null"
        default: return "null"
        }
    }
}
