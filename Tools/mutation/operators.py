"""The mutation operators: each finds places in a source and describes the fault as a rewriting of that place.

A rewriting keeps the number of lines, and contains `{id}` for the number of the mutant. The mutated program decides at
run time which fault is active.
"""
import re

from swift_source import closing, is_statement

ACTIVE = "mutantActive({id})"
DIGITS = "⊕⊖⊗⊘⊙⊚⊛⊜⊝⊞"


class Mutant:
    """A fault: the range of the source that it replaces, and the replacement."""

    def __init__(self, source, start, end, replacement, kind, change, declaration=None):
        self.path, self.start, self.end = source.path, start, end
        self.replacement, self.kind, self.change, self.declaration = replacement, kind, change, declaration
        self.first, self.last = source.line(start), source.line(max(start, end - 1))
        self.text = source.lines[self.first].strip()
        self.key = self.id = None

    def rewritten(self, number):
        return self.replacement.replace("{id}", str(number)).replace("{op}", operator_name(number))

    def declared(self, number):
        if self.declaration is None:
            return ""
        return self.declaration.replace("{id}", str(number)).replace("{op}", operator_name(number))


def operator_name(number):
    return "∘" + "".join(DIGITS[int(digit)] for digit in str(number))


# Lines that contain no logic, or only performance: their faults could not be noticed, or are messages.
LEFT_OUT = re.compile(
    r"^\s*(import|public import|package import|@|#|typealias|precondition|assert|fatalError|extension|protocol|struct|"
    r"enum|infix|associatedtype)\b|\bfunc\b|\binit[?]?\(|reserveCapacity|keepingCapacity|hasher|unsafe|message:|fatalError")


def comparison(first, second):
    text = "infix operator {op}: ComparisonPrecedence\n"
    kind = "Equatable" if first in ("==", "!=") else "Comparable"
    body = "{ mutantActive({id}) ? l %s r : l %s r }\n" % (second, first)
    text += "@inline(__always) func {op} <T: %s>(l: T, r: T) -> Bool %s" % (kind, body)
    if kind == "Equatable":
        text += "@inline(__always) func {op} <T>(l: T?, r: _OptionalNilComparisonType) -> Bool " + body
    return text


def logical(first, second):
    return ("infix operator {op}: Logical%sPrecedence\n"
            "@inline(__always) func {op} (l: Bool, r: @autoclosure () throws -> Bool) rethrows -> Bool "
            "{ mutantActive({id}) ? try (l %s r()) : try (l %s r()) }\n"
            % ("Conjunction" if first == "&&" else "Disjunction", second, first))


def addition(first, second):
    constraint = "FixedWidthInteger" if "&" in first else "AdditiveArithmetic"
    text = "infix operator {op}: AdditionPrecedence\n"
    text += "@inline(__always) func {op} <T: %s>(l: T, r: T) -> T { mutantActive({id}) ? l %s r : l %s r }\n" % (
        constraint, second, first)
    if first == "+":
        text += ("func {op} <T: RangeReplaceableCollection>(l: T, r: T) -> T { mutantActive({id}) ? l : l + r }\n")
    return text


RANGE = ("infix operator {op}: RangeFormationPrecedence\n"
         "@inline(__always) func {op} <T: Strideable>(l: T, r: T) -> Range<T> where T.Stride: SignedInteger "
         "{ mutantActive({id}) && l < r ? l..<r.advanced(by: -1) : l..<r }\n")

TOKENS = [(name, swapped, "comparison", comparison(name, swapped)) for name, swapped in
          (("==", "!="), ("!=", "=="), ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"))]
TOKENS += [("&&", "||", "logical operator", logical("&&", "||")), ("||", "&&", "logical operator", logical("||", "&&"))]
TOKENS += [(name, swapped, "arithmetic", addition(name, swapped)) for name, swapped in
           (("+", "-"), ("-", "+"), ("&+", "&-"), ("&-", "&+"))]


def tokens(source):
    """Comparisons, logical operators, sums and ranges."""
    for name, swapped, kind, declaration in TOKENS:
        for match in re.finditer(r"(?<=\s)%s(?=\s)" % re.escape(name), source.code):
            yield Mutant(source, match.start(), match.end(), "{op}", kind, "%s becomes %s" % (name, swapped), declaration)
    for match in re.finditer(r"(?<=[\w)\]])\.\.<(?=[\w(])", source.code):
        yield Mutant(source, match.start(), match.end(), "{op}", "off by one", "the range ends one earlier", RANGE)


def constants(source):
    """Integer literals."""
    for match in re.finditer(r"(?<![\w.$#&])(0x[0-9A-Fa-f_]+|\d[\d_]*)(?![\w.])", source.code):
        line = source.code_lines[source.line(match.start())].strip()
        if line.startswith("case ") or re.match(r"(@|#)", line):
            continue
        value = int(match.group(1).replace("_", ""), 0)
        yield Mutant(source, match.start(), match.end(), "(%s ? %d : %s)" % (ACTIVE, value + 1, match.group(1)),
                     "constant", "%s becomes %d" % (match.group(1), value + 1))


def clauses(source):
    """The Boolean clauses of conditions: checks that are skipped, forced or negated."""
    for match in re.finditer(r"(?<![\w.])(guard|if|while)(?=\s)", source.code):
        keyword, code = match.group(1), source.code
        at, depth, start, parts, end = match.end(), 0, match.end(), [], None
        while at < len(code):
            if depth == 0 and (code[at] == "{" or (keyword == "guard" and re.match(r"\selse\b", code[at:at + 6]))):
                end = at
                break
            if depth == 0 and code[at] == ",":
                parts.append((start, at))
                start = at + 1
            depth += (code[at] in OPENING_ALL) - (code[at] in CLOSING_ALL)
            if depth < 0:
                break
            at += 1
        if end is None:
            continue
        for start, end in parts + [(start, end)]:
            text = code[start:end]
            start, end = start + len(text) - len(text.lstrip()), end - (len(text) - len(text.rstrip()))
            if start >= end or re.match(r"(let|var|case|await|true|false|#|_)\b|#", code[start:]):
                continue
            clause = source.text[start:end]
            effect = "try " if clause.startswith("try ") else ""
            clause = clause[len(effect):]
            if re.match(r"\s*//", clause) or "//" in clause:
                continue

            def mutant(form, kind, change):
                return Mutant(source, start, end, effect + form.replace("CLAUSE", clause), kind, change)

            yield mutant("((CLAUSE) != %s)" % ACTIVE, "negated check", "the condition is negated")
            if keyword == "guard":
                yield mutant("(%s ? true : (CLAUSE))" % ACTIVE, "skipped check", "the condition always holds")
            elif keyword == "if":
                yield mutant("(%s ? false : (CLAUSE))" % ACTIVE, "skipped check", "the condition never holds")
                yield mutant("(%s ? true : (CLAUSE))" % ACTIVE, "skipped check", "the condition always holds")


OPENING_ALL, CLOSING_ALL = "([{", ")]}"


def dropped(source, start, end):
    text = source.text[start:end]
    syncs = re.search(r"\bsync\w*\(", source.code[start:end])
    return Mutant(source, start, end, "if !%s { %s }" % (ACTIVE, text), "dropped sync" if syncs else "dropped statement",
                  "the statement is left out")


def statements(source):
    """Statements that are left out or swapped, and errors that are ignored."""
    previous = None
    for number, line in enumerate(source.code_lines):
        found = source.statement(number)
        if found and is_initialization(source, number):
            previous = None
            continue
        if found is None:
            previous = None
            yield from inner_statements(source, number)
            continue
        start, end = found
        text = source.text[start:end]
        yield dropped(source, start, end)
        if source.code[start:end].startswith("try ") and re.match(r"try [\w.]+\(", text):
            yield Mutant(source, start, end, "if %s { _ = try? %s } else { %s }" % (ACTIVE, text[4:], text),
                         "ignored error", "an error is ignored")
        if previous and indentation(line) == indentation(source.code_lines[number - 1]):
            first = source.text[previous[0]:previous[1]]
            between = source.text[previous[1]:start]
            if first != text and between.strip() == "":
                yield Mutant(source, previous[0], end, "if !%s { %s }%s%s; if %s { %s }" % (
                    ACTIVE, first, between, text, ACTIVE, first), "swapped order", "the statement follows the next one")
        previous = found


def inner_statements(source, number):
    """The single statement in the braces at the end of a line, or after the colon of a case."""
    line, base = source.code_lines[number], source.starts[number]
    stripped = line.rstrip()
    match = re.match(r"\s*(case .*|default): ", line)
    if match and is_statement(stripped[match.end():]):
        yield dropped(source, base + match.end(), base + len(stripped))
    if re.match(r"\s*(for|defer|\} else|repeat)\b.*\{ .* \}$", stripped):
        for at in (at for at, sign in enumerate(stripped) if sign == "{"):
            if closing(stripped, at) == len(stripped) - 1 and is_statement(stripped[at + 2:-2]):
                yield dropped(source, base + at + 2, base + len(stripped) - 2)
    match = re.match(r"(\s*)(continue|return|break)$", stripped)
    if match:
        yield Mutant(source, base + match.start(2), base + match.end(2), "if !%s { %s }" % (ACTIVE, match.group(2)),
                     "dropped statement", "the statement is left out")


def is_initialization(source, number):
    """Whether the line is an assignment in an initializer, without which the program does not compile."""
    if not re.match(r"[\w.]+ = ", source.code_lines[number].strip()):
        return False
    depth = indentation(source.code_lines[number])
    for line in reversed(source.code_lines[:number]):
        if line.strip() and indentation(line) < depth:
            depth = indentation(line)
            match = re.search(r"\b(init\b|func\b|subscript\b|var\b)", line)
            if match or (line.strip().startswith(")") and " -> " not in line and "throws" not in line and depth <= 4):
                # The parameters of an initializer may be on several lines.
                return match is None or match.group(1) == "init"
    return False


def indentation(line):
    return len(line) - len(line.lstrip())


def results(source):
    """Boolean results."""
    for match in re.finditer(r"(?m)(?:\breturn |^\s*(?:case .*|default): )(true|false)$", source.code):
        yield Mutant(source, match.start(1), match.end(1), "(%s != %s)" % (match.group(1), ACTIVE), "wrong result",
                     "the result is negated")


def mutants(source):
    """All mutants of a source that its lines permit, in order."""
    found = [mutant for finder in (tokens, constants, clauses, statements, results) for mutant in finder(source)]
    found = [mutant for mutant in found
             if not any(LEFT_OUT.search(source.code_lines[line]) for line in range(mutant.first, mutant.last + 1))]
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.kind, mutant.change))
