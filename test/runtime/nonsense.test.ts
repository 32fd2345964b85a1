import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { hasCode, RuntimeError } from '../../src/protocol/errors.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import {
  copySessions,
  forkSession,
  importSession,
  listSessions,
  loadSession,
  readHistory,
  searchSessions,
  spendOf,
} from '../../src/sessions.ts'
import { assert, describe } from '../support/suite.ts'

const values: readonly unknown[] = [
  undefined,
  null,
  5,
  'x',
  {},
  [],
  Symbol('s'),
  Number.NaN,
  true,
  { id: null },
  [null],
  10n,
]
const ends: ReadonlySet<string> = new Set(['constructor', 'stop', 'close'])

/** Names of the methods of an object, with those that it inherits. */
function* methodsOf(object: object): Generator<string> {
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === 'function' && !ends.has(name)) yield name
}

/** Returns what went wrong in a call, unless that is an error with a code. */
async function uncoded(name: string, call: () => unknown): Promise<readonly string[]> {
  try {
    const given = call()
    // Some wait for what does not come.
    if (given instanceof Promise) await Promise.race([given, new Promise((resolve) => setImmediate(resolve))])
  } catch (thrown) {
    return thrown instanceof RuntimeError ? [] : [`${name}: ${String(thrown)}`]
  }
  return []
}

const isRefused = (thrown: unknown): boolean => hasCode(thrown, 'INVALID_OPTION')

describe('nonsense', (it) => {
  it('is refused by every method of an agent with a code', { timeoutMs: 20_000 }, async ({ cleanup }) => {
    const runtime = await createRuntime({ store: memoryStore() })
    cleanup(() => runtime.close())
    const state = { schema: z.object({ n: z.number() }), initial: { n: 1 } }
    const definition = defineAgent({ name: 'a', model: policyModel(() => 'hi'), permissions: {}, state })
    const agent = await runtime.spawn(definition)
    const names = [...new Set(methodsOf(agent))]
    assert.ok(names.includes('prompt') && names.includes('schedule') && names.includes('settled'))
    const wrong: string[] = []
    for (const name of names)
      for (const value of values)
        for (const given of [[value], ['n1', value]]) {
          const method = Reflect.get(agent, name) as (...all: readonly unknown[]) => unknown
          wrong.push(...(await uncoded(name, () => method.apply(agent, given))))
        }
    assert.equal([...new Set(wrong)], [])
  })

  it('in place of a store is refused by what reads sessions', async () => {
    const readers = [forkSession, listSessions, loadSession, readHistory, searchSessions, spendOf, copySessions]
    for (const reader of readers)
      for (const value of values) {
        const read = reader as (store: unknown, other: unknown) => Promise<unknown>
        await assert.rejects(() => read(value, undefined), isRefused)
      }
    await assert.rejects(() => importSession(memoryStore(), 5 as never), isRefused)
  })
})
