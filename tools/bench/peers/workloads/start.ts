import { echoOf, newSeen, turnsOf } from '../script.ts'
import { counted, verify, type MeasuredWorkload } from '../workload.ts'

/** From the import to the end of a first run of two turns, in a process that did nothing before; milliseconds of the clock on the wall. */
export const startWorkload: MeasuredWorkload = {
  type: 'measured',
  name: 'start',
  rows: [
    { figure: 'total', title: 'import and first run', unit: 'ms' },
    { figure: 'import', title: 'import alone', unit: 'ms' },
  ],
  async measure(load) {
    const started = performance.now()
    const contender = await load()
    const host = await contender.open()
    const imported = performance.now()
    const seen = newSeen()
    const definition = host.define({ name: 'first', seen, script: turnsOf(2, 20), tools: [echoOf(seen)] })
    const session = await definition.create({ onDelta: () => (seen.deltas += 1) })
    const ending = await session.prompt('go')
    const total = performance.now() - started
    verify({ ...ending, ...counted(seen) }, { how: 'done', turns: 2, asked: 2, deltas: 40, tools: 1 })
    return { total, import: imported - started }
  },
}
