import { assign, setup } from 'xstate'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { defineHost } from '../../src/hosts/defineHost.ts'
import type { HostRules } from '../../src/hosts/hostTypes.ts'

/** The log of one machine. */
export async function recordsOf(store: Store, id: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(id)) records.push(record)
  return records
}

/** Adds up. */
export const counter = (rules: HostRules = {}) =>
  defineHost({
    name: 'counter',
    ...rules,
    machine: setup({
      types: { context: {} as { count: number }, events: {} as { readonly type: 'add'; readonly by: number } },
    }).createMachine({
      id: 'counter',
      context: { count: 0 },
      initial: 'counting',
      states: {
        counting: { on: { add: { actions: assign({ count: ({ context, event }) => context.count + event.by }) } } },
      },
    }),
  })
