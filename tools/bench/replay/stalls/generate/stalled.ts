import { prose } from '../../generate/project.ts'
import type { MadeStep } from './scenario.ts'
import type { Workplace } from './workplace.ts'

/** Makes the first `length` steps of a loop. */
type Shape = (at: Workplace, length: number) => readonly MadeStep[]

const steps = (count: number, make: (index: number) => MadeStep): MadeStep[] =>
  Array.from({ length: count }, (_, at) => make(at))

/** The same steps over and over, and what they show is the same too. */
const cycle =
  (period: number): Shape =>
  (at, length) => {
    const round = at.files(period).map((file, index) => (index % 2 === 0 ? at.read(file) : at.search(file.path)))
    return steps(length, (index) => at.step(round[index % period]!))
  }

/** Runs that get nowhere, from the first step of the loop on. */
export const stalled: Readonly<Record<string, Shape>> = {
  'the same call': (at, length) => {
    const call = at.search(at.random.pick(at.file().functions))
    return steps(length, () => at.step(call))
  },

  'the same failing command': (at, length) => {
    const file = at.file()
    const call = at.command(
      'npm run build',
      `${file.path}:3: error TS2304: Cannot find name '${prose(at.random, 1)}'`,
      true,
    )
    return steps(length, () => at.step(call))
  },

  'the same call, others in between': (at, length) => {
    const call = at.read(at.file())
    const others = at.files(length).map((file) => at.search(file.path))
    return steps(length, (index) => at.step(index % 2 === 0 ? call : others[index]!))
  },

  'the same call, a clock in its result': (at, length) => {
    const day = at.random.between(10, 28)
    return steps(length, (index) =>
      at.step(
        at.command(
          'curl -s localhost/health',
          `2026-03-${day}T10:${10 + (index % 50)}:07Z db: unreachable, queue: empty`,
        ),
      ),
    )
  },

  'a cycle of 2': cycle(2),
  'a cycle of 3': cycle(3),
  'a cycle of 4': cycle(4),

  'an edit and its undoing': (at, length) => {
    const { path } = at.file()
    const there = { path, old: 'limit = 3', new: 'limit = 5' }
    const back = { path, old: there.new, new: there.old }
    return steps(length, (index) =>
      at.step({
        tool: 'edit_file',
        input: index % 2 === 0 ? there : back,
        output: `replaced 1 line of ${path}`,
        changed: [path],
      }),
    )
  },

  'the same error, other arguments': (at, length) =>
    steps(length, () => {
      const command = `deploy --target ${prose(at.random, 2).replace(' ', '-')} --port ${at.random.between(1000, 9999)}`
      const said = `deploy: request ${at.random.between(1e8, 9e8)} refused: the token has expired`
      return at.step(at.command(command, said, true))
    }),

  'an edit of a text that is not there': (at, length) => {
    const file = at.file()
    return steps(length, () => at.step(at.missedEdit(file)))
  },

  'edits that do not help the failing test': (at, length) => {
    const file = at.file()
    const failing = [`${at.random.pick(file.functions)} keeps its order`]
    return steps(length, (index) => at.step(index % 2 === 0 ? at.edit(file) : at.test(file, failing)))
  },

  'two calls in a step, again and again': (at, length) => {
    const calls = [at.read(at.file()), at.command('git status --short', ' M src/a.ts')]
    return steps(length, () => at.step(...calls))
  },

  'slow drift: other questions, the same answers': (at, length) => {
    const { path, text } = at.file()
    return steps(length, (index) => {
      const from = (index * 3) % 12
      const lines = text.split('\n').slice(from, from + 14)
      return at.step({
        tool: 'read_file',
        input: { path, from: String(from), to: String(from + 14 + index) },
        output: lines.join('\n'),
      })
    })
  },
}
