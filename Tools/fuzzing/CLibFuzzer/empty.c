// SwiftPM requires a source file; all declarations are in the header.
