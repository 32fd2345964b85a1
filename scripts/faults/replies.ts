import type { Fault } from '../mutate.ts'

const reply = ['cli/reply/growing']

/** Slips in how a terminal shows what a model says. */
export const faults: readonly Fault[] = [
  {
    id: 'replies-1',
    file: 'src/cli/terminal/reply/spanRuns.ts',
    what: 'a text of a model sends escape sequences to the terminal, in other words',
    from: 'return [{ text: withoutControls(span.text), paint }]',
    to: 'return [{ text: span.text, paint }]',
    tests: reply,
  },
  {
    id: 'replies-2',
    file: 'src/cli/terminal/reply/markdownLines.ts',
    what: 'code of a model sends escape sequences to the terminal',
    from: 'codeTokens(language, withoutControls(text))',
    to: 'codeTokens(language, text)',
    tests: reply,
  },
  {
    id: 'replies-3',
    file: 'src/cli/terminal/links.ts',
    what: 'an address ends the sequence of its link and begins another',
    from: 'plainAddress.test(address) ?',
    to: "address !== '' ?",
    tests: ['cli/theme'],
  },
  {
    id: 'replies-4',
    file: 'src/cli/terminal/reply/growingReply.ts',
    what: 'half a line makes what is above it final',
    from: "const end = source.lastIndexOf('\\n') + 1",
    to: 'const end = source.length',
    tests: reply,
  },
  {
    id: 'replies-5',
    file: 'src/cli/terminal/reply/growingReply.ts',
    what: 'what was written is written again where the terminal gets another width',
    from: 'return lines.slice(0, stable)',
    to: 'return reply.begun',
    tests: reply,
  },
  {
    id: 'replies-6',
    file: 'src/cli/terminal/reply/spanRuns.ts',
    what: 'a link that is called like one address leads to another and does not tell',
    from: 'hasLinks && !addressLike.test(called)',
    to: 'hasLinks',
    tests: reply,
  },
  {
    id: 'replies-7',
    file: 'src/cli/terminal/liveScreen.ts',
    what: 'what has no room on the screen is drawn again and again',
    from: 'above.push(...rest.slice(-Math.max(1, room)), ...status)',
    to: 'above.push(...rest, ...status)',
    tests: ['cli/reply/repliesAtTerminal'],
  },
  {
    id: 'replies-8',
    file: 'src/cli/terminal/theme.ts',
    what: 'NO_COLOR is not respected',
    from: "asked === undefined && isSet(env['NO_COLOR'])",
    to: "asked !== undefined && isSet(env['NO_COLOR'])",
    tests: ['cli/theme'],
  },
  {
    id: 'replies-9',
    file: 'src/cli/terminal/eventPrinter.ts',
    what: 'a terminal without colours loses the marks of Markdown',
    from: "colours.theme !== 'none' ?",
    to: 'colours.theme !== undefined ?',
    tests: ['cli/reply/repliesAtTerminal'],
  },
  {
    id: 'replies-10',
    file: 'src/cli/terminal/reply/tableLines.ts',
    what: 'a table is wider than the terminal',
    from: 'const cap = widestThatFits(widths, room)',
    to: 'const cap = room',
    tests: reply,
  },
]
