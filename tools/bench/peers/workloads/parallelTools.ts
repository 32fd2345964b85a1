import { newSeen, type Script } from '../script.ts'
import { counted, verify, type TimedWorkload } from '../workload.ts'

/** One reply that calls so many tools, none of which is done before all have begun. */
export function parallelToolsWorkload(count: number): TimedWorkload {
  const runs = 5
  const script: Script = (turn) => ({
    deltas: 1,
    calls:
      turn > 0 ? [] : Array.from({ length: count }, (_, n) => ({ callId: `0.${n}`, name: 'gather', input: { n } })),
  })
  return {
    type: 'timed',
    name: 'parallelTools',
    title: `tool, ${count} in one reply`,
    unit: 'µs',
    per: 'tool',
    units: runs * count,
    calls: runs * 2,
    batches: 4,
    async prepare(host) {
      const seen = newSeen()
      let gate: Gate | undefined
      const definition = host.define({
        name: 'gatherer',
        seen,
        script,
        tools: [
          {
            name: 'gather',
            async run({ n }) {
              seen.tools += 1
              await gate!.pass()
              return String(n)
            },
          },
        ],
      })
      return async () => {
        for (let run = 0; run < runs; run += 1) {
          gate = gateOf(count)
          const session = await definition.create({ onDelta: () => (seen.deltas += 1) })
          const ending = await session.prompt('go')
          verify({ ...ending, messages: session.messages() }, { how: 'done', turns: 2, messages: 3 + count })
        }
        verify(counted(seen), { asked: 2 * runs, deltas: 2 * runs, tools: count * runs })
      }
    },
  }
}

/** Milliseconds until a gate gives up. */
const patienceMs = 5_000

interface Gate {
  /** Resolves once as many have come as it waits for; rejects when they do not. */
  pass(): Promise<void>
}

function gateOf(count: number): Gate {
  let waiting = 0
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const giveUp = setTimeout(
    () => reject(new Error(`only ${waiting} of ${count} calls were under way together`)),
    patienceMs,
  )
  return {
    pass() {
      waiting += 1
      if (waiting === count) {
        clearTimeout(giveUp)
        resolve()
      }
      return promise
    },
  }
}
