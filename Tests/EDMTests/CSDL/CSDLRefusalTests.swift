import EDM
import Testing

/// A document that a strict reader refuses, and the rule that it violates.
struct CSDLRefusal: Sendable, CustomTestStringConvertible {
    let rule: String
    let code: CSDLError.Code
    /// The line of the element that violates the rule.
    let line: Int
    let text: String

    var testDescription: String { rule }

    /// Returns a refusal of a V4 document whose body begins in line 2.
    static func v4(_ rule: String, _ code: CSDLError.Code, line: Int = 2, _ body: String) -> CSDLRefusal {
        CSDLRefusal(rule: rule, code: code, line: line, text: CSDLSource.v4(body))
    }

    static func v2(_ rule: String, _ code: CSDLError.Code, line: Int = 2, _ body: String) -> CSDLRefusal {
        CSDLRefusal(rule: rule, code: code, line: line, text: CSDLSource.v2(body))
    }

    static func text(_ rule: String, _ code: CSDLError.Code, line: Int = 1, _ text: String) -> CSDLRefusal {
        CSDLRefusal(rule: rule, code: code, line: line, text: text)
    }
}

@Suite struct `A metadata document is refused` {
    private static func strict(_ text: String) throws(CSDLError) -> EntityDataModel {
        try CSDLReader(isStrict: true).read(Array(text.utf8))
    }

    static let texts: [CSDLRefusal] = [
        .text("an empty document", .notMetadata, ""),
        .text("nothing but white space", .notMetadata, line: 3, "\n \n"),
        .text("JSON", .notMetadata, #"{"value":[]}"#),
        .text("plain text", .notMetadata, line: 2, "\nUnauthorized"),
        .text("a web page", .notMetadata, "<html><body><br></body></html>"),
        .text("a web page with a DOCTYPE", .notMetadata, "<!DOCTYPE html>\n<html><p></html>"),
        .text("other XML", .notMetadata, line: 2, "<?xml version='1.0'?>\n<feed xmlns='http://www.w3.org/2005/Atom'/>"),
        .text("an Edmx of an unknown namespace", .notMetadata, "<Edmx xmlns='urn:x'/>"),
        .text("an Edmx without schema", .notMetadata, CSDLSource.v4("").replacing("Schema", with: "Annotation")),
        .text("a version that is not known", .unknownVersion, CSDLSource.v4("", version: "5.0")),
        .text("no schema namespace", .missing, "<Schema xmlns='http://docs.oasis-open.org/odata/ns/edm'/>"),
        .text(
            "an unclosed element", .malformedXML, line: 2, "<Schema xmlns='http://docs.oasis-open.org/odata/ns/edm'\n>"),
        .text("a second root", .malformedXML, CSDLSource.v4("").replacing("\n", with: "") + "<a/>"),
        .v4("mismatched tags", .malformedXML, line: 3, "<EnumType Name='E'>\n</ComplexType>"),
        .v4("an undeclared prefix", .malformedXML, "<x:EnumType Name='E'/>"),
        .v4("an undefined entity", .malformedXML, "<EnumType Name='&nbsp;'/>"),
        .v4("bytes that are no characters", .malformedXML, "<EnumType Name='\u{1}'/>"),
        .text("a DOCTYPE", .doctypeRefused, "<!DOCTYPE Edmx [<!ENTITY a 'b'>]>" + CSDLSource.v4("")),
        .text("an external DOCTYPE", .doctypeRefused, line: 2, "\n<!DOCTYPE Edmx SYSTEM 'file:///etc/passwd'><Edmx/>"),
    ]

    static let types: [CSDLRefusal] = [
        .v4("a type without name", .missing, "<EntityType/>"),
        .v4("a name that a path could not hold", .invalidName, "<ComplexType Name='a/b'/>"),
        .v4("an empty name", .invalidName, "<ComplexType Name=''/>"),
        .v4("two types of one name", .duplicateName, line: 3, "<ComplexType Name='A'/>\n<EnumType Name='A'/>"),
        .v4(
            "two properties of one name", .duplicateName, line: 3,
            "<ComplexType Name='A'><Property Name='P' Type='Edm.Int32'/>\n<NavigationProperty Name='P' Type='O.T'/></ComplexType>"
        ),
        .v4(
            "a property that the base type has", .duplicateName, line: 3,
            "<ComplexType Name='A'><Property Name='P' Type='Edm.Int32'/></ComplexType><ComplexType Name='B' BaseType='S.A'>\n"
                + "<Property Name='P' Type='Edm.Int32'/></ComplexType>"),
        .v4("a property without type", .missing, "<ComplexType Name='A'><Property Name='P'/></ComplexType>"),
        .v4(
            "a property of an undeclared type of the own namespace", .unresolvedName,
            "<ComplexType Name='A'><Property Name='P' Type='Self.B'/></ComplexType>"),
        .v4(
            "a type name that is none", .invalidName,
            "<ComplexType Name='A'><Property Name='P' Type='Collection(Edm.Int32'/></ComplexType>"),
        .v4("an undeclared base type of the own namespace", .unresolvedName, "<ComplexType Name='A' BaseType='S.B'/>"),
        .v4(
            "a base type of another kind", .wrongKind, line: 3,
            "<EntityType Name='A'/>\n<ComplexType Name='B' BaseType='S.A'/>"),
        .v4("a type that derives from itself", .inheritanceCycle, "<ComplexType Name='A' BaseType='S.A'/>"),
        .v4(
            "types that derive from each other", .inheritanceCycle,
            "<EntityType Name='A' BaseType='S.B'/><EntityType Name='B' BaseType='S.C'/><EntityType Name='C' BaseType='S.B'/>"
        ),
        .v4(
            "a second key", .invalidKey, line: 3,
            "<EntityType Name='A'><Key><PropertyRef Name='I'/></Key>\n<Key><PropertyRef Name='I'/></Key><Property Name='I' Type='Edm.Int32'/></EntityType>"
        ),
        .v4(
            "a key beside an inherited one", .invalidKey,
            CSDLSource.entityType("A")
                + "<EntityType Name='B' BaseType='S.A'><Key><PropertyRef Name='X'/></Key><Property Name='X' Type='Edm.Int32'/></EntityType>"
        ),
        .v4(
            "a key of a complex type", .invalidKey,
            "<ComplexType Name='A'><Key><PropertyRef Name='I'/></Key><Property Name='I' Type='Edm.Int32'/></ComplexType>"
        ),
        .v4("an empty key", .invalidKey, "<EntityType Name='A'><Key/></EntityType>"),
        .v4(
            "a property twice in a key", .invalidKey, line: 3,
            "<EntityType Name='A'><Property Name='I' Type='Edm.Int32'/><Key><PropertyRef Name='I'/>\n<PropertyRef Name='I'/></Key></EntityType>"
        ),
        .v4(
            "a collection in a key", .invalidKey,
            "<EntityType Name='A'><Property Name='I' Type='Collection(Edm.Int32)'/><Key><PropertyRef Name='I'/></Key></EntityType>"
        ),
        .v4(
            "a navigation property in a key", .invalidKey,
            "<EntityType Name='A'><NavigationProperty Name='I' Type='S.A'/><Key><PropertyRef Name='I'/></Key></EntityType>"
        ),
        .v4(
            "a path in a key without alias", .invalidKey,
            "<ComplexType Name='C'><Property Name='I' Type='Edm.Int32'/></ComplexType><EntityType Name='A'><Property Name='C' Type='S.C'/><Key><PropertyRef Name='C/I'/></Key></EntityType>"
        ),
        .v4("an underlying type that is not primitive", .wrongKind, "<TypeDefinition Name='A' UnderlyingType='S.A'/>"),
    ]

    static let values: [CSDLRefusal] = [
        .v4(
            "a length that is no number", .invalidValue,
            "<ComplexType Name='A'><Property Name='P' Type='Edm.String' MaxLength='long'/></ComplexType>"),
        .v4(
            "a length beyond all numbers", .invalidValue,
            "<ComplexType Name='A'><Property Name='P' Type='Edm.String' MaxLength='99999999999999999999'/></ComplexType>"
        ),
        .v4(
            "a negative precision", .invalidValue,
            "<ComplexType Name='A'><Property Name='P' Type='Edm.Decimal' Precision='-1'/></ComplexType>"),
        .v4(
            "a scale that is no number", .invalidValue,
            "<ComplexType Name='A'><Property Name='P' Type='Edm.Decimal' Scale='some'/></ComplexType>"),
        .v4(
            "nullability that is no Boolean", .invalidValue,
            "<ComplexType Name='A'><Property Name='P' Type='Edm.String' Nullable='maybe'/></ComplexType>"),
        .v4(
            "two members of one name", .duplicateName, line: 3,
            "<EnumType Name='E'><Member Name='A'/>\n<Member Name='A'/></EnumType>"),
        .v4(
            "a member's value that is no number", .invalidValue, line: 3,
            "<EnumType Name='E'>\n<Member Name='A' Value='one'/></EnumType>"),
        .v4(
            "a member's value that does not fit", .invalidValue,
            "<EnumType Name='E' UnderlyingType='Edm.Byte'><Member Name='A' Value='256'/></EnumType>"),
        .v4(
            "a member after the largest value", .invalidValue, line: 3,
            "<EnumType Name='E' UnderlyingType='Edm.Int64'><Member Name='A' Value='9223372036854775807'/>\n<Member Name='B'/></EnumType>"
        ),
        .v4("an enumeration of strings", .wrongKind, "<EnumType Name='E' UnderlyingType='Edm.String'/>"),
    ]

    static let relationships: [CSDLRefusal] = [
        .v4(
            "a navigation property that leads to a complex type", .wrongKind, line: 3,
            "<ComplexType Name='C'>\n<NavigationProperty Name='N' Type='S.C'/></ComplexType>"),
        .v4(
            "a partner that does not exist", .invalidPartner,
            CSDLSource.entityType("A", "<NavigationProperty Name='N' Type='S.A' Partner='M'/>")),
        .v4(
            "a partner that is no navigation property", .invalidPartner,
            CSDLSource.entityType("A", "<NavigationProperty Name='N' Type='S.A' Partner='ID'/>")),
        .v4(
            "a partner that leads elsewhere", .invalidPartner,
            CSDLSource.entityType("A", "<NavigationProperty Name='N' Type='S.B' Partner='M'/>")
                + CSDLSource.entityType("B", "<NavigationProperty Name='M' Type='S.B'/>")),
        .v2(
            "an unknown multiplicity", .unknownMultiplicity, line: 3,
            legacy.replacing("Multiplicity='*'", with: "Multiplicity='0..*'")),
        .v2(
            "an association with one end", .invalidAssociation,
            legacy.replacing("\n<End Role='B' Type='S.B' Multiplicity='*'/>", with: "")),
        .v2(
            "two ends of one role", .invalidAssociation, line: 3,
            legacy.replacing("Role='B' Type='S.B' M", with: "Role='A' Type='S.B' M")),
        .v2("an end without type", .missing, line: 3, legacy.replacing("Role='B' Type='S.B' M", with: "Role='B' M")),
        .v2(
            "a navigation property of an undeclared association", .unresolvedName,
            legacy.replacing("Relationship='S.R'", with: "Relationship='S.X'")),
        .v2(
            "a navigation property with an unknown role", .invalidAssociation,
            legacy.replacing("ToRole='B'", with: "ToRole='C'")),
        .v2(
            "a navigation property that goes nowhere", .invalidAssociation,
            legacy.replacing("ToRole='B'", with: "ToRole='A'")),
        .v2(
            "a navigation property of a type that is not at its end", .invalidAssociation,
            legacy.replacing("FromRole='A' ToRole='B'", with: "FromRole='B' ToRole='A'")),
        .v2(
            "a constraint with an unknown role", .invalidAssociation, line: 4,
            legacy.replacing("Principal Role='A'", with: "Principal Role='C'")),
        .v2("a constraint without dependent", .missing, line: 4, legacy.replacing("Dependent", with: "Documentation")),
        .v2(
            "an association set of an undeclared association", .unresolvedName, line: 5,
            legacy.replacing("Association='S.R'", with: "Association='S.X'")),
        .v2(
            "an association set with an unknown role", .invalidAssociation, line: 6,
            legacy.replacing("Role='A' EntitySet", with: "Role='C' EntitySet")),
        .v2(
            "an association set with an unknown entity set", .unknownEntitySet, line: 6,
            legacy.replacing("EntitySet='As'", with: "EntitySet='Cs'")),
        .v2(
            "an association set whose set is of another type", .invalidAssociation, line: 6,
            legacy.replacing("EntitySet='As'", with: "EntitySet='Bs'")),
    ]

    static let legacy =
        CSDLSource.entityType("A", "<NavigationProperty Name='N' Relationship='S.R' FromRole='A' ToRole='B'/>")
        + CSDLSource.entityType("B")
        + "<Association Name='R'><End Role='A' Type='S.A' Multiplicity='1'/>\n<End Role='B' Type='S.B' Multiplicity='*'/>\n"
        + "<ReferentialConstraint><Principal Role='A'><PropertyRef Name='ID'/></Principal><Dependent Role='B'><PropertyRef Name='ID'/></Dependent></ReferentialConstraint></Association>\n"
        + "<EntityContainer Name='C'><EntitySet Name='As' EntityType='S.A'/><EntitySet Name='Bs' EntityType='S.B'/><AssociationSet Name='Rs' Association='S.R'>\n"
        + "<End Role='A' EntitySet='As'/><End Role='B' EntitySet='Bs'/></AssociationSet></EntityContainer>"

    static let others: [CSDLRefusal] = [
        .v4(
            "a set of an undeclared type of the own namespace", .unresolvedName, line: 3,
            "<EntityContainer Name='C'>\n<EntitySet Name='A' EntityType='S.A'/></EntityContainer>"),
        .v4(
            "a set of a complex type", .wrongKind, line: 3,
            "<ComplexType Name='A'/><EntityContainer Name='C'>\n<EntitySet Name='A' EntityType='S.A'/></EntityContainer>"
        ),
        .v4("a set without type", .missing, "<EntityContainer Name='C'><EntitySet Name='A'/></EntityContainer>"),
        .v4(
            "a set and a singleton of one name", .duplicateName, line: 3,
            CSDLSource.entityType("A")
                + "<EntityContainer Name='C'><EntitySet Name='X' EntityType='S.A'/>\n<Singleton Name='X' Type='S.A'/></EntityContainer>"
        ),
        .v4(
            "two containers of one name", .duplicateName, line: 3,
            "<EntityContainer Name='C'/>\n<EntityContainer Name='C'/>"),
        .v4(
            "an import of an undeclared action", .unresolvedName,
            "<EntityContainer Name='C'><ActionImport Name='X' Action='S.X'/></EntityContainer>"),
        .v4("a bound action without parameter", .invalidOperation, "<Action Name='X' IsBound='true'/>"),
        .v4("a parameter without type", .missing, "<Action Name='X'><Parameter Name='p'/></Action>"),
        .v4(
            "two terms of one name", .duplicateName, line: 3,
            "<Term Name='T' Type='Edm.String'/>\n<Term Name='T' Type='Edm.String'/>"),
        .v4(
            "an annotation without term", .invalidAnnotation,
            "<ComplexType Name='C'><Annotation String=''/></ComplexType>"),
        .v4("annotations without target", .invalidAnnotation, "<Annotations/>"),
        .v4(
            "an annotation target with an empty parameter type", .invalidAnnotation, "<Annotations Target='S.F(S.T,)'/>"
        ),
        .v4("an annotation target with an empty segment", .invalidAnnotation, "<Annotations Target='S.T//P'/>"),
        .v4("an annotation target with open parentheses", .invalidAnnotation, "<Annotations Target='S.F(S.T'/>"),
        .v4(
            "an empty property path", .invalidAnnotation, line: 3,
            "<ComplexType Name='C'><Annotation Term='O.T'><Collection>\n<PropertyPath></PropertyPath></Collection></Annotation></ComplexType>"
        ),
        .v4(
            "an empty path attribute", .invalidAnnotation, line: 3,
            "<ComplexType Name='C'>\n<Annotation Term='O.T' Path=''/></ComplexType>"),
        .v4(
            "a property of an entity type", .wrongKind, line: 3,
            CSDLSource.entityType("A") + "<ComplexType Name='C'>\n<Property Name='P' Type='S.A'/></ComplexType>"),
        .text(
            "one alias of two namespaces", .duplicateName, line: 2,
            CSDLSource.v4("").replacing(
                "</Schema>",
                with: "</Schema><Schema xmlns='http://docs.oasis-open.org/odata/ns/edm' Namespace='T' Alias='Self'/>")),
    ]

    @Test(arguments: texts + types + values + relationships + others)
    func `a strict reader rejects an invalid document with a code and the line of the error`(refusal: CSDLRefusal)
        throws
    {
        let error = try #require(throws: CSDLError.self) { try Self.strict(refusal.text) }
        #expect(error.code == refusal.code, "\(error)")
        #expect(error.line == refusal.line, "\(error)")
    }

    @Test func `the error has the column at which the tag begins`() throws {
        let error = try #require(throws: CSDLError.self) {
            try Self.strict(CSDLSource.v4("<ComplexType\n  Name='A'/> <ComplexType\n  Name='A'/>"))
        }
        #expect(error.line == 3)
        #expect(error.column == 14)
    }

    @Test(arguments: texts)
    func `a document that is not metadata is rejected by any reader`(refusal: CSDLRefusal) throws {
        let error = try #require(throws: CSDLError.self) { try CSDLReader.read(Array(refusal.text.utf8)) }
        #expect(error.code == refusal.code, "\(error)")
        #expect(error.line == refusal.line, "\(error)")
    }

    /// The rest of the document is used.
    @Test(arguments: types + values + relationships + others)
    func `an invalid element is omitted, and the rest of the document is used`(refusal: CSDLRefusal) throws {
        let text = refusal.text.replacing("</edmx:DataServices>", with: Self.usable + "</edmx:DataServices>")
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(model.defects.contains { $0.code == refusal.code && $0.line == refusal.line }, "\(model.defects)")
        #expect(model.defects.contains { $0.omitted != nil }, "\(model.defects)")
        #expect(model.findEntitySet("Others")?.entityType.keyProperties.map(\.name) == ["ID"])
        // The used elements do not refer to omitted ones.
        for type in model.schemas.flatMap({ $0.entityTypes + $0.complexTypes }) {
            for property in type.properties {
                if case .complex(let name) = property.type.kind { #expect(model.findComplexType(name) != nil) }
            }
            for property in type.navigationProperties {
                let target = property.navigation?.targetType ?? ""
                #expect(model.findEntityType(target) != nil || !target.hasPrefix("S."), "\(property)")
            }
        }
        for set in model.entitySets { #expect(model.findEntityType(set.entityType.name) != nil, "\(set)") }
    }

    private static let usable =
        "<Schema xmlns='http://docs.oasis-open.org/odata/ns/edm' Namespace='U'>" + CSDLSource.entityType("Other")
        + "<EntityContainer Name='Container'><EntitySet Name='Others' EntityType='U.Other'/></EntityContainer></Schema>"

    static let defects: [(rule: String, line: Int, text: String)] =
        [
            (
                "a key of a property that does not exist",
                "<EntityType Name='A'><Key><PropertyRef Name='X'/></Key></EntityType>"
            ),
            ("a name that is not a valid identifier", "<ComplexType Name='a-b'/>"),
            (
                "a primitive type that does not exist",
                "<ComplexType Name='A'><Property Name='P' Type='Edm.Integer'/></ComplexType>"
            ),
            (
                "a scale beyond the precision",
                "<ComplexType Name='A'><Property Name='P' Type='Edm.Decimal' Precision='1' Scale='2'/></ComplexType>"
            ),
            ("a navigation property without type", "<EntityType Name='A'><NavigationProperty Name='N'/></EntityType>"),
            (
                "a constraint on a property that does not exist",
                CSDLSource.entityType(
                    "A",
                    "<NavigationProperty Name='N' Type='S.A'><ReferentialConstraint Property='X' ReferencedProperty='ID'/></NavigationProperty>"
                )
            ),
            (
                "two parameters of one name",
                "<Action Name='A'><Parameter Name='p' Type='Edm.Int32'/><Parameter Name='p' Type='Edm.Int32'/></Action>"
            ),
            ("overloads with the same parameter types", "<Action Name='A'/><Action Name='A'/>"),
            ("an annotation target without namespace", "<Annotations Target='A'/>"),
            ("an import of nothing", "<EntityContainer Name='C'><FunctionImport Name='F'/></EntityContainer>"),
            ("a type definition without underlying type", "<TypeDefinition Name='T'/>"),
        ].map { ($0.0, 2, CSDLSource.v4($0.1)) } + [
            (
                "a V2 constraint on a property that does not exist", 4,
                CSDLSource.v2(
                    legacy.replacing("Role='B'><PropertyRef Name='ID'/>", with: "Role='B'><PropertyRef Name='X'/>"))
            ),
            (
                "a V2 constraint of unequal numbers of properties", 4,
                CSDLSource.v2(legacy.replacing("Role='B'><PropertyRef Name='ID'/>", with: "Role='B'>"))
            ),
        ]

    @Test(arguments: defects)
    func `a document with a defect is rejected by a strict reader only, and other readers report the defect`(
        rule: String, line: Int, text: String
    ) throws {
        let bytes = Array(text.utf8)
        let defects = try CSDLReader.read(bytes).defects
        #expect(defects.map(\.line) == [line])
        let error = try #require(throws: CSDLError.self) { try CSDLReader(isStrict: true).read(bytes) }
        #expect(error == defects.first?.fault)
    }
}
