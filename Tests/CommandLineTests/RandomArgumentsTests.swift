import ArgumentParser
import EDM
import SeededRandom
import Testing

@testable import tidelog_cli

/// Random arguments and lines of input: they are parsed, or refused with a message.
@Suite struct RandomArgumentsTests {
    @Test func `random arguments of each command are parsed, or refused with a message`() throws {
        let commands = try CommandForm.all()
        #expect(commands.count > 30)
        var random = SeededRandom(seed: .testSeed())
        var (parsed, refused) = (0, 0)
        for _ in 0..<100 {
            for command in commands {
                let arguments = command.arguments(&random)
                do {
                    _ = try RootCommand.parseAsRoot(arguments)
                    parsed += 1
                } catch {
                    #expect(!RootCommand.fullMessage(for: error).isEmpty, "\(arguments)")
                    refused += 1
                }
            }
        }
        print("arguments: \(commands.count) commands, \(parsed) lines parsed, \(refused) refused")
        #expect(parsed > 0 && refused > 0)
    }

    @Test func `changed lines of operations are read, or refused with a message`() throws {
        let lines = [
            #"{"op":"create","set":"Orders","as":"o","value":{"Note":"x"},"bind":{"Customer":"c","Tags":["a","b"]}}"#,
            #"{"op":"createRelated","in":"c","property":"Orders","value":{"Total":1.5e3}}"#,
            #"{"op":"update","entity":"Orders(1)","value":{"Note":null},"bind":{"Customer":"c"}}"#,
            #"{"op":"changeSet","operations":[{"op":"delete","entity":"a"},{"op":"unlink","from":"a","property":"P"}]}"#,
        ]
        var random = SeededRandom(seed: .testSeed())
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            var line = Array((random.pick(lines) ?? "").utf8)
            for _ in 0..<random.number(1...3) { change(&line, &random) }
            do {
                _ = try OperationLineReader().read(line)
                read += 1
            } catch {
                let failure = error as? CommandFailure
                #expect(failure?.message.isEmpty == false, "\(error) for \(String(decoding: line, as: UTF8.self))")
                refused += 1
            }
        }
        print("lines of operations: \(read) read, \(refused) refused")
        #expect(read > 0 && refused > 0)
    }

    /// Replaces, removes, inserts or repeats bytes.
    private func change(_ line: inout [UInt8], _ random: inout SeededRandom) {
        guard !line.isEmpty else { return }
        let place = random.number(0...line.count - 1)
        switch random.number(0...4) {
        case 0: line[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: line.remove(at: place)
        case 2: line.insert(random.pick(Array(#"{}[]",:\0e-"#.utf8)) ?? 0, at: place)
        case 3: line.removeLast(line.count - place)
        default: line.insert(contentsOf: line[place...].prefix(random.number(1...20)), at: place)
        }
    }
}

/// The path and the arguments of a command, from the description that the parser makes of itself.
private struct CommandForm {
    let path: [String]
    let options: [(name: String, takesValue: Bool)]

    static func all() throws -> [CommandForm] {
        var text = ""
        do {
            _ = try RootCommand.parseAsRoot(["--experimental-dump-help"])
        } catch {
            text = RootCommand.fullMessage(for: error)
        }
        let description = try JSONValue.parse(Array(text.utf8)).object
        let root = try #require(description?["command"]?.object)
        return forms(of: root, [])
    }

    private static func forms(of command: JSONObject, _ path: [String]) -> [CommandForm] {
        let options = (command["arguments"]?.array ?? []).compactMap { argument -> (String, Bool)? in
            guard let argument = argument.object, let name = argument["preferredName"]?.object?["name"]?.string
            else { return nil }
            let dashes = argument["preferredName"]?.object?["kind"]?.string == "long" ? "--" : "-"
            return (dashes + name, argument["kind"]?.string == "option")
        }
        let subcommands = (command["subcommands"]?.array ?? []).compactMap(\.object)
        let own = CommandForm(path: path, options: options.filter { $0.0 != "--help" && $0.0 != "--version" })
        return [own]
            + subcommands.flatMap { forms(of: $0, path + [$0["commandName"]?.string].compactMap(\.self)) }
    }

    private static let values = [
        "", "-", "-1", "0", "1", "7", "64", "9223372036854775808", "18446744073709551616", "1e400", "nan", "1..", "..1",
        "5...3", "1-2", "2-1", "3,4,", ",", "Customers(1)", "Customers('", "~1", "~", "C=Customers", "=", "C=", "a/b",
        "../x", "{}", "{\"a\":1}", "[", "é\u{301}", "\u{0}", "'", "\"", "%", "%zz", "http://", "http://h:99999/",
        "https://h/s/", "2026-11-28", "2026-13-45T99:99:99Z", "1h", "-1h", "1000000000000d", "10MB", "0x10", "*", "?",
        "Name eq 'x'", "Name eq", "(((((((((", String(repeating: "9", count: 400), String(repeating: "(", count: 5_000),
    ]

    func arguments(_ random: inout SeededRandom) -> [String] {
        var all = path
        for _ in 0..<random.number(0...4) {
            if let option = random.pick(options), random.number(0...2) > 0 {
                all.append(option.name)
                if !option.takesValue { continue }
            }
            all.append(random.pick(Self.values) ?? "")
        }
        return all
    }
}
