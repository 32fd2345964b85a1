import { useActorRef, useSelector } from '@xstate/react'
import * as newest from 'xstate'
import * as xstate520 from 'xstate-5-20'
import * as xstate528 from 'xstate-5-28'
import { z } from 'zod'
import {
  type Agent,
  type AgentEvent,
  defineAgent,
  defineTool,
  type EventOf,
  type Model,
  type RunResult,
  type Runtime,
  type ToolContext,
} from '../../src/index.ts'
import { agentLogic, type AgentSnapshot } from '../../src/xstate.ts'
import { type Equal, expectType } from './typeEquality.ts'

declare const model: Model
declare const runtime: Runtime

interface Shop {
  readonly orders: readonly string[]
}

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ id: z.string() }),
  run: ({ id }, { deps }: ToolContext<Shop>) => String(deps.orders.includes(id)),
})
const rated = defineAgent({ name: 'rated', model, output: z.object({ score: z.number() }), tools: [look] })
const plain = defineAgent({ name: 'plain', model })

const logic = agentLogic(runtime, rated, { deps: { orders: [] }, tell: ['approval.requested'] })
agentLogic(runtime, rated, { deps: (agentId) => ({ orders: [agentId] }) })
// @ts-expect-error what its tools need
agentLogic(runtime, rated, { deps: { order: [] } })
// @ts-expect-error there is no such event
agentLogic(runtime, plain, { tell: ['approval.asked'] })

// With each copy of XState the same is inferred.
const talk = newest.createActor(agentLogic(runtime, plain))
talk.on('*', (event) => expectType<Equal<typeof event, AgentEvent>>())

const inNewest = newest.setup({
  actors: { support: logic },
  types: { events: {} as EventOf<'approval.requested'>, children: {} as { desk: 'support' } },
})
inNewest.createMachine({
  invoke: {
    id: 'desk',
    src: 'support',
    input: { id: 'order-17', prompt: 'Fix it.', limits: { turns: 3 } },
    onDone: {
      actions: ({ event: { output } }) => {
        expectType<Equal<typeof output, RunResult<{ score: number }>>>()
        if (output.stopReason === 'stop') expectType<Equal<typeof output.output, { score: number }>>()
      },
    },
    onSnapshot: {
      actions: ({ event: { snapshot } }) => expectType<Equal<typeof snapshot, AgentSnapshot<{ score: number }>>>(),
    },
  },
  on: {
    'approval.requested': {
      actions: newest.sendTo('desk', ({ event }) => ({ type: 'decide', callId: event.callId, decision: 'approve' })),
    },
  },
})
// @ts-expect-error a prompt is content
inNewest.createMachine({ invoke: { src: 'support', input: { prompt: 5 } } })
// @ts-expect-error there is no such input
inNewest.createMachine({ invoke: { src: 'support', input: { task: 'x' } } })

for (const copy of [xstate520, xstate528] as const) {
  const setup = copy.setup as typeof xstate528.setup
  setup({ actors: { support: logic } }).createMachine({
    invoke: {
      src: 'support',
      input: { prompt: 'Fix it.' },
      onDone: { actions: ({ event: { output } }) => expectType<Equal<typeof output, RunResult<{ score: number }>>>() },
    },
  })
}
xstate520.setup({ actors: { support: logic } }).createMachine({
  invoke: {
    src: 'support',
    input: { prompt: 'Fix it.' },
    onDone: { actions: ({ event: { output } }) => expectType<Equal<typeof output, RunResult<{ score: number }>>>() },
  },
})

for (const actor of [
  newest.createActor(logic, { input: { prompt: 'x' } }),
  xstate528.createActor(logic, { input: { prompt: 'x' } }),
  xstate520.createActor(logic, { input: { prompt: 'x' } }),
]) {
  actor.send({ type: 'steer', content: 'faster' })
  // @ts-expect-error its actor is stopped instead
  actor.send({ type: 'stop' })
  // @ts-expect-error a step is missing
  actor.send({ type: 'revert', category: 'failure' })
  actor.on('reply.delta', ({ text }) => expectType<Equal<typeof text, string>>())
  actor.on('tool.start', (event) => {
    if (event.name === 'look') expectType<Equal<typeof event.input, { id: string }>>()
  })
  const { state, text, pending } = actor.getSnapshot()
  expectType<Equal<typeof text, string>>()
  if (state === 'opening') expectType<Equal<(typeof pending)[number]['key'], string>>()
}

type Ref = newest.ActorRefFrom<typeof logic>
expectType<Equal<ReturnType<Ref['getSnapshot']>, AgentSnapshot<{ score: number }>>>()
const output: Promise<RunResult<{ score: number }>> = newest.toPromise(newest.createActor(logic, { input: {} }))
await newest.waitFor(newest.createActor(logic, { input: {} }), ({ text }) => text !== '')
await output

export function Order({ agent }: { readonly agent: Agent }): number {
  const ref = useActorRef(logic, { input: { id: 'order-17' } })
  const text = useSelector(ref, (snapshot) => snapshot.text)
  const turns = useSelector(agent.ref, (snapshot) => snapshot?.context.turns)
  expectType<Equal<typeof text, string>>()
  return turns ?? text.length
}
