import { policyModel } from '../../packages/models/src/policyModel.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { SubAgentOptions } from '../../src/actors/define/subAgents.ts'
import type { Clock } from '../../src/protocol/ports/clock.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { never, quiet, stalled, startAgent, tool } from '../support/agentHarness.ts'
import { crashingCounter } from '../support/crashingCounter.ts'
import { assert, describe } from '../support/suite.ts'

const asks = (...names: readonly string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({ name, input: { task: `for ${name}` } })),
})

const recordsOf = async (store: Store, agentId: string): Promise<LogRecord[]> => {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

/** A worker that looks once and then says it is done; it crashes so often. */
function worker(
  crashes: number,
  { name = 'worker', effects = 'none' }: { name?: string; effects?: 'none' | 'irreversible' } = {},
) {
  const left = { crashes }
  const looked: string[] = []
  const definition = defineAgent({
    name,
    model: policyModel(({ messages }) =>
      messages.some(({ role }) => role === 'toolResult')
        ? `${name} is done`
        : { toolCalls: [{ name: 'look', input: {} }] },
    ),
    tools: [
      tool(
        'look',
        (_, { key }) => {
          looked.push(key)
          return 'seen'
        },
        { effects },
      ),
    ],
    tokenCounter: crashingCounter(left),
  })
  return { definition, looked }
}

/** The answers of calls, in the order of the calls. */
const answers = (records: readonly LogRecord[]): string[] =>
  records
    .filter((record) => record.type === 'tool.end')
    .toSorted((a, b) => a.nodeId - b.nodeId)
    .map(({ message }) => textOf(message.content))

describe('a sub-agent that crashes', (it) => {
  it('goes on from its log, and its sibling does not notice', async (context) => {
    const { definition, looked } = worker(2)
    const { agent, clock, records, store } = await startAgent(context, {
      replies: [asks('worker', 'calm'), 'done'],
      agents: [definition, defineAgent({ name: 'calm', model: scriptedModel(['calm is done']) })],
    })
    const run = agent.prompt('go')
    for (let i = 0; i < 20; i += 1) {
      await quiet()
      await clock.advance(100)
    }
    assert.is((await run.result).text, 'done')
    assert.equal(answers(await records()), ['worker is done', 'calm is done'])
    assert.equal(new Set(looked).size, 1, 'the same key each time')
    const log = await recordsOf(store, 'a1.1')
    assert.is(log.filter(({ type }) => type === 'agent.created').length, 1)
  })

  it('is given up once its restarts are used up, with an error the caller can read', async (context) => {
    const { definition } = worker(100)
    const { agent, clock, records } = await startAgent(context, {
      replies: [asks('worker', 'calm'), 'done'],
      agents: [
        { definition, maxRestarts: 2, backoffMs: 10 },
        defineAgent({ name: 'calm', model: scriptedModel(['calm is done']) }),
      ],
    })
    const run = agent.prompt('go')
    for (let i = 0; i < 20; i += 1) {
      await quiet()
      await clock.advance(100)
    }
    assert.is((await run.result).text, 'done')
    const [first, second] = answers(await records())
    assert.match(first!, 'a defect')
    assert.is(second, 'calm is done')
  })

  it('is not begun anew with restart never', async (context) => {
    const { definition, looked } = worker(1)
    const { agent, records } = await startAgent(context, {
      replies: [asks('worker'), 'done'],
      agents: [{ definition, restart: 'never' }],
    })
    await agent.prompt('go').result
    assert.match(answers(await records())[0]!, 'a defect')
    assert.is(looked.length, 1)
  })

  it('does not run an irreversible call again', async (context) => {
    const { definition, looked } = worker(1, { effects: 'irreversible' })
    const { agent, clock, records } = await startAgent(context, {
      replies: [asks('worker'), 'done'],
      agents: [definition],
    })
    const run = agent.prompt('go')
    for (let i = 0; i < 10; i += 1) {
      await quiet()
      await clock.advance(100)
    }
    await run.result
    assert.equal(answers(await records()), ['worker is done'])
    assert.is(looked.length, 1)
  })

  it('counts as crashed when nothing is heard of it, but not while it waits for a person', async (context) => {
    const silent = defineAgent({ name: 'silent', model: scriptedModel([stalled([], never)]) })
    const waiting = defineAgent({
      name: 'waiting',
      model: scriptedModel([{ toolCalls: [{ name: 'guarded', input: {} }] }, 'waited']),
      tools: [tool('guarded', () => 'ok', { needsApproval: true })],
    })
    const options: Partial<SubAgentOptions> = { stallMs: 1_000, restart: 'never' }
    const { agent, clock, records } = await startAgent(context, {
      replies: [asks('silent', 'waiting'), 'done'],
      agents: [
        { definition: silent, ...options },
        { definition: waiting, ...options },
      ],
    })
    const run = agent.prompt('go')
    await quiet()
    await clock.advance(5_000)
    await quiet()
    const [pending] = agent.approvals()
    agent.decide(pending!.key, 'approve')
    await run.result
    const [first, second] = answers(await records())
    assert.match(first!, /Nothing was heard of agent "a1.1" for 1000 ms/)
    assert.is(second, 'waited')
  })

  it('is alive as long as something is heard of it, or of one that works for it', async (context) => {
    let after: Clock['after'] = () => assert.unreachable()
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const slow: Model = {
      id: 'test:slow',
      async *stream() {
        for (let piece = 0; piece < 5; piece += 1) {
          await new Promise<void>((resolve) => after(600, resolve))
          yield { type: 'text.delta', text: 'more ' }
        }
        yield { type: 'done', reply: { content: [{ type: 'text', text: 'slowly done' }], stopReason: 'stop', usage } }
      },
    }
    const slowOne = defineAgent({ name: 'worker', model: slow })
    const middle = defineAgent({
      name: 'middle',
      model: scriptedModel([asks('worker'), 'middle is done']),
      agents: [{ definition: slowOne, stallMs: 1_000 }],
    })
    const { agent, records, clock } = await startAgent(context, {
      replies: [asks('middle'), 'done'],
      agents: [{ definition: middle, stallMs: 1_000, restart: 'never' }],
    })
    after = clock.after
    const run = agent.prompt('go')
    await quiet()
    await clock.advance(5_000)
    await run.result
    assert.equal(answers(await records()), ['middle is done'])
    assert.is(clock.pending, 0)
  })
})

describe('a tree whose process died', (it) => {
  it('goes on at the child, wherever it was cut', { timeoutMs: 20_000 }, async (context) => {
    const definitions = () => {
      const { definition, looked } = worker(0)
      const middle = defineAgent({
        name: 'middle',
        model: policyModel(({ messages }) =>
          messages.some(({ role }) => role === 'toolResult')
            ? `middle says: ${textOf(messages.at(-1)!.content)}`
            : { toolCalls: [{ name: 'worker', input: { task: 'work' } }] },
        ),
        agents: [definition],
      })
      const root = defineAgent({
        name: 'root',
        model: policyModel(({ messages }) =>
          messages.some(({ role }) => role === 'toolResult')
            ? `root says: ${textOf(messages.at(-1)!.content)}`
            : { toolCalls: [{ name: 'middle', input: { task: 'delegate' } }] },
        ),
        agents: [middle],
        checkRequests: true,
      })
      return { root, looked }
    }
    // One undisturbed life, with the order in which records of all agents were written.
    const written: [string, LogRecord][] = []
    const inner = memoryStore()
    const store: Store = {
      ...inner,
      append: async (agentId, records) => {
        for (const record of records) written.push([agentId, record])
        await inner.append(agentId, records)
      },
    }
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(definitions().root, { id: 'r' })
    assert.is((await agent.prompt('go').result).text, 'root says: middle says: worker is done')
    await runtime.close()
    assert.equal((await inner.list()).toSorted(), ['r', 'r.1', 'r.1.1'])

    for (let cut = 4; cut < written.length; cut += 1) {
      const copy = memoryStore()
      const logs = new Map<string, LogRecord[]>()
      for (const [agentId, record] of written.slice(0, cut)) logs.set(agentId, [...(logs.get(agentId) ?? []), record])
      for (const [agentId, records] of logs) {
        const lease = await copy.open(agentId)
        await copy.append(agentId, records)
        await lease.release()
      }
      const second = await createRuntime({ store: copy })
      const again = await second.resume('r', definitions().root)
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (again.state === 'idle') resolve()
        }
        again.subscribe(look)
        look()
      })
      const last = again.conversation.trunk().at(-1)?.message
      assert.is(
        last === undefined ? '' : textOf(last.content),
        'root says: middle says: worker is done',
        `cut at ${cut}`,
      )
      assert.equal((await copy.list()).toSorted(), ['r', 'r.1', 'r.1.1'])
      await second.close()
    }
    context.cleanup(() => {})
  })
})

describe('the budget of a sub-agent', (it) => {
  it('is not fresh in a new life', async (context) => {
    const usage = { input: 100, output: 50, cacheRead: 0, cacheWrite: 0 }
    const left = { crashes: 2 }
    const greedy = defineAgent({
      name: 'greedy',
      model: scriptedModel(Array.from({ length: 20 }, () => ({ toolCalls: [{ name: 'look', input: {} }], usage }))),
      tools: [tool('look', () => 'seen', { effects: 'none' })],
      tokenCounter: crashingCounter(left),
      limits: { tokens: 700 },
    })
    const { agent, clock, records } = await startAgent(context, { replies: [asks('greedy'), 'done'], agents: [greedy] })
    const run = agent.prompt('go')
    for (let i = 0; i < 20; i += 1) {
      await quiet()
      await clock.advance(100)
    }
    await run.result
    const end = (await records()).find((record) => record.type === 'tool.end')
    const { input, output } = end!.spent!.usage
    assert.is(left.crashes, 0)
    assert.ok(input + output <= 700, `${input + output} tokens`)
    assert.ok(input + output >= 450)
  })
})
