/// Puts structured types behind their base types, and refuses those that derive from themselves.
struct InheritanceOrder {
    let index: SchemaIndex
    let limit: Int

    func order() throws(CSDLError) -> [SchemaIndex.TypeDeclaration] {
        var depths: [String: Int] = [:]
        var result: [SchemaIndex.TypeDeclaration] = []
        for declaration in index.declarations where declaration.isStructured && depths[declaration.name] == nil {
            var chain: [SchemaIndex.TypeDeclaration] = []
            var onChain: Set<String> = []
            var depth = 0
            var next: SchemaIndex.TypeDeclaration? = declaration
            while let current = next {
                if let known = depths[current.name] {
                    depth = known + 1
                    break
                }
                guard onChain.insert(current.name).inserted else {
                    throw CSDLError(
                        .inheritanceCycle, "The type \"\(current.name)\" derives from itself.", at: current.element)
                }
                chain.append(current)
                next = try base(of: current)
            }
            for current in chain.reversed() {
                guard depth <= limit else {
                    throw CSDLError(
                        .tooDeep, "The type \"\(current.name)\" has more than \(limit) base types.",
                        at: current.element)
                }
                depths[current.name] = depth
                result.append(current)
                depth += 1
            }
        }
        return result
    }

    private func base(of declaration: SchemaIndex.TypeDeclaration) throws(CSDLError) -> SchemaIndex.TypeDeclaration? {
        guard let name = declaration.base else { return nil }
        guard let base = index.types[name] else {
            guard !index.isOwn(name, at: declaration.element) else {
                throw CSDLError(
                    .unresolvedName, "The base type \"\(name)\" of \"\(declaration.name)\" is not declared.",
                    at: declaration.element)
            }
            return nil
        }
        guard base.kind == declaration.kind else {
            throw CSDLError(
                .wrongKind, "The base type \"\(name)\" of \"\(declaration.name)\" is not of the same kind.",
                at: declaration.element)
        }
        return base
    }
}
