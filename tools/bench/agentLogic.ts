/**
 * An agent as an actor of an application's machine beside the same agent without one: CPU time of a whole life (start, one run of 1 or 1,000
 * deltas that somebody hears, end). Ratios are actor / agent.
 *
 *   node tools/bench/agentLogic.ts [--rounds 9]
 */
import { parseArgs } from 'node:util'
import { createActor, createMachine, toPromise } from 'xstate'
import { createRuntime, defineAgent } from '../../src/index.ts'
import { agentLogic } from '../../src/xstate.ts'
import { format, paired } from './measure.ts'
import { benchModel } from './workload.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } })
const lives = 200
const runtime = await createRuntime()

console.log('deltas   as an actor µs   alone µs   ratio   more per run µs')
for (const deltas of [1, 1_000]) {
  const definition = defineAgent({ name: 'bench', model: benchModel({ turns: 1, deltas }) })
  const logic = agentLogic(runtime, definition)
  const machine = createMachine({
    initial: 'on',
    states: {
      on: { invoke: { id: 'agent', src: logic, input: { prompt: 'go' }, onDone: 'done' } },
      done: { type: 'final' },
    },
  })
  let heard = 0

  const asActor = async (): Promise<void> => {
    const actor = createActor(machine).start()
    actor.getSnapshot().children['agent']!.on('reply.delta', () => (heard += 1))
    await toPromise(actor)
  }
  const alone = async (): Promise<void> => {
    const agent = await runtime.spawn(definition)
    agent.subscribe(({ type }) => {
      if (type === 'reply.delta') heard += 1
    })
    await agent.prompt('go').result
    await agent.close()
  }
  const often = (live: () => Promise<void>) => async (): Promise<void> => {
    heard = 0
    for (let life = 0; life < lives; life += 1) await live()
    if (heard !== lives * deltas) throw new Error(`${heard} deltas were heard, not ${lives * deltas}`)
  }
  const { ours, floor, ratio } = await paired(often(asActor), often(alone), Number(values.rounds))
  const [each, bare] = [ours / lives, floor / lives]
  console.log(
    `${String(deltas).padStart(6)}   ${format(each).padStart(14)}   ${format(bare).padStart(8)}   ${format(ratio, 2).padStart(5)}   ${format(each - bare).padStart(15)}`,
  )
}
await runtime.close()
