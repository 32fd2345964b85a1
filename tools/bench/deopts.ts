/**
 * How often V8 takes back optimised code while an agent works, and of which functions: a shape of objects that no object has any more is forgotten
 * with the next full garbage collection, and made anew it is another one to all code that was compiled for it.
 *
 *   node tools/bench/deopts.ts [--turns 1000] [--collections 4] [--processes 3]
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool } from '../../src/index.ts'
import { median } from './measure.ts'
import { benchModel } from './workload.ts'

const turnsARun = 11

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '1000' },
    collections: { type: 'string', default: '4' },
    processes: { type: 'string', default: '3' },
    work: { type: 'boolean', default: false },
  },
})
const runs = Math.ceil(Number(values.turns) / turnsARun)
const runsACollection = Math.ceil(runs / (Number(values.collections) + 1))

/** In a process of its own, which V8 tells on standard output. */
async function work(): Promise<void> {
  const echo = defineTool({
    name: 'echo',
    description: 'Gives back a number.',
    input: z.object({ n: z.number() }),
    run: ({ n }) => String(n),
  })
  const definition = defineAgent({
    name: 'bench',
    model: benchModel({ turns: turnsARun, deltas: 20 }),
    tools: [echo],
  })
  const runtime = await createRuntime()
  setFlagsFromString('--trace-deopt')
  for (let run = 1; run <= runs; run += 1) {
    const agent = await runtime.spawn(definition)
    agent.subscribe(() => {})
    const { turns } = await agent.prompt('go').result
    if (turns !== turnsARun) throw new Error(`It took ${turns} turns.`)
    if (run % runsACollection === 0) globalThis.gc!()
  }
  setFlagsFromString('--no-trace-deopt')
  await runtime.close()
}

/** One process after another: what was taken back in each. */
function count(): void {
  const { turns, collections, processes } = values
  const flags = ['--expose-gc', import.meta.filename, '--work', '--turns', turns, '--collections', collections]
  const counts: number[] = []
  const functions = new Map<string, number>()
  for (let process = 0; process < Number(processes); process += 1) {
    const told = execFileSync(globalThis.process.execPath, flags, { encoding: 'utf8', maxBuffer: 2 ** 28 })
    const bailouts = told.matchAll(
      /kind: [\w-]+, reason: (?<reason>.+?)\): begin\..*?<JSFunction (?<name>.*?) ?\(?sfi/g,
    )
    let found = 0
    for (const { groups: { reason = '', name = '' } = {} } of bailouts) {
      const key = `${name || '(anonymous)'}: ${reason}`
      functions.set(key, (functions.get(key) ?? 0) + 1)
      found += 1
    }
    counts.push(found)
  }
  console.log(`optimised code taken back in ${turns} turns with ${collections} full collections: ${median(counts)}`)
  console.log(`by process: ${counts.join(' ')}`)
  for (const [key, times] of [...functions].toSorted(([, a], [, b]) => b - a)) console.log(`${times} × ${key}`)
}

if (values.work) await work()
else count()
