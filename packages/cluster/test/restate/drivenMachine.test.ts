import { createMachine } from 'xstate'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { sharedStore } from '../../../../test/support/sharedStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { LoggedRequests } from '../../../sessions/src/loggedRequests.ts'
import { defineHost } from '../../../xstate/src/hosts/defineHost.ts'
import { readCarried, requestBodyOf } from '../../src/restate/carried.ts'
import { DrivenMachine } from '../../src/restate/drivenMachine.ts'

const egg = defineHost({
  machine: createMachine({
    id: 'egg',
    initial: 'soft',
    states: { soft: { after: { 60_000: 'hard' }, on: { eat: 'eaten' } }, hard: {}, eaten: { type: 'final' } },
  }),
})

/** The machine "e" as an attempt drives it, with its own store, and once more what an attempt has after this one. */
async function begin(context: CaseContext) {
  const store = sharedStore(memoryStore())
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const wasAsked = async (requestId: string): Promise<boolean> => {
    const requests = new LoggedRequests()
    for await (const record of store.read('e')) requests.apply(record)
    return requests.has(requestId)
  }
  const open = async () => {
    const host = await egg.open(runtime, 'e', { takeOver: true })
    return new DrivenMachine(host, { agent: () => undefined as Agent | undefined, wasAsked })
  }
  return { open, signal: new AbortController().signal }
}

describe('a machine as an attempt drives it', (it) => {
  it('says when it wants to be woken, and rests until then', async (context) => {
    const { open, signal } = await begin(context)
    const machine = await open()
    const { status } = await machine.settled({ signal })
    assert.is(status, 'idle')
    assert.ok(machine.due! > Date.now())
    await machine.event({ type: 'eat' }, 'r1')
    await machine.settled({ signal })
    assert.is(machine.due, null)
  })

  it('takes the event by which it came to its end once, and refuses others', async (context) => {
    const { open } = await begin(context)
    await (await open()).event({ type: 'eat' }, 'r1')
    const again = await open()
    await again.event({ type: 'eat' }, 'r1')
    await assert.rejects(again.event({ type: 'eat' }, 'r2'), withCode('MACHINE_CLOSED', 'come to its end'))
  })

  it('is worth another attempt when it was closed here while it worked', async (context) => {
    const { open, signal } = await begin(context)
    const machine = await open()
    await machine.abort()
    await assert.rejects(machine.settled({ signal }), withCode('AGENT_DETACHED', '"e"'))
  })

  it('has its events and the commands of its agents carried as they were written', () => {
    const event = { event: { type: 'eat', how: ['fast'] }, requestId: 'r1', definition: 'egg', input: 5 }
    const decision = { callId: 'c1', decision: 'approve', requestId: 'r2', to: 'cook-e-1-1' }
    for (const [verb, body] of Object.entries({ event, decide: decision })) {
      const carried = readCarried('e', verb, body, 'other')
      assert.equal(requestBodyOf(carried), { ...body, verb })
    }
    assert.throws(() => readCarried('e', 'event', { event: {}, more: 1 }, 'r1'), withCode('INVALID_OPTION', '"more"'))
    assert.throws(() => readCarried('e', 'abort', { to: '../x' }, 'r1'), withCode('INVALID_ID'))
  })
})
