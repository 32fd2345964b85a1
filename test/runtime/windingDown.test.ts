import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import type { Tool } from '../../src/actors/tools/defineTool.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { quiet, tool } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** A store with runtimes that have it one after the other, and a tool that ends when it is told to. */
function world({ cleanup }: CaseContext) {
  const store = memoryStore()
  const clock = simulatedClock()
  const ran: string[] = []
  const ends = new Map<string, () => void>()
  const pay = tool(
    'pay',
    (input: { of?: string }, { signal }: { signal: AbortSignal }) => {
      const { of = '?' } = input
      ran.push(of)
      return new Promise<string>((resolve, reject) => {
        ends.set(of, () => resolve(`paid ${of}`))
        signal.addEventListener('abort', () => reject(new Error('cut off')))
      })
    },
    { effects: 'irreversible' },
  )
  const open = async (): Promise<Runtime> => {
    const runtime = await createRuntime({ store: { ...store, close: async () => {} }, clock })
    cleanup(() => runtime.close({ detach: true }))
    return runtime
  }
  const records = async (id: string): Promise<LogRecord[]> => {
    const all: LogRecord[] = []
    for await (const record of store.read(id)) all.push(record)
    return all
  }
  const results = async (id = 'a1') =>
    (await records(id)).flatMap((one) => (one.type === 'tool.end' ? [one.message.synthetic ?? 'done'] : []))
  const until = async (fits: () => boolean): Promise<void> => {
    while (!fits()) await new Promise(setImmediate)
  }
  return { open, clock, ran, ends, pay, records, results, until }
}

const agentOf = (replies: readonly ScriptedReply[], tools: readonly Tool[], more: Partial<AgentOptions> = {}) =>
  defineAgent({ name: 'a', model: scriptedModel(replies), tools, ...more })

const twoCalls: ScriptedReply = {
  toolCalls: ['one', 'two'].map((of) => ({ name: 'pay', input: { of }, callId: of })),
}

describe('an agent that is let go of once calls under way have ended', (it) => {
  it('ends the call under way and begins no other, which the next process does', async (test) => {
    const { open, ran, ends, pay, results, until } = world(test)
    const here = await open()
    const definition = agentOf([twoCalls, 'done'], [pay], { toolExecution: 'sequential' })
    const agent = await here.spawn(definition, { id: 'a1' })
    const run = agent.prompt('go')
    await until(() => ran.length === 1)
    const leaving = here.detach('a1', { drainMs: 10_000 })
    await quiet()
    assert.is(here.agent('a1'), agent, 'it is waited for')
    ends.get('one')!()
    await leaving
    assert.equal(ran, ['one'])
    assert.equal(await results(), ['done'])
    assert.is((await run.result).stopReason, 'error')
    const there = await open()
    const again = await there.resume('a1', agentOf(['done'], [pay], { toolExecution: 'sequential' }))
    await until(() => ran.length === 2)
    ends.get('two')!()
    assert.is((await again.settled()).status, 'idle')
    assert.equal(
      [ran, await results()],
      [
        ['one', 'two'],
        ['done', 'done'],
      ],
    )
  })

  it('is let go of at once where no call is under way, and after the time where one takes longer', async (test) => {
    const { open, clock, ran, pay, results, until } = world(test)
    const here = await open()
    await here.spawn(agentOf([], [pay]), { id: 'rests' })
    await here.detach('rests', { drainMs: 10_000 })
    const agent = await here.spawn(agentOf([twoCalls], [pay]), { id: 'a1' })
    agent.prompt('go')
    await until(() => ran.length === 2)
    const leaving = here.detach('a1', { drainMs: 10_000 })
    await clock.advance(9_999)
    await quiet()
    assert.ok(here.agent('a1') !== undefined)
    await clock.advance(1)
    await leaving
    assert.is(here.agent('a1'), undefined)
    assert.equal(await results(), [])
  })

  it('has the reply under way, and no call of it', async (test) => {
    const { open, ran, pay, records, until } = world(test)
    const here = await open()
    const asked = Promise.withResolvers<void>()
    const reply = Promise.withResolvers<void>()
    const script = scriptedModel([twoCalls])
    const model: AgentOptions['model'] = {
      ...script,
      async *stream(request, options) {
        asked.resolve()
        await reply.promise
        yield* script.stream(request, options)
      },
    }
    const agent = await here.spawn(agentOf([], [pay], { model }), { id: 'a1' })
    agent.prompt('go')
    await asked.promise
    const leaving = here.detach('a1', { drainMs: 10_000 })
    await quiet()
    assert.ok(here.agent('a1') !== undefined)
    reply.resolve()
    await leaving
    assert.equal(ran, [])
    assert.is((await records('a1')).at(-1)!.type, 'reply.end')
    const there = await open()
    await there.resume('a1', agentOf(['done'], [pay]))
    await until(() => ran.length === 2)
  })

  it('waits for calls of sub-agents too, and closes a runtime so', async (test) => {
    const { open, ran, ends, pay, results, until } = world(test)
    const here = await open()
    const below = defineAgent({ name: 'below', description: 'Pays.', model: scriptedModel([twoCalls]), tools: [pay] })
    const above = agentOf([{ toolCalls: [{ name: 'below', input: { task: 'Pay.' }, callId: 'c0' }] }], [], {
      agents: [below],
    })
    const agent = await here.spawn(above, { id: 'a1' })
    agent.prompt('go')
    await until(() => ran.length === 2)
    const closing = here.close({ detach: true, drainMs: 10_000 })
    ends.get('one')!()
    await quiet()
    ends.get('two')!()
    await closing
    assert.equal(await results('a1.1'), ['done', 'done'])
    assert.equal(await results('a1'), [])
  })

  it('refuses a time that is none', async (test) => {
    const { open } = world(test)
    const here = await open()
    await here.spawn(agentOf([], []), { id: 'a1' })
    await assert.rejects(here.detach('a1', { drainMs: -1 }), /detach: drainMs/)
    await assert.rejects(async () => here.close({ drainMs: Infinity }), /close: drainMs/)
  })
})
