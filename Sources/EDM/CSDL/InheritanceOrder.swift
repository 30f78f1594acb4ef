/// Sorts structured types after their base types. Types that derive from themselves or from unusable types are
/// omitted.
struct InheritanceOrder {
    let index: SchemaIndex
    let limit: Int

    func order() throws(CSDLError) -> [SchemaIndex.TypeDeclaration] {
        var depths: [String: Int] = [:]
        var broken: Set<String> = []
        var result: [SchemaIndex.TypeDeclaration] = []
        for declaration in index.declarations
        where declaration.isStructured && depths[declaration.name] == nil && !broken.contains(declaration.name) {
            let chain = try chain(of: declaration, depths, broken)
            if let fault = chain.fault {
                try leaveOut(chain.types, chain.faulty, because: fault)
                broken.formUnion(chain.types.map(\.name))
                continue
            }
            var depth = chain.depth
            for current in chain.types.reversed() {
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

    /// A type and its base types that are not sorted yet.
    private struct Chain {
        var types: [SchemaIndex.TypeDeclaration] = []
        /// The depth of the last type.
        var depth = 0
        var fault: CSDLError?
        /// The number of types at the end of the chain that are faulty; all other types of the chain derive from these.
        var faulty = 1
    }

    private func chain(
        of declaration: SchemaIndex.TypeDeclaration, _ depths: [String: Int], _ broken: Set<String>
    ) throws(CSDLError) -> Chain {
        var chain = Chain()
        var places: [String: Int] = [:]
        var next: SchemaIndex.TypeDeclaration? = declaration
        while let current = next {
            if broken.contains(current.name), let last = chain.types.last {
                chain.fault = missingBase(of: last)
                return chain
            }
            if let known = depths[current.name] {
                chain.depth = known + 1
                return chain
            }
            if let place = places.updateValue(chain.types.count, forKey: current.name) {
                chain.fault = CSDLError(
                    .inheritanceCycle, "The type \"\(current.name)\" derives from itself.", at: current.element)
                chain.faulty = chain.types.count - place
                return chain
            }
            chain.types.append(current)
            do throws(CSDLError) { next = try base(of: current) } catch {
                chain.fault = error
                return chain
            }
        }
        return chain
    }

    /// Omits the faulty types of the chain with the fault, and all other types because of their base types.
    private func leaveOut(
        _ types: [SchemaIndex.TypeDeclaration], _ faulty: Int, because fault: CSDLError
    ) throws(CSDLError) {
        for (place, type) in types.enumerated().reversed() {
            let isFaulty = place >= types.count - faulty
            try index.log.leaveOut(type.element, because: isFaulty ? fault : missingBase(of: type))
        }
    }

    private func missingBase(of type: SchemaIndex.TypeDeclaration) -> CSDLError {
        CSDLError(
            .unresolvedName, "The base type \"\(type.base ?? "")\" of \"\(type.name)\" cannot be used.",
            at: type.element)
    }

    private func base(of declaration: SchemaIndex.TypeDeclaration) throws(CSDLError) -> SchemaIndex.TypeDeclaration? {
        guard let name = declaration.base else { return nil }
        guard let base = index.types[name] else {
            guard !index.isOwn(name, at: declaration.element) else {
                throw index.unresolved(
                    "base type", name, at: declaration.element, of: "\"\(declaration.name)\"")
            }
            return nil
        }
        guard base.kind == declaration.kind else {
            throw CSDLError(
                .wrongKind, "The base type \"\(name)\" of \"\(declaration.name)\" is of another kind.",
                at: declaration.element)
        }
        return base
    }
}
