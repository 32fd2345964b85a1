import { prose } from '../../../generate/project.ts'
import { tools } from '../tools.ts'
import type { MadeCall, MadeStep } from '../scenario.ts'
import type { Workplace } from '../workplace.ts'
import { look, times, type Likeness } from './likeness.ts'

const plain = { tools, polling: ['build_state'] } as const

/** Tests after each edit; what they say may stay the same for long. */
function editAndTest(at: Workplace): MadeStep[] {
  const file = at.file()
  const failing = at.random.chance(0.7) ? [`${at.random.pick(file.functions)} keeps its order`] : []
  const says = at.test(file, failing)
  const rounds = times(at.random.between(3, 8), () => [
    at.step(at.edit(file)),
    at.step(at.random.chance(0.5) ? says : at.test(file, failing)),
  ])
  return [...look(at, 2, 6), at.step(says), ...rounds.flat(), ...at.finish(file)]
}

export const testedEdits: Likeness = {
  ...plain,
  name: 'tests after each edit',
  passed: 0.5,
  passing: editAndTest,
  failing: (at) => {
    const file = at.file()
    const says = at.test(file, [`${at.random.pick(file.functions)} keeps its order`])
    const loops: readonly ((index: number) => MadeStep)[] = [
      () => at.step(says),
      () => at.step(at.missedEdit(file)),
      (index) => at.step(index % 2 === 0 ? says : at.read(file)),
    ]
    return [...editAndTest(at), ...times(at.random.between(5, 14), at.random.pick(loops))]
  },
}

const nextPage = (output: string): MadeCall => ({ tool: 'next_page', input: {}, output })

export const pagedLists: Likeness = {
  ...plain,
  name: 'lists by page',
  passed: 0.5,
  passing: (at) => [
    ...times(at.random.between(3, 12), (page) => at.step(nextPage(`page ${page + 2}: ${prose(at.random, 25)}`))),
    ...times(at.random.between(0, 2), () => at.step(nextPage('no more rows'))),
    ...times(at.random.between(3, 9), (page) => {
      const output = at.random.chance(0.5) ? 'no open orders on this page' : prose(at.random, 20)
      return at.step({ tool: 'list_orders', input: { status: 'open', page: String(page + 1) }, output })
    }),
    ...look(at, 1, 4),
  ],
  failing: (at) => [...look(at, 2, 5), ...times(at.random.between(5, 14), () => at.step(nextPage('no more rows')))],
}

const fetched = (output: string, isError: boolean): MadeCall => ({
  tool: 'fetch_url',
  input: { url: 'https://registry.example/list' },
  output,
  isError,
})

/** Tries again after longer and longer pauses, by the tool itself or by a shell. */
function backOff(at: Workplace): MadeStep[] {
  const attempts = at.random.between(1, 6)
  if (at.random.chance(0.4)) {
    const tries = times(Math.min(attempts, 3), () =>
      at.step(fetched(`Error: timed out after ${at.random.between(4_000, 9_000)} ms`, true)),
    )
    return [...tries, at.step(fetched(prose(at.random, 40), false))]
  }
  if (at.random.chance(0.5)) {
    const tries = times(attempts, (index) =>
      at.step(fetched(`503: attempt ${index + 1} of 9, again in ${2 ** index} s`, true)),
    )
    return [...tries, at.step(fetched(prose(at.random, 40), false))]
  }
  const curl = 'curl -sf localhost:3000/health'
  const refused = 'curl: (7) Failed to connect to localhost port 3000: Connection refused'
  const tries = times(attempts, (index) => at.step(at.command(`sleep ${2 ** index} && ${curl}`, refused, true)))
  return [...tries, at.step(at.command(curl, 'ok'))]
}

export const retries: Likeness = {
  ...plain,
  name: 'retries with back-off',
  passed: 0.5,
  passing: (at) => [...look(at, 3, 9), ...backOff(at), ...look(at, 3, 9), ...backOff(at), ...at.finish(at.file())],
  failing: (at) => [
    ...look(at, 3, 9),
    ...backOff(at),
    ...times(at.random.between(5, 14), () => at.step(fetched('Error: 403: the token has expired', true))),
  ],
}

/** Waits for a job with a tool that does not say that it polls. */
function askForJob(at: Workplace): MadeStep[] {
  const isError = at.random.chance(0.3)
  const ask = (output: string): MadeStep =>
    at.step({ tool: 'job_state', input: { id: 'j2' }, output, ...(isError ? { isError } : {}) })
  if (at.random.chance(0.3))
    return times(at.random.between(1, 4), () =>
      at.step({ tool: 'job_state', input: { id: 'j2' }, output: 'still running' }),
    )
  let rows = 0
  return times(at.random.between(3, 10), () => {
    if (at.random.chance(0.8)) rows += at.random.between(1, 9)
    return ask(`not ready: ${rows}/96 rows, ${Math.floor((100 * rows) / 96)} %`)
  })
}

export const progress: Likeness = {
  ...plain,
  name: 'progress of a job',
  passed: 0.5,
  passing: (at) => [...look(at, 3, 9), ...askForJob(at), ...look(at, 2, 5), ...at.finish(at.file())],
  failing: (at) => {
    const output = `job j2 failed after ${at.random.between(10, 90)}/96 rows: disk full`
    return [
      ...look(at, 3, 9),
      ...askForJob(at),
      ...times(at.random.between(5, 14), () => at.step({ tool: 'job_state', input: { id: 'j2' }, output })),
    ]
  },
}
