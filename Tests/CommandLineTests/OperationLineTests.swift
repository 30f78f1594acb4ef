import EDM
import Testing

@testable import tidelog_cli

@Suite struct OperationLineTests {
    private func read(_ line: String) throws -> OperationLine { try OperationLineReader().read(Array(line.utf8)) }

    private func message(_ line: String) -> String? {
        do {
            _ = try read(line)
            return nil
        } catch {
            return (error as? CommandFailure)?.message
        }
    }

    @Test func `a create line has a set, a value, a name and bindings`() throws {
        let line = try read(
            #"{"op":"create","set":"Orders","as":"o","value":{"Note":"x"},"bind":{"Customer":"c","Tags":["a","b"]}}"#)
        #expect(
            line
                == .create(
                    set: "Orders", value: JSONObject([.init(name: "Note", value: .string("x"))]),
                    bindings: [
                        .init(navigation: "Customer", targets: ["c"]), .init(navigation: "Tags", targets: ["a", "b"]),
                    ], parent: nil, name: "o"))
    }

    @Test func `a creation through a navigation property names its parent`() throws {
        let line = try read(#"{"op":"createRelated","in":"c","property":"Orders","value":{}}"#)
        #expect(
            line
                == .createRelated(
                    parent: .init(entity: "c", navigation: "Orders"), set: nil, value: JSONObject(), bindings: [],
                    name: nil))
    }

    @Test(arguments: [
        (#"{"op":"link","from":"a","property":"P","to":"b"}"#, OperationLine.link(from: "a", property: "P", to: "b")),
        (#"{"op":"relink","from":"a","property":"P","to":"b"}"#, .relink(from: "a", property: "P", to: "b")),
        (#"{"op":"unlink","from":"a","property":"P"}"#, .unlink(from: "a", property: "P", to: nil)),
        (#"{"op":"delete","entity":"a"}"#, .delete(entity: "a")),
        (#"{"op":"changeSet","operations":[{"op":"delete","entity":"a"}]}"#, .changeSet([.delete(entity: "a")])),
    ])
    func `links, deletions and change sets are read`(_ text: String, _ expected: OperationLine) throws {
        #expect(try read(text) == expected)
    }

    @Test(arguments: [
        (#"{"op":"create","set":"Orders""#, "This is not JSON"),
        (#"[]"#, "Expected an operation, not an array."),
        (#"{"set":"Orders"}"#, #"The operation has no member "op"."#),
        (#"{"op":"creat"}"#, #"There is no operation "creat"."#),
        (#"{"op":"create","value":{}}"#, #"The operation has no member "set"."#),
        (#"{"op":"create","set":1,"value":{}}"#, #""set" is a number, not a string."#),
        (#"{"op":"create","set":"Orders","value":[]}"#, #""value" is an array, not an object."#),
        (#"{"op":"create","set":"Orders","vaule":{},"value":{}}"#, #"The member "vaule" is unknown."#),
        (#"{"op":"delete","entity":"a","entity":"b"}"#, "A member occurs twice."),
        (
            #"{"op":"create","set":"Orders","value":{},"bind":{"Customer":5}}"#,
            #""bind" contains a number for Customer, not a reference."#
        ),
        (
            #"{"op":"create","set":"Orders","value":{},"as":"Orders(1)"}"#,
            #""Orders(1)" is not a valid name: it is empty or contains (, / or ?."#
        ),
        (
            #"{"op":"changeSet","operations":[{"op":"changeSet","operations":[]}]}"#,
            "Operation 1 of the change set: A change set cannot contain another change set."
        ),
    ])
    func `an invalid line is refused with a message`(_ line: String, _ expected: String) {
        #expect(message(line)?.hasPrefix(expected) == true, "\(message(line) ?? "read")")
    }
}
