import type { Fault } from '../mutate.ts'

const file = 'src/protocol/checks/mistakes.ts'

/** Slips in how what is wrong with a value is told. */
export const faults: readonly Fault[] = [
  {
    id: 'mistakes-1',
    file,
    what: 'a text that failed a format is repeated',
    from: "if (!('input' in issue) || code === 'invalid_format') return undefined",
    to: "if (!('input' in issue)) return undefined",
    tests: ['protocol/mistakes'],
  },
  {
    id: 'mistakes-2',
    file,
    what: 'an object of a union is told apart by its first type alone',
    from: 'return alike[tags.indexOf(undefined)] ?? alike[0]',
    to: 'return alike[0]',
    tests: ['protocol/mistakes'],
  },
  {
    id: 'mistakes-3',
    file,
    what: 'the words of the author of a schema are replaced',
    from: "if (code === 'custom') return message !== 'Invalid input'",
    to: "if (code === 'custom') return false",
    tests: ['protocol/mistakes'],
  },
  {
    id: 'mistakes-4',
    file: 'src/protocol/checks/optionsCheck.ts',
    what: 'options are refused without what was seen',
    from: 'schema().safeParse(value, { reportInput: true })',
    to: 'schema().safeParse(value)',
    tests: ['protocol/optionsCheck'],
  },
]
