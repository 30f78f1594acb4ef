import EDM
import Testing

@Suite struct `Limits of the CSDL reader` {
    func code(_ text: String, _ set: (inout CSDLReader.Limits) -> Void = { _ in }) throws -> CSDLError.Code? {
        var limits = CSDLReader.Limits()
        set(&limits)
        do {
            _ = try CSDLReader(limits: limits).read(Array(text.utf8))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a document with as many bytes as the limit is read, and one more byte is too large`() throws {
        let text = CSDLSource.v4("")
        #expect(try code(text) { $0.bytes = text.utf8.count } == nil)
        #expect(try code(text) { $0.bytes = text.utf8.count - 1 } == .tooLarge)
    }

    @Test func `elements that are nested deeper than the limit are refused`() throws {
        // Edmx, DataServices and Schema are three levels.
        let four = CSDLSource.v4("<A>").replacing("</Schema>", with: "</A></Schema>")
        #expect(try code(four) { $0.depth = 4 } == nil)
        #expect(try code(four) { $0.depth = 3 } == .tooDeep)
        #expect(try code(CSDLSource.v4(String(repeating: "<A>", count: 200_000))) == .tooDeep)
    }

    @Test func `too many elements are refused`() throws {
        #expect(try code(CSDLSource.v4("<A/>")) { $0.elements = 4 } == nil)
        #expect(try code(CSDLSource.v4("<A/><A/>")) { $0.elements = 4 } == .tooLarge)
    }

    @Test func `an element with too many attributes is refused before the attributes are compared`() throws {
        let attributes = (0..<200_000).map { " a\($0)=''" }.joined()
        #expect(try code(CSDLSource.v4("<A\(attributes)/>")) == .tooLarge)
    }

    @Test func `too many attributes are detected between values with all kinds of quotation marks`() throws {
        let attributes = (0..<2_000).map { $0.isMultiple(of: 2) ? " a\($0)='\">'" : " a\($0)=\"'>\"" }.joined()
        #expect(try code(CSDLSource.v4("<A\(attributes)/>")) == .tooLarge)
    }

    @Test(arguments: [
        "<String>#</String>", "<A a=\"#\"/>", "<A><![CDATA[<b #]]></A>", "<!-- <b # -->", "<?a <b # ?>",
        "<A b='1'>#<B/>#</A>",
    ])
    func `quotation marks outside of tags are not counted as attributes`(_ text: String) throws {
        #expect(try code(CSDLSource.v4(text.replacing("#", with: String(repeating: "'", count: 10_000)))) == nil)
    }

    @Test func `quotation marks in comments are not counted as attributes`() throws {
        #expect(try code(CSDLSource.v4("<!-- \(String(repeating: "'", count: 10_000)) -->")) == nil)
    }

    @Test func `too many namespaces in scope are refused`() throws {
        let nested = (0..<20).map { outer in
            "<A" + (0..<20).map { " xmlns:p\(outer)x\($0)='u'" }.joined() + ">"
        }.joined()
        #expect(try code(CSDLSource.v4(nested)) == .tooLarge)
    }

    @Test func `a chain of base types beyond the limit is refused, regardless of the order of declaration`() throws {
        let types =
            (1...200).map { "<ComplexType Name='T\($0)' BaseType='S.T\($0 - 1)'/>" } + ["<ComplexType Name='T0'/>"]
        #expect(try code(CSDLSource.v4(types.joined())) == .tooDeep)
        #expect(try code(CSDLSource.v4(types.reversed().joined())) == .tooDeep)
        #expect(try code(CSDLSource.v4(types.joined())) { $0.baseTypes = 200 } == nil)
    }

    @Test func `inherited properties are counted before they are copied`() throws {
        let base = (0..<100).map { "<Property Name='P\($0)' Type='Edm.Int32'/>" }.joined()
        let heirs = (0..<100).map { "<ComplexType Name='T\($0)' BaseType='S.B'/>" }.joined()
        let text = CSDLSource.v4("<ComplexType Name='B'>\(base)</ComplexType>\(heirs)")
        #expect(try code(text) { $0.properties = 10_100 } == nil)
        #expect(try code(text) { $0.properties = 10_099 } == .tooLarge)
    }

    @Test func `a DOCTYPE with entities that expand exponentially is refused`() throws {
        let entities = (1...9).map { "<!ENTITY l\($0) '\(String(repeating: "&l\($0 - 1);", count: 10))'>" }.joined()
        let text = "<!DOCTYPE x [<!ENTITY l0 'lol'>\(entities)]>" + CSDLSource.v4("<Term Name='&l9;'/>")
        #expect(try code(text) == .doctypeRefused)
    }
}
