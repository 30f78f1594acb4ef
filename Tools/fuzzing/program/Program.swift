import CLibFuzzer
import FuzzTargets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The program `tidelog-fuzz TARGET [libFuzzer options]`, or `tidelog-fuzz TARGET --write-seeds FOLDER [CORPORA]`, which
/// also writes the inputs of the conformance corpora in a folder. `Tools/fuzz` builds and starts it.
@main struct Program {
    /// The target, a global variable because the callback of libFuzzer receives only the bytes. Set once, before the
    /// first call.
    nonisolated(unsafe) static var target = FuzzTarget.blocks

    private static let variable = "TIDELOG_FUZZ_TARGET"

    static func main() {
        var arguments = CommandLine.arguments
        var count = CommandLine.argc
        var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        if arguments.count > 1, FuzzTarget(rawValue: arguments[1]) != nil {
            // The name of the target is removed from the arguments of libFuzzer, which may start this program again,
            // and passed in the environment.
            setenv(variable, arguments.remove(at: 1), 1)
            pointers = CommandLine.unsafeArgv + 1
            pointers?[0] = CommandLine.unsafeArgv[0]
            count -= 1
        }
        guard let target = getenv(variable).flatMap({ FuzzTarget(rawValue: String(cString: $0)) }) else {
            print("usage: tidelog-fuzz TARGET [OPTION…]; targets: \(FuzzTarget.allCases.map(\.rawValue))")
            exit(64)
        }
        if [3, 4].contains(arguments.count), arguments[1] == "--write-seeds" {
            write(target.seeds, "seed", to: arguments[2])
            if arguments.count == 4 {
                write(target.conformanceInputs(in: arguments[3]), "conformance", to: arguments[2])
            }
            return
        }
        Program.target = target
        let status = LLVMFuzzerRunDriver(&count, &pointers) { bytes, count in
            do throws(Finding) {
                try Program.target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
            } catch {
                fatalError("\(error)")
            }
            return 0
        }
        exit(status)
    }

    private static func write(_ inputs: [[UInt8]], _ name: String, to folder: String) {
        for (number, input) in inputs.enumerated() {
            guard let file = fopen("\(folder)/\(name)-\(number)", "w") else { fatalError("\(folder): errno \(errno)") }
            fwrite(input, 1, input.count, file)
            fclose(file)
        }
    }
}
