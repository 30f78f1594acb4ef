import Foundation
import Testing

/// The output that shells need to complete commands and options.
@Suite(.timeLimit(.minutes(20))) struct CompletionTests {
    /// Returns the commands that `--help` lists.
    private func subcommands(_ workspace: Workspace) throws -> [String] {
        let help = try workspace.output("--help")
        return help.split(separator: "\n").compactMap { line in
            // Commands are indented by two blanks, continued descriptions by more.
            guard line.hasPrefix("  "), let first = line.dropFirst(2).first, first.isLowercase else { return nil }
            return line.split(separator: " ").first.map { String($0.filter { $0 != "," }) }
        }
    }

    private func isThere(_ shell: String) -> String? {
        ["/bin/", "/usr/bin/", "/usr/local/bin/"].map { $0 + shell }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `the completion script for a shell is valid and contains every command`(shell: String) throws {
        let workspace = try Workspace()
        let script = try workspace.output("--generate-completion-script", shell)
        let commands = try subcommands(workspace)
        #expect(commands.count >= 40 && Set(["init", "bisect", "what-if", "verify"]).isSubset(of: commands))
        let words = Set(script.split { !($0.isLetter || $0 == "-") }.map(String.init))
        #expect(commands.filter { !words.contains($0) } == [])
        guard let path = isThere(shell) else {
            print("The completion script is not read by \(shell), which is not installed.")
            return
        }
        try workspace.write(script, to: "completion")
        let check = Process()
        check.executableURL = URL(fileURLWithPath: path)
        check.arguments = ["-n", workspace.path("completion")]
        try check.run()
        check.waitUntilExit()
        #expect(check.terminationStatus == 0)
    }

    @Test func `bash completes commands and their options`() throws {
        guard let bash = isThere("bash") else { return print("bash is not installed.") }
        let workspace = try Workspace()
        try workspace.write(try workspace.output("--generate-completion-script", "bash"), to: "completion")
        func completions(_ words: [String]) throws -> [String] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: bash)
            let line = words.map { "'\($0)'" }.joined(separator: " ")
            process.arguments = [
                "-c",
                """
                . '\(workspace.path("completion"))'
                COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
                _tidelog tidelog "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
                printf '%s\\n' "${COMPREPLY[@]}"
                """,
            ]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
        }
        #expect(try completions(["tidelog", "bis"]) == ["bisect"])
        #expect(try completions(["tidelog", "bisect", "--w"]) == ["--when"])
    }

    /// Returns the output of a program that ends by itself.
    private func output(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("tidelog bis", ["bisect"]), ("tidelog bisect --w", ["--when"]), ("tidelog queries a", ["add"]),
    ])
    func `fish completes commands and their options`(_ line: String, _ words: [String]) throws {
        guard let fish = isThere("fish") else { return print("fish is not installed.") }
        let workspace = try Workspace()
        try workspace.write(try workspace.output("--generate-completion-script", "fish"), to: "completion")
        let text = try output(
            fish, ["--no-config", "-c", "source '\(workspace.path("completion"))'; complete -C '\(line)'"])
        // Each line is a word, a tab and its description.
        #expect(text.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) } == words)
    }

    @Test(arguments: [
        ("tidelog bis", "bisect"), ("tidelog bisect --w", "bisect --when"), ("tidelog queries a", "queries add"),
    ])
    func `zsh completes commands and their options`(_ line: String, _ words: String) throws {
        guard let zsh = isThere("zsh") else { return print("zsh is not installed.") }
        let workspace = try Workspace()
        try workspace.write(try workspace.output("--generate-completion-script", "zsh"), to: "completion")
        // Types the line and a tab into an interactive shell, in which a function prints its arguments.
        try workspace.write(
            #"""
            zmodload zsh/zpty
            TERM=dumb zpty session zsh -f -i
            zpty -w session "autoload -U compinit; compinit -u -D; . $1; compdef _tidelog tidelog; tidelog() { print -r -- GOT=\"\$*\"=END }"
            zpty -w session $2$'\t'
            repeat 600; do
                zpty -r -t session part && text+=$part
                [[ $text =~ 'GOT=[a-z -]*=END' ]] && break
                sleep 0.05
            done
            print -r -- $MATCH
            zpty -d session
            """#, to: "session.zsh")
        let text = try output(zsh, ["-f", workspace.path("session.zsh"), workspace.path("completion"), line])
        #expect(text.replacing(" =END", with: "=END") == "GOT=\(words)=END\n")
    }
}
