import { echoOf, newSeen, turnsOf } from '../script.ts'
import { counted, verify, type TimedWorkload } from '../workload.ts'

const deltas = 20

/** Runs of so many turns, each of 20 deltas and, but for the last, one tool call; every run by an agent of its own. */
export function turnWorkload(turns: number): TimedWorkload {
  const runs = Math.max(1, Math.round(100 / turns))
  return {
    type: 'timed',
    name: `turn${turns}`,
    title: `turn, in runs of ${turns.toLocaleString('en-US')}`,
    unit: 'µs',
    per: 'turn',
    units: runs * turns,
    calls: runs * turns,
    batches: Math.max(1, Math.round(1_000 / (runs * turns))),
    ...(turns > 100 ? { warmUp: turnWorkload(100) } : {}),
    async prepare(host) {
      const seen = newSeen()
      const definition = host.define({
        name: 'turns',
        seen,
        script: turnsOf(turns, deltas),
        tools: [echoOf(seen)],
      })
      return async () => {
        for (let run = 0; run < runs; run += 1) {
          const session = await definition.create({ onDelta: () => (seen.deltas += 1) })
          const ending = await session.prompt('go')
          verify({ ...ending, messages: session.messages() }, { how: 'done', turns, messages: 2 * turns })
        }
        const all = runs * turns
        verify(counted(seen), { asked: all, deltas: all * deltas, tools: all - runs })
      }
    },
  }
}
