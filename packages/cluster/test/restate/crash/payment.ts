import { appendFileSync } from 'node:fs'
import { assign, setup } from 'xstate'
import type { AgentRuntime } from '../../../../../src/runtime/agentRuntime.ts'
import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { agentLogic } from '../../../../xstate/src/agentLogic.ts'
import { defineHost } from '../../../../xstate/src/hosts/defineHost.ts'
import { durable, type DurableArgs } from '../../../../xstate/src/hosts/durable.ts'
import type { Effect, Reach } from './job.ts'

/** A payment at its end. */
export interface Payment {
  readonly notes: number
  readonly receipt: string | null
  readonly letter: string | null
}

/** A machine that charges by a durable effect (the place `record`), has an agent look (the place `tool`), and ends by a delay. It counts notes. */
export const paymentOf = (effectsFile: string, reach: Reach, job: AgentDefinition) =>
  defineHost({
    name: 'payment',
    machine: (runtime: AgentRuntime) =>
      setup({
        types: {
          context: {} as Payment,
          events: {} as { readonly type: 'pay' } | { readonly type: 'note' },
          output: {} as Payment,
          children: {} as { charge: 'charge'; job: 'job' },
        },
        actors: {
          charge: durable(
            async ({ key, signal }: DurableArgs<undefined>) => {
              const effect: Effect = { key, tool: 'charge', at: Date.now() }
              appendFileSync(effectsFile, `${JSON.stringify(effect)}\n`)
              await reach('record', 'payment', signal)
              return key
            },
            { effects: 'idempotent' },
          ),
          job: agentLogic(runtime, job),
        },
      }).createMachine({
        id: 'payment',
        context: { notes: 0, receipt: null, letter: null },
        initial: 'open',
        on: { note: { actions: assign({ notes: ({ context }) => context.notes + 1 }) } },
        states: {
          open: { on: { pay: 'paying' } },
          paying: {
            invoke: {
              id: 'charge',
              src: 'charge',
              onDone: { target: 'looking', actions: assign({ receipt: ({ event }) => event.output }) },
            },
          },
          looking: {
            invoke: {
              id: 'job',
              src: 'job',
              input: { prompt: 'look' },
              onDone: { target: 'resting', actions: assign({ letter: ({ event }) => event.output.text }) },
            },
          },
          resting: { after: { 2_000: 'over' } },
          over: { type: 'final' },
        },
        output: ({ context }) => context,
      }),
  })
