import { z } from 'zod'
import { createRuntime, defineAgent, defineTool } from '../../src/index.ts'
import { floorLoop } from './floor.ts'
import { format, paired } from './measure.ts'
import { benchModel, verify, type Workload } from './workload.ts'

/** CPU time of one turn (1 tool, 20 deltas) in runs of growing length, against a hand-written loop in the same process. */
console.log('turns per run   ours µs/turn   loop µs/turn   ratio')
let perTurnAt100 = 0
for (const turns of [10, 100, 500, 1000]) {
  const work: Workload = { turns, deltas: 20 }
  const runs = Math.max(1, Math.round(1000 / turns))
  const pair = await paired(
    () => repeat(runs, () => runOurs(work)),
    () => repeat(runs, () => runFloor(work)),
  )
  const perTurn = pair.ours / (runs * turns)
  if (turns === 100) perTurnAt100 = perTurn
  console.log(
    `${String(turns).padStart(13)}   ${format(perTurn).padStart(12)}   ${format(pair.floor / (runs * turns)).padStart(12)}   ${format(pair.ratio, 2).padStart(5)}`,
  )
  if (turns === 1000)
    console.log(`growth: a turn of a 1000-turn run costs ${format(perTurn / perTurnAt100, 2)} × one of a 100-turn run`)
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  for (let i = 0; i < times; i++) await work()
}

async function runOurs(work: Workload): Promise<void> {
  const seen = { turns: 0, deltas: 0, tools: 0 }
  const echo = defineTool({
    name: 'echo',
    description: 'Gives back a number.',
    input: z.object({ n: z.number() }),
    run: ({ n }) => {
      seen.tools += 1
      return String(n)
    },
  })
  const runtime = await createRuntime()
  const agent = await runtime.spawn(defineAgent({ name: 'bench', model: benchModel(work), tools: [echo] }))
  agent.subscribe((event) => {
    if (event.type === 'reply.delta') seen.deltas += 1
  })
  seen.turns = (await agent.prompt('go').result).turns
  verify('escapement', work, seen)
  await runtime.close()
}

async function runFloor(work: Workload): Promise<void> {
  const seen = { turns: 0, deltas: 0, tools: 0 }
  const tools = {
    echo: (input: unknown) => {
      seen.tools += 1
      return String((input as { n: number }).n)
    },
  }
  seen.turns = await floorLoop(benchModel(work), tools, 'go', () => (seen.deltas += 1))
  verify('the loop', work, seen)
}
