internal import ArgumentParser
internal import Tidelog

struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Perform the operations of a file, one JSON object per line.",
        discussion: """
            {"op":"create","set":"Customers","as":"c","value":{"Name":"Ada"}}
            {"op":"create","set":"Orders","as":"o","value":{"Note":"x"},"bind":{"Customer":"c"}}
            {"op":"createRelated","in":"c","property":"Orders","value":{"Note":"y"}}
            {"op":"update","entity":"c","value":{"Name":"Ada L."}}
            {"op":"link","from":"c","property":"Orders","to":"o"} - also relink, unlink
            {"op":"delete","entity":"Customers(1)"}
            {"op":"changeSet","operations":[...]} - all or nothing

            "as" names an entity for later lines. The command prints one line for each line, after the operation is \
            durable. An invalid line stops the command; the operations before it remain.
            """)

    @Argument(help: ArgumentHelp("The file, or - for standard input.", valueName: "file")) var file: String
    @OptionGroup var transaction: TransactionOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        var reader = try LineReader(path: file)
        let name = reader.name
        var number = 0
        let provider = OfflineODataProvider(parameters: try options.parameters)
        try await StoreOptions.opened(provider)
        do {
            var runner = try await OperationRunner(provider: provider, options: transaction.intentOptions)
            while let line = try reader.next() {
                number += 1
                if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { continue }
                let answers: [OperationText]
                do {
                    answers = try await runner.run(try OperationLineReader().read(line))
                } catch {
                    throw LineFailure(file: name, line: number, cause: error)
                }
                try Console.print(OperationText.line(answers, json: format.json))
                // An acknowledgement that is still buffered when the process ends was not delivered.
                try Console.flush()
            }
        } catch is Console.BrokenPipe {
            await provider.close()
            throw CommandFailure(
                "The reader of the output closed it; stopped after line \(number) of \(name).",
                recovery: "Run 'tidelog status' to see which operations were performed.")
        } catch {
            await provider.close()
            throw error
        }
        await provider.close()
    }
}
