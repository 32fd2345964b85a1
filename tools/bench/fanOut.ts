import { z } from 'zod'
import { createRuntime, defineAgent, defineTool } from '../../src/index.ts'
import { floorLoop } from './floor.ts'
import { format, paired } from './measure.ts'
import { benchModel, type Workload } from './workload.ts'

/** 1,000 agents at once with 3 tool turns each, and the heap of 10,000 agents at rest. Run with --expose-gc. */
const agents = 1_000
const idleAgents = 10_000
const work: Workload = { turns: 4, deltas: 5 }

const echo = defineTool({
  name: 'echo',
  description: 'Gives back a number.',
  input: z.object({ n: z.number() }),
  run: ({ n }) => String(n),
})
const definition = defineAgent({ name: 'bench', model: benchModel(work), tools: [echo] })

const pair = await paired(runOurs, runFloor, 7)
console.log(
  `${format(agents)} agents at once, 3 tool turns each: ours ${format(pair.ours / agents)} µs an agent, loop ${format(pair.floor / agents)} µs, ratio ${format(pair.ratio, 2)}`,
)
if (globalThis.gc === undefined) console.log('heap of idle agents: run with node --expose-gc')
else
  console.log(
    `heap of an idle agent, of ${format(idleAgents)}: ${format(await idleBytes(), 0)} bytes before its first prompt, log included`,
  )

async function runOurs(): Promise<void> {
  const runtime = await createRuntime()
  const spawned = await Promise.all(Array.from({ length: agents }, () => runtime.spawn(definition)))
  const results = await Promise.all(spawned.map((agent) => agent.prompt('go').result))
  if (results.some((result) => result.turns !== work.turns)) throw new Error('an agent did other work than asked')
  await runtime.close()
}

async function runFloor(): Promise<void> {
  const tools = { echo: (input: unknown) => String((input as { n: number }).n) }
  const turns = await Promise.all(
    Array.from({ length: agents }, () => floorLoop(benchModel(work), tools, 'go', () => {})),
  )
  if (turns.some((count) => count !== work.turns)) throw new Error('a loop did other work than asked')
}

async function idleBytes(): Promise<number> {
  const runtime = await createRuntime()
  await runtime.spawn(definition)
  const before = heap()
  const spawned = []
  for (let i = 0; i < idleAgents; i++) spawned.push(await runtime.spawn(definition))
  const bytes = (heap() - before) / spawned.length
  await runtime.close()
  return bytes
}

function heap(): number {
  globalThis.gc!()
  globalThis.gc!()
  return process.memoryUsage().heapUsed
}
