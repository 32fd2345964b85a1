// An order is a machine of your own: it invokes an agent, waits for a person, survives a restart and spawns two more agents.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assign, createActor, type DoneActorEvent, sendTo, setup, spawnChild, toPromise, waitFor } from 'xstate'
import { z } from 'zod'
import {
  createRuntime,
  defineAgent,
  defineTool,
  type EventOf,
  fileStore,
  policyModel,
  type RunResult,
  type Runtime,
} from '../src/index.ts'
import { agentLogic } from '../src/xstate.ts'

const replace = defineTool({
  name: 'replace',
  description: 'Send the customer another piece.',
  input: z.object({ part: z.string() }),
  needsApproval: true,
  run: ({ part }) => `Another ${part} is reserved.`,
})

const support = defineAgent({
  name: 'support',
  tools: [replace],
  output: z.object({ send: z.string() }),
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? '{"send":"spring"}'
      : { toolCalls: [{ name: 'replace', input: { part: 'spring' } }] },
  ),
})
const packer = defineAgent({ name: 'packer', model: policyModel(() => 'It is in box 4.') })
const writer = defineAgent({ name: 'writer', model: policyModel(() => 'Dear customer, a new spring is on its way.') })

const orderMachine = (runtime: Runtime) =>
  setup({
    actors: {
      support: agentLogic(runtime, support, { tell: ['approval.requested'], onStop: 'suspend' }),
      packer: agentLogic(runtime, packer),
      writer: agentLogic(runtime, writer),
    },
    types: {
      context: {} as { asked: string | null; said: readonly string[] },
      events: {} as
        | EventOf<'approval.requested'>
        | DoneActorEvent<RunResult, 'packer' | 'writer'>
        | { readonly type: 'allow' },
      output: {} as readonly string[],
      children: {} as { desk: 'support'; packer: 'packer'; writer: 'writer' },
    },
  }).createMachine({
    context: { asked: null, said: [] },
    initial: 'deciding',
    states: {
      deciding: {
        invoke: {
          id: 'desk',
          src: 'support',
          input: { id: 'order-17', prompt: 'The spring of my clock is broken.', limits: { turns: 10 } },
          onDone: {
            target: 'sending',
            actions: assign({
              said: ({ event }) => [event.output.stopReason === 'stop' ? event.output.output.send : event.output.text],
            }),
          },
          onError: 'failed',
        },
        on: {
          'approval.requested': { actions: assign({ asked: ({ event }) => event.key }) },
          allow: {
            actions: sendTo('desk', ({ context }) => ({
              type: 'decide',
              callId: context.asked ?? '',
              decision: 'approve',
            })),
          },
        },
      },
      sending: {
        entry: [
          spawnChild('packer', { id: 'packer', input: { prompt: 'Pack it.' } }),
          spawnChild('writer', { id: 'writer', input: { prompt: 'Write to the customer.' } }),
        ],
        on: {
          'xstate.done.actor.*': {
            actions: assign({ said: ({ context, event }) => [...context.said, event.output.text] }),
          },
        },
        always: { guard: ({ context }) => context.said.length === 3, target: 'sent' },
      },
      sent: { type: 'final' },
      failed: { type: 'final' },
    },
    output: ({ context }) => context.said,
  })

const folder = await mkdtemp(join(tmpdir(), 'orders-'))

// The first process: the agent asks, and nobody is there to answer.
const before = await createRuntime({ store: fileStore(folder) })
const order = createActor(orderMachine(before)).start()
await waitFor(order, ({ context }) => context.asked !== null)
const desk = order.getSnapshot().children.desk?.getSnapshot()
console.log(`${desk?.agentId} is ${desk?.state}: ${desk?.pending[0]?.name} ${JSON.stringify(desk?.pending[0]?.input)}?`)
const saved = JSON.stringify(order.getPersistedSnapshot())
// In this order: an agent that is closed before its actor is persisted would have been aborted.
order.stop()
await before.close()
console.log(`saved in ${saved.length < 2_000 ? 'a few' : 'many'} bytes`)

// The next one: the same order, the same agent, the same question.
const after = await createRuntime({ store: fileStore(folder) })
const again = createActor(orderMachine(after), { snapshot: JSON.parse(saved) }).start()
again.getSnapshot().children.desk?.on('tool.end', ({ name }) => console.log(`${name} was allowed`))
await waitFor(again.getSnapshot().children.desk!, ({ pending }) => pending.length === 1)
again.send({ type: 'allow' })
for (const line of (await toPromise(again)).toSorted()) console.log(line)
await after.close()
await rm(folder, { recursive: true })
