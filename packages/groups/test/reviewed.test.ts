import { once } from 'node:events'
import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { never, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { reviewed } from '../src/reviewed.ts'
import type { ReviewedOptions, ReviewWork } from '../src/reviewTypes.ts'

type Gate = (turn: number, signal: AbortSignal) => unknown

/** An agent that calls a tool for so many turns of a run; the tool waits for `gate` at the turns that it names. */
function worker(calls: number, gate: Gate = () => undefined, counter = { turn: 0 }) {
  const step = defineTool({
    name: 'step',
    description: 'Does a step.',
    input: z.object({}),
    effects: 'none',
    run: async (_, { signal }) => {
      const turn = (counter.turn += 1)
      await gate(turn, signal)
      return `done ${turn}`
    },
  })
  const model = policyModel(({ messages }) => {
    const asked = messages.findLastIndex(({ role, content }) => role === 'user' && textOf(content).startsWith('work'))
    const made = messages.slice(asked).filter(({ role }) => role === 'toolResult').length
    return made < calls ? { toolCalls: [{ name: 'step', input: {} }] } : 'finished'
  })
  return defineAgent({ name: 'worker', model, tools: [step] })
}

const critic = (answer: (request: ModelRequest) => unknown) =>
  defineAgent({
    name: 'critic',
    model: policyModel(async (request) => String(await answer(request))),
    pricing: { input: 1_000, output: 1_000 },
    retry: { attempts: 1 },
  })

const warnings = () => {
  const lines: string[] = []
  const line = (_: object, message: string): void => void lines.push(message)
  const none = (): void => {}
  return { lines, logger: { debug: none, info: none, warn: line, error: line } }
}

async function begin(
  { cleanup }: CaseContext,
  { calls = 6, gate, ...options }: ReviewedOptions & { calls?: number; gate?: Gate },
) {
  const store = memoryStore()
  const clock = simulatedClock()
  const { lines, logger } = warnings()
  const runtime = await createRuntime({ store, clock, logger })
  cleanup(() => runtime.close())
  const agent = await runtime.spawn(worker(calls, gate), { id: 'a' })
  const reviewing = await reviewed(runtime, agent, options)
  return { store, clock, runtime, agent, reviewing, lines }
}

async function logOf(store: Store, agentId = 'a'): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId, 1)) records.push(record)
  return records
}

/** The findings that an agent was told of, in its log. */
const findings = (records: readonly LogRecord[]): string[] =>
  records.flatMap((record) =>
    record.type === 'message.added' &&
    record.message.provenance?.type === 'note' &&
    record.message.provenance.kind === 'review'
      ? [textOf(record.message.content).split('\n\n')[1]!]
      : [],
  )

const deferredOf = () => Promise.withResolvers<void>()

describe('a reviewer beside a run', (it) => {
  it('sees each part of the work once, and what it finds is a message that says what it is', async (context) => {
    const works: ReviewWork[] = []
    let reviews = deferredOf()
    const { agent, reviewing, store } = await begin(context, {
      with: (work) => {
        works.push(work)
        queueMicrotask(() => reviews.resolve())
        return `look at ${works.length}`
      },
      every: 2,
      // Each part is reviewed before the work goes on.
      gate: async (turn) => {
        if (turn !== 3 && turn !== 5) return
        await reviews.promise
        await reviewing.settled()
        reviews = deferredOf()
      },
    })
    await agent.prompt('work').result
    await reviewing.settled()
    // The last one came as the run ended: it waits for the next.
    assert.equal([findings(await logOf(store)), reviewing.isHolding], [['look at 1', 'look at 2'], true])
    assert.equal(
      works.map(({ turns, asked, agentId }) => [turns, asked, agentId]),
      [
        [2, 'work', 'a'],
        [2, 'work', 'a'],
        [2, 'work', 'a'],
      ],
    )
    const seen = works.map(({ transcript }) => [...transcript.matchAll(/done (\d)/g)].map(([, n]) => n))
    assert.equal(seen, [
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ])
    const told = agent.conversation.trunk().find(({ message }) => message.role === 'user' && message.provenance)
    assert.match(textOf(told!.message.content), /Review of your work by review.* no message of the user/)
    reviews.resolve()
    await agent.prompt('thanks').result
    assert.equal(findings(await logOf(store)), ['look at 1', 'look at 2', 'look at 3'])
  })

  it('may be an agent, whose usage is its own and whose "ok" is nothing', async (context) => {
    const gate = deferredOf()
    const asked: string[] = []
    const second = critic(({ messages }) => {
      asked.push(textOf(messages.at(-1)!.content))
      return asked.length === 1 ? 'ok' : 'wrong file'
    })
    const { agent, reviewing, store, runtime } = await begin(context, {
      with: second,
      every: 1,
      gate: async (turn) => {
        if (turn === 3) await gate.promise
      },
    })
    const run = agent.prompt('work')
    while (asked.length < 2) await new Promise(setImmediate)
    await reviewing.settled()
    gate.resolve()
    const { costUsd } = await run.result
    await reviewing.settled()
    assert.equal(findings(await logOf(store))[0], 'wrong file')
    assert.equal([reviewing.reviewerId, costUsd], ['a-critic', 0])
    assert.ok(reviewing.spent.costUsd > 0 && runtime.agent('a-critic') !== undefined)
    assert.match(asked[0]!, /<asked>\nwork\n<\/asked>[^]*done 1/)
    await reviewing.end()
    assert.equal(runtime.agent('a-critic'), undefined)
  })

  it('reviews once at a time: what is done meanwhile is in the next', async (context) => {
    const gate = deferredOf()
    const works: number[] = []
    const { agent, reviewing } = await begin(context, {
      every: 1,
      with: async ({ turns }) => {
        works.push(turns)
        if (works.length === 1) await gate.promise
      },
    })
    const { text } = await agent.prompt('work').result
    assert.equal([text, works], ['finished', [1]])
    gate.resolve()
    await reviewing.settled()
    assert.equal(works, [1, 6])
  })

  it('tells no more than so much in a run, and asks for no more, also if findings begin runs', async (context) => {
    let asked = 0
    const { agent, reviewing, store } = await begin(context, {
      every: 1,
      most: 2,
      atRest: 'begin',
      calls: 0,
      with: () => `finding ${(asked += 1)}`,
    })
    await agent.prompt('work').result
    for (let time = 0; time < 20; time += 1) {
      await agent.settled()
      await reviewing.settled()
    }
    assert.equal([asked, findings(await logOf(store))], [2, ['finding 1', 'finding 2']])
    await agent.prompt('work').result
    await reviewing.settled()
    await agent.settled()
    assert.ok(asked > 2)
  })

  it('leaves out work that is not worth it, which is in the next', async (context) => {
    const works: number[] = []
    const { agent, reviewing } = await begin(context, {
      every: 2,
      when: ({ turns }) => turns > 3,
      with: ({ turns, transcript }) => void works.push(turns, transcript.match(/done \d/g)?.length ?? 0),
      gate: () => reviewing.settled(),
    })
    await agent.prompt('work').result
    await reviewing.settled()
    assert.equal(works, [4, 4])
  })

  it('harms nothing if it fails, takes too long or ends with a limit', async (context) => {
    const { agent, reviewing, clock, lines, store } = await begin(context, {
      every: 7,
      timeoutMs: 1_000,
      with: (_, { signal }) => {
        signal.addEventListener('abort', () => void lines.push('aborted'))
        return never
      },
    })
    const { text } = await agent.prompt('work').result
    assert.equal(text, 'finished')
    while (clock.pending === 0) await new Promise(setImmediate)
    await clock.advance(1_000)
    await reviewing.settled()
    assert.equal(lines[0], 'aborted')
    assert.match(lines[1] ?? '', /The review of agent "a" by review failed.*no answer within 1000 ms/)
    assert.equal(findings(await logOf(store)), [])
  })

  it('ends with an abort of the agent, and with the agent', async (context) => {
    const reasons: string[] = []
    let began = deferredOf()
    const { agent, reviewing, lines, store } = await begin(context, {
      every: 1,
      with: (_, { signal }) => {
        signal.addEventListener('abort', () => void reasons.push('aborted'))
        began.resolve()
        return never
      },
      gate: (turn, signal) => (turn === 2 || turn === 4 ? once(signal, 'abort') : undefined),
    })
    for (const end of [async () => agent.abort(), () => agent.stop()]) {
      agent.prompt('work')
      await began.promise
      began = deferredOf()
      await end()
      await reviewing.settled()
    }
    assert.equal([reasons, lines], [['aborted', 'aborted'], []])
    assert.equal(findings(await logOf(store)), [])
  })

  it('is refused where it cannot be', async (context) => {
    const { agent, runtime, reviewing } = await begin(context, { with: () => null })
    const refused = async (options: object, code: string, words: string) =>
      assert.rejects(() => reviewed(runtime, agent, options as never), withCode(code, words))
    await refused({ with: 'me' }, 'INVALID_OPTION', 'give an agent from defineAgent, or a function')
    await refused({ with: () => null, every: 0 }, 'INVALID_OPTION', 'every')
    await refused({ with: () => null, sometimes: true }, 'INVALID_OPTION', 'sometimes')
    await refused({ with: () => null }, 'INVALID_OPTION', 'already')
    await reviewing.end()
    await (await reviewed(runtime, agent, { with: () => null })).end()
    const secret = await runtime.spawn(worker(1), { incognito: true })
    await assert.rejects(
      () => reviewed(runtime, secret, { with: critic(() => 'ok') }),
      withCode('AGENT_INCOGNITO', 'give a function'),
    )
  })
})

describe('a reviewer whose process was killed', (it) => {
  it('is gone on with after each record: no finding is told twice, and none that was made is lost', async () => {
    const counter = { turn: 0 }
    const whole = await recorded(counter)
    assert.equal(madeIn(whole), ['found 1 2', 'found 3 4'])
    for (let cut = 2; cut <= whole.length; cut += 1) {
      const before = whole.slice(0, cut)
      const store = memoryStore()
      for (const agentId of new Set(before.map((one) => one.agentId))) {
        const lease = await store.open(agentId)
        await store.append(
          agentId,
          before.filter((one) => one.agentId === agentId).map(({ record }) => record),
        )
        await lease.release()
      }
      await live(store, counter)
      const told = findings(await logOf(store))
      const at = `cut after ${cut} (${before.at(-1)!.agentId} ${before.at(-1)!.record.type}), told ${told.join(', ')}`
      assert.equal(new Set(told).size, told.length, at)
      assert.equal(
        madeIn(before).filter((finding) => !told.includes(finding)),
        [],
        at,
      )
    }
  })
})

interface Written {
  readonly agentId: string
  readonly record: LogRecord
}

/** The findings in the log of the reviewer. */
const madeIn = (written: readonly Written[]): string[] =>
  written.flatMap(({ agentId, record }) =>
    agentId === 'a-critic' && record.type === 'reply.end' && textOf(record.message.content) !== 'ok'
      ? [textOf(record.message.content)]
      : [],
  )

/** Names the results in each part of the work. */
const finder = () =>
  critic(({ messages }) => {
    const numbers = [...textOf(messages.at(-1)!.content).matchAll(/done (\d+)/g)].map(([, n]) => n)
    return numbers.length === 0 ? 'ok' : `found ${numbers.join(' ')}`
  })

/** All records of a life that nothing disturbs, in the order in which they were written. */
async function recorded(counter: { turn: number }): Promise<Written[]> {
  const written: Written[] = []
  const inner = memoryStore()
  await live(
    {
      ...inner,
      append: async (agentId, records) => {
        await inner.append(agentId, records)
        written.push(...records.map((record) => ({ agentId, record })))
      },
    },
    counter,
  )
  return written
}

/** Works until everything that was found is told. */
async function live(store: Store, counter: { turn: number }): Promise<void> {
  const runtime = await createRuntime({ store: { ...store, close: async () => {} } })
  // Work waits for reviews under way, so that cuts are at known places.
  let settled = async (): Promise<void> => {}
  const agent = await runtime.open(
    'a',
    worker(4, () => settled(), counter),
  )
  const reviewing = await reviewed(runtime, agent, { with: finder(), every: 2, most: 9 })
  settled = () => reviewing.settled()
  await agent.askOnce('task', 'work')
  await reviewing.settled()
  for (let time = 0; reviewing.isHolding; time += 1) {
    await agent.askOnce(`more-${time}`, 'thanks')
    await reviewing.settled()
  }
  await agent.settled()
  await runtime.close({ detach: true })
}
