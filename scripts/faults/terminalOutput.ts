import type { Fault } from '../mutate.ts'

/** Slips in what a terminal shows, and in how people decide there. */
export const faults: readonly Fault[] = [
  {
    id: 'terminal-out-1',
    file: 'src/cli/terminal/menu.ts',
    what: 'an Enter that was meant for something else allows a call',
    from: "if (key.name !== 'enter' || chosen === undefined) return undefined",
    to: "if (key.name !== 'enter') return undefined",
    tests: ['cli/menu'],
  },
  {
    id: 'terminal-out-2',
    file: 'src/cli/approvals.ts',
    what: 'a tool that was allowed for a run is allowed for good',
    from: 'allowedTools.clear()',
    to: '',
    tests: ['cli/approvals'],
  },
  {
    id: 'terminal-out-3',
    file: 'src/cli/terminal/callText.ts',
    what: 'an edit is approved without what it is given beside the change',
    from: 'const beside = besideEdit(name, input)',
    to: 'const beside = besideEdit(name, {})',
    tests: ['cli/approvals'],
  },
  {
    id: 'terminal-out-4',
    file: 'src/text/edits.ts',
    what: 'a second path of an edit is not shown',
    from: 'return without(input, [path, ...(pairIn(input) ?? [])])',
    to: 'return without(input, [...pathKeys, ...(pairIn(input) ?? [])])',
    tests: ['text/code'],
  },
  {
    id: 'terminal-out-5',
    file: 'src/cli/terminal/diffRows.ts',
    what: 'what is beyond the shown lines of a change is not told',
    from: 'if (shown < height)',
    to: 'if (shown > height)',
    tests: ['cli/approvals'],
  },
  {
    id: 'terminal-out-6',
    file: 'src/cli/runChatLine.ts',
    what: '/undo leaves what tools did as it is',
    from: 'undo: true,',
    to: 'undo: false,',
    tests: ['cli/chatCommands'],
  },
  {
    id: 'terminal-out-7',
    file: 'src/cli/attachedAgent.ts',
    what: 'the tree of an agent on a server has abandoned steps on its trunk',
    from: 'const abandoned = nodes.filter(({ id }) => !kept.has(id))',
    to: 'const abandoned: RemoteNode[] = []',
    tests: ['cli/chatCommands'],
  },
  {
    id: 'terminal-out-8',
    file: 'src/cli/terminal/statusLine.ts',
    what: 'the line below the text does not tell that a person is waited for',
    from: 'const waits = this.#waiting.size > 0',
    to: 'const waits = false',
    tests: ['cli/eventPrinter'],
  },
]
