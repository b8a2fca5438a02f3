"""The options of a tool as a manual page and as completion of words in bash, from the same parser that makes --help."""
from __future__ import annotations

import argparse
import re
from typing import Dict, Iterator, List, Tuple

from spltools import __version__

ESCAPES = {'\\': '\\e', '-': '\\-', "'": '\\(aq', '`': '\\(ga', '^': '\\(ha', '~': '\\(ti', '"': '\\(dq'}


def page(parser: argparse.ArgumentParser) -> str:
    """A page for man, as roff."""
    about = (parser.description or '').strip()
    lines = [f'.TH {parser.prog} 1 "" "{parser.prog} {roff(__version__)}" "Seismic surveys"', '.ad l', '.SH NAME',
             f'{roff(parser.prog)} \\- {roff(_first_sentence(about))}', '.SH SYNOPSIS', *_usage(parser),
             '.SH DESCRIPTION', *_text(about)]
    lines += _options(parser)
    verbs = list(_verbs(parser))
    lines += ['.SH VERBS'] * bool(verbs)
    for names, verb in verbs:
        lines += [f'.SS "{roff(verb.prog)}"', *_usage(verb), '.PP', *_text((verb.description or '').strip())]
        if len(names) > 1:
            lines += [f'Also called {roff(", ".join(names[1:]))}.']
        lines += _options(verb)[1:]
    lines += ['.SH EXIT STATUS', '0: done; 1: an error, told in one sentence on stderr, and no output is left behind.',
              '.SH SEE ALSO',
              ', '.join(roff(name) + '(1)' for name in ('SplFd2dmod', 'SplFd3dmod', 'SplSemmod'))]
    return '\n'.join(lines)


def roff(text: str) -> str:
    """`text` so that roff takes none of it for a command; a hyphen stays one that can be copied."""
    safe = ''.join(ESCAPES.get(c, c) for c in text)
    return '\\&' + safe if safe.startswith('.') else safe


def _breakable(words: str) -> str:
    """The same, with places where a line may end in lists such as {vp,vs}."""
    return re.sub(r',(?=\S)', r',\\:', roff(words))


def _first_sentence(about: str) -> str:
    sentence = re.split(r'[.:;](?:\s|$)', about)[0]
    sentence = ' '.join(sentence.split())
    return sentence[:1].lower() + sentence[1:]


def _usage(parser: argparse.ArgumentParser) -> List[str]:
    words = ' '.join(parser.format_usage().split()[1:])
    return [f'.B {roff(parser.prog)}', _breakable(words[len(parser.prog):].strip())]


def _text(text: str) -> List[str]:
    """Paragraphs; lines that begin with blanks stay as they are."""
    lines: List[str] = []
    literal = False
    for line in text.splitlines():
        indented = line.startswith('  ')
        if indented != literal and line.strip():
            lines.append('.nf' if indented else '.fi')
            literal = indented
        lines.append(roff(line) if line.strip() else '.PP' if not literal else '')
    return lines + ['.fi'] * literal


def _options(parser: argparse.ArgumentParser) -> List[str]:
    lines = ['.SH OPTIONS']
    formatter = parser._get_formatter()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        told = roff(formatter._expand_help(action)) if action.help else '\\&'
        lines += ['.TP', f'.B {_breakable(formatter._format_action_invocation(action))}', told]
    return lines


def _verbs(parser: argparse.ArgumentParser) -> Iterator[Tuple[List[str], argparse.ArgumentParser]]:
    """(names, parser) of each verb."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: Dict[int, Tuple[List[str], argparse.ArgumentParser]] = {}
            for name, verb in action.choices.items():
                found.setdefault(id(verb), ([], verb))[0].append(name)
            yield from found.values()


# --- completion ---------------------------------------------------------------------------------------------


def completion(parser: argparse.ArgumentParser) -> str:
    """A script that teaches bash the verbs, options and values of a tool; where nothing is known it completes names of files."""
    procedure = '_' + re.sub(r'\W', '_', parser.prog)
    verbs = list(_verbs(parser))
    options, values = _cases(':', parser)
    for names, verb in verbs:
        more = [_cases(f'{name}:', verb) for name in names]
        options += [line for pair in more for line in pair[0]]
        values += [line for pair in more for line in pair[1]]
    every = ' '.join(name for names, _ in verbs for name in names)
    return '\n'.join([
        f'# Completion of words in bash:  source <({parser.prog} --completion)',
        f'{procedure}() {{',
        '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb="" words="" i',
        '  for ((i = 1; i < COMP_CWORD; i++)); do',
        f"    if [[ ' {every} ' == *\" ${{COMP_WORDS[i]}} \"* ]]; then verb=${{COMP_WORDS[i]}}; break; fi",
        '  done',
        '  COMPREPLY=()',
        '  case $verb:$before in',
        *values,
        '  *)',
        '    case $verb:$word in',
        *options,
        f"    :*) words='{every}' ;;",
        '    esac ;;',
        '  esac',
        '  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")',
        '}',
        f'complete -o default -F {procedure} {parser.prog}'])


def _cases(at: str, parser: argparse.ArgumentParser) -> Tuple[List[str], List[str]]:
    """Lines of `case` for the options of a verb, and for the values of each; `at` is 'VERB:'."""
    known = [action for action in parser._actions if action.option_strings]
    names = ' '.join(name for action in known for name in action.option_strings)
    values, others = [], []
    for action in known:
        if action.nargs == 0:
            continue
        where = [at + name for name in action.option_strings]
        if action.choices:
            values.append(f"  {'|'.join(where)}) words='{' '.join(map(str, action.choices))}' ;;")
        else:
            others += where
    if others:
        values.append(f"  {'|'.join(others)}) return ;;")
    return [f"    {at}-*) words='{names}' ;;"], values
