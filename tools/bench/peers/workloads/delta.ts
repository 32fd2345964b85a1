import { newSeen, turnsOf } from '../script.ts'
import { counted, verify, type TimedWorkload } from '../workload.ts'
import { turnWorkload } from './turn.ts'

/** One reply of very many deltas, each told to a subscriber that counts. */
export function deltaWorkload(deltas: number): TimedWorkload {
  return {
    type: 'timed',
    name: 'delta',
    title: 'text delta to a subscriber',
    unit: 'ns',
    per: 'delta',
    units: deltas,
    calls: 1,
    batches: 5,
    warmUp: turnWorkload(100),
    async prepare(host) {
      const seen = newSeen()
      const definition = host.define({ name: 'talker', seen, script: turnsOf(1, deltas), tools: [] })
      return async () => {
        const session = await definition.create({ onDelta: () => (seen.deltas += 1) })
        const ending = await session.prompt('go')
        verify({ ...ending, ...counted(seen) }, { how: 'done', turns: 1, asked: 1, deltas, tools: 0 })
      }
    },
  }
}
