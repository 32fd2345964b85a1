import type { Host, Session } from '../contender.ts'
import { never, newSeen, tick, type AgentSpec, type Seen } from '../script.ts'
import type { Figures, MeasuredWorkload } from '../workload.ts'

/** Activity of the runs when they are aborted. */
export type AbortedAt = 'streaming' | 'model' | 'tool'

/** Milliseconds after which a run that has not ended never does. */
const patienceMs = 2_000

const titles: Readonly<Record<AbortedAt, string>> = {
  streaming: 'while they stream',
  model: 'while the model hangs',
  tool: 'while a tool hangs',
}

/**
 * So many runs, aborted at once: milliseconds, of the clock on the wall, until the last has ended, and deltas that reached a subscriber
 * after its run had. A model that streams stops at its signal, as the contract of every contender asks; one that hangs, and the tool, hear none.
 */
export function abortWorkload(runs: number, at: AbortedAt): MeasuredWorkload {
  return {
    type: 'measured',
    name: `abort-${at}`,
    rows: [
      { figure: 'ms', title: `abort of ${runs} runs ${titles[at]}`, unit: 'ms' },
      ...(at === 'streaming' ? [{ figure: 'late', title: 'deltas after such an abort', unit: 'deltas' }] : []),
    ],
    async measure(load, warm) {
      const host = await (await load()).open()
      await warm(host)
      const figures = await abortAll(host, runs, at)
      if (figures['ms'] !== null) await host.close()
      return figures
    },
  }
}

async function abortAll(host: Host, runs: number, at: AbortedAt): Promise<Figures> {
  const seen = newSeen()
  const definition = host.define(specOf(seen, at))
  const live: { session: Session; deltas: number; hasEnded: boolean; late: number }[] = []
  for (let run = 0; run < runs; run += 1) {
    const entry = { deltas: 0, hasEnded: false, late: 0 }
    const session = await definition.create({
      onDelta() {
        entry.deltas += 1
        if (entry.hasEnded) entry.late += 1
      },
    })
    live.push(Object.assign(entry, { session }))
  }
  const endings = live.map(async (entry) => {
    const ending = await entry.session.prompt('go')
    entry.hasEnded = true
    return ending
  })
  const isUnderWay = (): boolean =>
    at === 'streaming'
      ? live.every(({ deltas }) => deltas > 2)
      : at === 'model'
        ? seen.asked === runs
        : seen.tools === runs
  await until(isUnderWay)
  const started = performance.now()
  for (const { session } of live) session.abort()
  const all = await within(patienceMs, Promise.all(endings))
  if (all === undefined) return { ms: null, late: null }
  const ms = performance.now() - started
  if (all.some(({ how }) => how !== 'aborted')) throw new Error('a run that was aborted says that it was done')
  for (let turn = 0; turn < 20; turn += 1) await tick()
  return { ms, late: live.reduce((sum, { late }) => sum + late, 0) }
}

const specOf = (seen: Seen, at: AbortedAt): AgentSpec => ({
  name: 'stuck',
  seen,
  script: () => ({
    deltas: 1,
    calls: [{ callId: '0.0', name: 'wait', input: { n: 0 } }],
    ...(at === 'tool' ? {} : { hang: at }),
  }),
  tools: [
    {
      name: 'wait',
      run() {
        seen.tools += 1
        return never()
      },
    },
  ],
})

async function until(holds: () => boolean): Promise<void> {
  const limit = performance.now() + 20_000
  while (!holds()) {
    if (performance.now() > limit) throw new Error('the runs did not get under way')
    await tick()
  }
}

/** `undefined` once so many milliseconds have passed. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), ms)
  const first = await Promise.race([work, promise])
  clearTimeout(timer)
  return first
}
