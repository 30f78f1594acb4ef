"""Swift sources as text: which characters are code, and which lines are complete statements."""
import re

OPENING, CLOSING = "([{", ")]}"


def masked(source):
    """The source with comments as spaces and string literals as underscores; offsets and line breaks are kept."""
    result = list(source)

    def blank(start, end, sign):
        for at in range(start, min(end, len(source))):
            if result[at] != "\n":
                result[at] = sign

    def string_end(at):
        """The offset after the string literal at the offset; interpolations belong to it."""
        hashes = re.match("#*", source[at:]).group()
        at += len(hashes)
        quote = '"""' if source.startswith('"""', at) else '"'
        at += len(quote)
        while at < len(source):
            if source.startswith(quote + hashes, at):
                return at + len(quote + hashes)
            if source.startswith("\\" + hashes + "(", at):
                at = interpolation_end(at + len(hashes) + 2)
            else:
                at += 2 if not hashes and source[at] == "\\" else 1
        return at

    def interpolation_end(at):
        depth = 1
        while at < len(source) and depth:
            if re.match('#*"', source[at:at + 8]):
                at = string_end(at)
                continue
            depth += {"(": 1, ")": -1}.get(source[at], 0)
            at += 1
        return at

    at = 0
    while at < len(source):
        if source.startswith("//", at):
            end = source.find("\n", at)
            end = len(source) if end < 0 else end
            blank(at, end, " ")
        elif source.startswith("/*", at):
            end = source.find("*/", at) + 2
            end = len(source) if end < 2 else end
            blank(at, end, " ")
        elif re.match('#*"', source[at:at + 8]):
            end = string_end(at)
            blank(at, end, "_")
        else:
            end = at + 1
        at = end
    return "".join(result)


def balanced(code):
    """Whether each bracket of the masked code has its partner."""
    depth = 0
    for sign in code:
        depth += (sign in OPENING) - (sign in CLOSING)
        if depth < 0:
            return False
    return depth == 0


def closing(code, at):
    """The offset of the bracket that closes the one at the offset, or None."""
    depth = 0
    for end in range(at, len(code)):
        depth += (code[end] in OPENING) - (code[end] in CLOSING)
        if depth == 0:
            return end
    return None


NO_STATEMENT = re.compile(
    r"(let|var|case|return|if|guard|for|while|repeat|switch|throw|else|func|default|import|init|deinit|defer|do|catch|"
    r"struct|enum|class|extension|protocol|typealias|static|private|public|package|fileprivate|internal|mutating|"
    r"super|precondition|preconditionFailure|assert|assertionFailure|fatalError|break|continue|in|where|is|as)\b|self\.init")
NAME = r"(?:try )?(?:await )?[A-Za-z_][\w.?!]*"
CALL = re.compile(NAME + r"(?:\[[^\]]*\]|\([^()]*\)|\.[\w.?!]+)*\(.*\)$|" + NAME + r"(?:\(.*\))? \{.*\}$")
ASSIGNMENT = re.compile(NAME + r"(?:\[.*?\])?[\w.?!]*(?:\[.*?\])? (?:=|\+=|-=|&\+=|\|=|\^=) .+$")


def is_statement(code):
    """Whether the masked text is one complete call or assignment."""
    return (bool(code) and balanced(code) and not NO_STATEMENT.match(code) and " in " not in code
            and bool(CALL.match(code) or ASSIGNMENT.match(code)))


class Source:
    """A file, its masked text, and its lines."""

    def __init__(self, path, text):
        self.path, self.text, self.code = path, text, masked(text)
        self.lines, self.code_lines = text.split("\n"), self.code.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def line(self, offset):
        """The number of the line with the offset, from 0."""
        low, high = 0, len(self.lines)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= offset else (low, middle)
        return low

    def statement(self, number):
        """The range of the line's text if the line is one complete statement, or None."""
        code = self.code_lines[number]
        stripped = code.strip()
        if not is_statement(stripped):
            return None
        before = next((line.strip() for line in reversed(self.code_lines[:number]) if line.strip()), "")
        after = next((line.strip() for line in self.code_lines[number + 1:] if line.strip()), "")
        if re.search(r"([(\[,=?:]|&&|\|\||[-+*/]|\breturn|\bin where)$", before) and not re.match(r"case |default:", before):
            return None
        if re.match(r"(\.|\?|:|&&|\|\||[-+*/<>=]|else\b)", after):
            return None
        start = self.starts[number] + len(code) - len(code.lstrip())
        return start, start + len(stripped)
