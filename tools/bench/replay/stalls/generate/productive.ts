import { prose } from '../../generate/project.ts'
import type { MadeStep } from './scenario.ts'
import type { Workplace } from './workplace.ts'

type Shape = (at: Workplace) => readonly MadeStep[]

const repeat = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** Work that gets somewhere, though much of it looks like repetition. */
export const productive: Readonly<Record<string, Shape>> = {
  'read, edit, test': (at) =>
    repeat(at.random.between(2, 4), () => [...at.explore(2, 5), ...at.finish(at.file())]).flat(),

  'poll, declared': (at) => [
    ...at.explore(2, 5),
    ...repeat(at.random.between(3, 9), () =>
      at.step({ tool: 'build_state', input: { id: 'b7' }, output: 'still running' }),
    ),
    at.step({ tool: 'build_state', input: { id: 'b7' }, output: 'done: the artefact is ready' }),
    ...at.finish(at.file()),
  ],

  'poll, not declared, with progress': (at) => [
    ...at.explore(2, 5),
    ...repeat(at.random.between(3, 9), (index) =>
      at.step({ tool: 'job_state', input: { id: 'j2' }, output: `running: ${8 * (index + 1)} % of the rows` }),
    ),
    at.step({ tool: 'job_state', input: { id: 'j2' }, output: 'done' }),
  ],

  'poll, not declared, same answer': (at) => [
    ...at.explore(2, 5),
    ...repeat(at.random.between(1, 5), () =>
      at.step({ tool: 'job_state', input: { id: 'j2' }, output: 'still running' }),
    ),
    at.step({ tool: 'job_state', input: { id: 'j2' }, output: 'done' }),
    ...at.finish(at.file()),
  ],

  'tests fail less each time': (at) => {
    const file = at.file()
    const failing = repeat(at.random.between(3, 6), (index) => `${at.random.pick(file.functions)} case ${index + 1}`)
    const rounds = failing.map((_, index) => [at.step(at.edit(file)), at.step(at.test(file, failing.slice(index + 1)))])
    return [...at.explore(2, 4), at.step(at.test(file, failing)), ...rounds.flat()]
  },

  'another test fails each time': (at) => {
    const file = at.file()
    const rounds = repeat(at.random.between(3, 6), (index) => [
      at.step(at.edit(file)),
      at.step(at.test(file, [`${at.random.pick(file.functions)} when ${prose(at.random, 3)} ${index}`])),
    ])
    return [...at.explore(2, 4), ...rounds.flat(), ...at.finish(file)]
  },

  'tests pass after each of many edits': (at) => {
    const file = at.file()
    return [
      ...at.explore(2, 4),
      ...repeat(at.random.between(3, 7), () => [at.step(at.edit(file)), at.step(at.test(file, []))]).flat(),
    ]
  },

  'pages by number': (at) => [
    ...repeat(at.random.between(4, 10), (page) => {
      const isEmpty = at.random.chance(0.3)
      const rows = isEmpty
        ? 'no open orders on this page'
        : `order ${at.random.between(100, 999)} of ${prose(at.random, 9)}`
      return at.step({ tool: 'list_orders', input: { status: 'open', page: String(page + 1) }, output: rows })
    }),
    ...at.explore(1, 2),
  ],

  'pages by "next"': (at) => [
    at.step({ tool: 'list_orders', input: { status: 'open', page: '1' }, output: prose(at.random, 30) }),
    ...repeat(at.random.between(4, 10), (index) =>
      at.step({ tool: 'next_page', input: {}, output: `page ${index + 2}: ${prose(at.random, 25)}` }),
    ),
  ],

  'a file is read again after each change': (at) => {
    const file = at.file()
    const rounds = repeat(at.random.between(3, 6), (index) => [
      at.step(at.edit(file)),
      at.step({ ...at.read(file), output: `${file.text.slice(0, 900)}\n// change ${index + 1}` }),
    ])
    return [at.step(at.read(file)), ...rounds.flat(), at.step(at.test(file, []))]
  },

  'status between changes': (at) => {
    const files = at.files(at.random.between(3, 6))
    return files.flatMap((file) => [
      at.step(at.read(file)),
      at.step(at.edit(file)),
      at.step(at.command('npm run lint', 'ok: no problems')),
    ])
  },

  'a retry that succeeds': (at) => {
    const input = { url: 'https://registry.example/list' }
    const failures = at.random.between(1, 3)
    return [
      ...at.explore(2, 5),
      ...repeat(failures, () =>
        at.step({
          tool: 'fetch_url',
          input,
          output: `Error: request timed out after ${at.random.between(4000, 5999)} ms`,
          isError: true,
        }),
      ),
      at.step({ tool: 'fetch_url', input, output: prose(at.random, 40) }),
      ...at.finish(at.file()),
    ]
  },

  'the same tool for many files': (at) => [
    at.step(at.search('legacy')),
    ...at
      .files(at.random.between(5, 12))
      .map(({ path }) => at.step({ tool: 'convert', input: { path }, output: 'converted', changed: [path] })),
  ],

  'looks for files that may be missing': (at) => [
    ...['tsconfig.json', 'jest.config.js', '.eslintrc', 'vite.config.ts']
      .slice(0, at.random.between(2, 4))
      .map((path) =>
        at.step({
          tool: 'read_file',
          input: { path },
          output: `ENOENT: no such file, open '/repo/${path}'`,
          isError: true,
        }),
      ),
    ...at.explore(3, 6),
    ...at.finish(at.file()),
  ],

  'different errors, one after the other': (at) => {
    const file = at.file()
    const errors = ['TypeError: x is not a function', 'ReferenceError: count is not defined', 'SyntaxError: missing )']
    return [
      ...at.explore(1, 3),
      ...errors.flatMap((error) => [
        at.step(at.edit(file)),
        at.step(at.command('node main.js', `${file.path}:${at.random.between(1, 90)}\n${error}`, true)),
      ]),
      ...at.finish(file),
    ]
  },
}
