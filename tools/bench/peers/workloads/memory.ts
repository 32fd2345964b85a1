import { heapAtRest } from '../measure.ts'
import { echoOf, newSeen, turnsOf } from '../script.ts'
import { counted, verify, type MeasuredWorkload } from '../workload.ts'

/** The heap of one long run: its peak while it goes on, and what is kept of each turn once it is over. */
export function memoryWorkload(turns: number): MeasuredWorkload {
  const run = `run of ${turns.toLocaleString('en-US')} turns`
  return {
    type: 'measured',
    name: 'memory',
    rows: [
      { figure: 'peak', title: `peak heap of a ${run}`, unit: 'MB' },
      { figure: 'kept', title: `kept of a ${run}`, unit: 'B/turn' },
    ],
    async measure(load, warm) {
      const host = await (await load()).open()
      await warm(host)
      const seen = newSeen()
      const { run: echo, name } = echoOf(seen)
      const before = await heapAtRest()
      let peak = before
      const definition = host.define({
        name: 'long',
        seen,
        script: turnsOf(turns, 20),
        tools: [
          {
            name,
            run(input) {
              peak = Math.max(peak, process.memoryUsage().heapUsed)
              return echo(input)
            },
          },
        ],
      })
      const session = await definition.create({ onDelta: () => (seen.deltas += 1) })
      const ending = await session.prompt('go')
      const kept = ((await heapAtRest()) - before) / turns
      const asked = { how: 'done', turns, messages: 2 * turns, asked: turns, deltas: 20 * turns, tools: turns - 1 }
      verify({ ...ending, ...counted(seen), messages: session.messages() }, asked)
      return { peak: (peak - before) / 1_000_000, kept }
    },
  }
}
