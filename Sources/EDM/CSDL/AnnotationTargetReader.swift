/// Checks the targets of annotation blocks. A target can be declared in another document, so only its syntax is
/// checked.
struct AnnotationTargetReader {
    let index: SchemaIndex

    /// Returns the target path of a block with aliases replaced.
    func target(of block: MarkupElement) throws(CSDLError) -> String {
        guard let text = block["Target"] else {
            throw CSDLError(.invalidAnnotation, "The Annotations have no target.", at: block)
        }
        let target = text.trimmed
        guard let segments = Self.segments(target), let first = segments.first, isFirst(first),
            segments.dropFirst().allSatisfy(isFurther)
        else {
            throw CSDLError(.invalidAnnotation, "The annotation target \"\(text)\" is not a path.", at: block)
        }
        if !first.contains(".") {
            try index.log.tolerate(.invalidAnnotation, "The annotation target \"\(text)\" has no namespace.", at: block)
        }
        return index.qualifiedPath(target, at: block)
    }

    /// Returns the segments between slashes outside of parentheses, or `nil` if the parentheses do not match.
    private static func segments(_ path: Substring) -> [Substring]? {
        var result: [Substring] = []
        var depth = 0
        var start = path.startIndex
        for position in path.indices {
            switch path[position] {
            case "(": depth += 1
            case ")":
                depth -= 1
                if depth < 0 { return nil }
            case "/" where depth == 0:
                result.append(path[start..<position])
                start = path.index(after: position)
            default: break
            }
        }
        result.append(path[start...])
        return depth == 0 ? result : nil
    }

    /// Whether the segment is a schema child, optionally with the parameter types of an action or function overload.
    private func isFirst(_ segment: Substring) -> Bool {
        guard let open = segment.firstIndex(of: "(") else { return isName(segment) || segment.isSimpleIdentifier }
        guard segment.hasSuffix(")"), isName(segment[..<open]) else { return false }
        let types = segment[segment.index(after: open)...].dropLast()
        return types.isEmpty || types.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(isType)
    }

    private func isType(_ text: Substring) -> Bool {
        var name = String(text).trimmed
        if name.hasPrefix("Collection("), name.hasSuffix(")") { name = name.dropFirst("Collection(".count).dropLast() }
        return isName(name)
    }

    /// Whether the text is a qualified name. The namespace need not consist of identifiers.
    private func isName(_ text: Substring) -> Bool {
        guard let dot = text.lastIndex(of: "."), dot != text.startIndex else { return false }
        return text[text.index(after: dot)...].isSimpleIdentifier && !text.contains("/")
    }

    private func isFurther(_ segment: Substring) -> Bool {
        if segment.hasPrefix("@") { return segment.count > 1 }
        if segment.hasPrefix("$") { return segment.count > 1 }
        if segment.contains("(") { return isFirst(segment) }
        return segment.contains(".") ? isName(segment) : segment.isUsableName
    }
}

extension SchemaIndex {
    /// Returns the path, as written at the element, with the aliases in its qualified names replaced.
    func qualifiedPath(_ path: some StringProtocol, at element: MarkupElement) -> String {
        guard path.contains(".") else { return String(path) }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            guard segment.contains("."), !segment.contains("@") else { return String(segment) }
            guard let open = segment.firstIndex(of: "("), segment.hasSuffix(")") else {
                return qualified(segment, at: element)
            }
            let types = segment[segment.index(after: open)...].dropLast().split(separator: ",").map { type in
                let name = String(type).trimmed
                guard name.hasPrefix("Collection("), name.hasSuffix(")") else { return qualified(name, at: element) }
                return "Collection(\(qualified(name.dropFirst("Collection(".count).dropLast(), at: element)))"
            }
            return "\(qualified(segment[..<open], at: element))(\(types.joined(separator: ",")))"
        }.joined(separator: "/")
    }
}
