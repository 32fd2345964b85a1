import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assign, sendTo, setup } from 'xstate'
import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { EventOf } from '../../../../src/protocol/events.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { agentLogic } from '../../src/agentLogic.ts'
import { defineHost } from '../../src/hosts/defineHost.ts'
import { durable, type DurableArgs } from '../../src/hosts/durable.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'

/** Keys of payments in a folder, each once: the outside world, which takes a key once. */
export const ledgerOf = async (folder: string): Promise<string[]> =>
  (await readFile(join(folder, 'ledger'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')

async function payInto(folder: string, key: string): Promise<string> {
  if (!(await ledgerOf(folder)).includes(key)) await appendFile(join(folder, 'ledger'), `${key}\n`)
  return 'paid'
}

const stamp = defineTool({
  name: 'stamp',
  description: 'Stamps a letter.',
  input: z.object({}),
  needsApproval: true,
  run: () => 'stamped',
})
const clerk = defineAgent({
  name: 'clerk',
  tools: [stamp],
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult' ? 'The letter is stamped.' : { toolCalls: [{ name: 'stamp', input: {} }] },
  ),
})

interface Context {
  readonly reminders: number
  readonly receipt: string | null
  readonly letter: string | null
  readonly asked: string | null
}

/** An order that reminds once, is paid, and whose agent asks before it stamps the letter. */
const order = (folder: string) =>
  defineHost({
    name: 'order',
    machine: (runtime: AgentRuntime) =>
      setup({
        types: {
          context: {} as Context,
          events: {} as { readonly type: 'pay' } | EventOf<'approval.requested'>,
          input: {} as { cents: number },
          output: {} as Context,
          children: {} as { charge: 'charge'; clerk: 'clerk' },
        },
        actors: {
          charge: durable(({ key }: DurableArgs<number>) => payInto(folder, key), { effects: 'idempotent' }),
          clerk: agentLogic(runtime, clerk, { tell: ['approval.requested'] }),
        },
      }).createMachine({
        id: 'order',
        context: { reminders: 0, receipt: null, letter: null, asked: null },
        initial: 'open',
        states: {
          open: { after: { 20: { target: 'reminded', actions: assign({ reminders: 1 }) } } },
          reminded: { on: { pay: 'paying' } },
          paying: {
            invoke: {
              id: 'charge',
              src: 'charge',
              input: 100,
              onDone: { target: 'writing', actions: assign({ receipt: ({ event }) => event.output }) },
            },
          },
          writing: {
            invoke: {
              id: 'clerk',
              src: 'clerk',
              input: { prompt: 'Stamp the letter.' },
              onDone: { target: 'sent', actions: assign({ letter: ({ event }) => event.output.text }) },
            },
            on: {
              'approval.requested': {
                actions: [
                  assign({ asked: ({ event }) => event.name }),
                  sendTo('clerk', ({ event }) => ({
                    type: 'decide' as const,
                    callId: event.key,
                    decision: 'approve' as const,
                  })),
                ],
              },
            },
          },
          sent: { type: 'final' },
        },
        output: ({ context }) => context,
      }),
  })

/** Works on the order in a folder until it is done. Returns its end. */
export async function workOnOrder(folder: string, store: Store): Promise<unknown> {
  const runtime = await createRuntime({ store })
  try {
    const hosted = await hostMachine(runtime, order(folder), { id: 'order-17', input: { cents: 100 } })
    const reminded = new Promise<void>((resolve) => {
      const look = (): void => {
        if (hosted.view.value !== 'open') resolve()
      }
      hosted.onStep(look)
      look()
    })
    await reminded
    if (hosted.view.value === 'reminded') await hosted.send({ type: 'pay' }, { requestId: 'pay-1' })
    return await hosted.done
  } finally {
    await runtime.close()
  }
}
