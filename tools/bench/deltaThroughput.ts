import { createRuntime, defineAgent } from '../../src/index.ts'
import { floorLoop } from './floor.ts'
import { format, paired } from './measure.ts'
import { benchModel, verify, type Workload } from './workload.ts'

/** CPU time of one streamed text delta, from the model to a subscriber. */
const work: Workload = { turns: 1, deltas: 50_000 }
const pair = await paired(runOurs, runFloor)
const perDelta = (micros: number): string => format((micros * 1000) / work.deltas, 0)
console.log(
  `${format(work.deltas)} deltas: ours ${perDelta(pair.ours)} ns each, loop ${perDelta(pair.floor)} ns each, ratio ${format(pair.ratio, 2)}`,
)

async function runOurs(): Promise<void> {
  const seen = { turns: 0, deltas: 0, tools: 0 }
  const runtime = await createRuntime()
  const agent = await runtime.spawn(defineAgent({ name: 'bench', model: benchModel(work) }))
  agent.subscribe((event) => {
    if (event.type === 'reply.delta') seen.deltas += 1
  })
  seen.turns = (await agent.prompt('go').result).turns
  verify('escapement', work, seen)
  await runtime.close()
}

async function runFloor(): Promise<void> {
  const seen = { turns: 0, deltas: 0, tools: 0 }
  seen.turns = await floorLoop(benchModel(work), {}, 'go', () => (seen.deltas += 1))
  verify('the loop', work, seen)
}
