import EDM
import Testing

@Suite(.enabled(if: CSDLCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct `The metadata documents of the corpora` {
    @Test(arguments: CSDLCorpus.valid)
    func `each valid document has the counts of its index row`(row: CSDLCorpus.Row) throws {
        let model = try CSDLReader.read(CSDLCorpus.bytes(row.file))
        #expect(model.version.rawValue == row.version)
        for (name, count) in model.counts.list {
            let expected = try #require(row.facts[name], "the index has no fact \(name)")
            #expect(count == expected, "\(name)")
        }
    }

    /// All invalid documents but one are refused because nothing in them is usable. The exception has defects.
    @Test(arguments: CSDLCorpus.invalid)
    func `each invalid document is rejected or has defects, with a line`(row: CSDLCorpus.Row) throws {
        let bytes = try CSDLCorpus.bytes(row.file)
        do {
            let defects = try CSDLReader.read(bytes).defects
            #expect(row.file.hasSuffix("sap-invalid-references.xml"))
            #expect(defects.map(\.omitted?.kind) == ["Annotation", "Annotation"])
        } catch {
            #expect(!row.file.hasSuffix("sap-invalid-references.xml"), "\(error)")
        }
        let error = try #require(throws: CSDLError.self) { try CSDLReader(isStrict: true).read(bytes) }
        #expect(error.line >= 1)
        #expect(error.line <= bytes.count { $0 == 0x0A } + 1)
        #expect(!error.message.isEmpty)
    }

    @Test(arguments: CSDLCorpus.valid)
    func `each navigation property has a relationship that its partner shares`(row: CSDLCorpus.Row) throws {
        let model = try CSDLReader.read(CSDLCorpus.bytes(row.file))
        for type in model.schemas.flatMap(\.entityTypes) {
            for property in type.navigationProperties {
                let navigation = try #require(property.navigation)
                #expect(property.isCollection == (navigation.multiplicity == .many), "\(property)")
                guard let partner = model.partner(of: property), let back = partner.navigation else { continue }
                #expect(back.relationship.name == navigation.relationship.name, "\(property)")
                #expect(back.multiplicity == navigation.sourceMultiplicity, "\(property)")
                #expect(back.sourceMultiplicity == navigation.multiplicity, "\(property)")
                #expect(back.constraints == navigation.inverseConstraints, "\(property)")
                #expect(
                    partner == property || back.relationship.isForward != navigation.relationship.isForward,
                    "\(property)")
            }
        }
    }

    @Test(arguments: CSDLCorpus.valid)
    func `each binding refers to a set of the navigation property's type`(row: CSDLCorpus.Row) throws {
        let model = try CSDLReader.read(CSDLCorpus.bytes(row.file))
        for set in model.entitySets {
            for property in set.entityType.navigationProperties {
                guard let target = model.target(of: property, in: set), let navigation = property.navigation else {
                    continue
                }
                let isAbove = model.isType(target.entityType.name, derivedFrom: navigation.targetType)
                let isBelow = model.isType(navigation.targetType, derivedFrom: target.entityType.name)
                #expect(isAbove || isBelow, "\(set) \(property) leads to \(target)")
            }
        }
    }
}
