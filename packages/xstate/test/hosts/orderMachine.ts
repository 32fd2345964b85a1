import { assign, setup } from 'xstate'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { agentLogic } from '../../src/agentLogic.ts'
import { defineHost } from '../../src/hosts/defineHost.ts'
import { durable, type DurableArgs } from '../../src/hosts/durable.ts'
import type { DurableEffects } from '../../src/hosts/hostTypes.ts'

/** Answers what it was asked, in upper case. */
const writer = defineAgent({
  name: 'writer',
  model: policyModel(({ messages }) => `dear customer ${messages.length}`),
})

/** A day, in milliseconds. */
export const day = 86_400_000

export interface Order {
  readonly cents: number
  readonly receipt: string | null
  readonly reminders: number
  readonly letter: string | null
  readonly problem: string | null
}

export type OrderEvent =
  | { readonly type: 'pay' }
  | { readonly type: 'cancel' }
  | { readonly type: 'note'; readonly text: string }

interface World {
  readonly pay: (args: DurableArgs<{ cents: number }>) => Promise<string>
  readonly effects?: DurableEffects
}

/** An order that is paid by a durable effect, reminds of itself each day until then, and has an agent write to the customer. */
export const orderHost = ({ pay, effects = 'idempotent' }: World) =>
  defineHost({
    name: 'order',
    machine: (runtime: AgentRuntime) =>
      setup({
        types: {
          context: {} as Order,
          events: {} as OrderEvent,
          input: {} as { cents: number },
          output: {} as Order,
          children: {} as { charge: 'charge'; writer: 'writer' },
        },
        actors: { charge: durable(pay, { effects }), writer: agentLogic(runtime, writer, { onStop: 'suspend' }) },
      }).createMachine({
        id: 'order',
        context: ({ input }) => ({ cents: input.cents, receipt: null, reminders: 0, letter: null, problem: null }),
        initial: 'open',
        states: {
          open: {
            on: { pay: 'paying', cancel: 'cancelled' },
            after: {
              [day]: {
                target: 'open',
                reenter: true,
                actions: assign({ reminders: ({ context }) => context.reminders + 1 }),
              },
            },
          },
          paying: {
            invoke: {
              id: 'charge',
              src: 'charge',
              input: ({ context }) => ({ cents: context.cents }),
              onDone: { target: 'writing', actions: assign({ receipt: ({ event }) => event.output }) },
              onError: {
                target: 'open',
                actions: assign({ problem: ({ event }) => (event.error as { code: string }).code }),
              },
            },
          },
          writing: {
            invoke: {
              id: 'writer',
              src: 'writer',
              input: { prompt: 'Write to the customer.' },
              onDone: { target: 'sent', actions: assign({ letter: ({ event }) => event.output.text }) },
            },
          },
          sent: { type: 'final' },
          cancelled: { type: 'final' },
        },
        output: ({ context }) => context,
      }),
  })
