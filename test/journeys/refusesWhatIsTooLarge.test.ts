import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { maxContentChars } from '../../src/protocol/text/saidContent.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import type { Block } from '../../src/protocol/messages.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { calls, delta, done, quiet, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { pickyStore } from '../support/pickyStore.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

const patient = { timeoutMs: 20_000 }
const tooLong = 'x'.repeat(maxContentChars + 1)
const half = tooLong.slice(0, maxContentChars / 2 + 1)

const png = (data: string): Block => ({ type: 'image', data, mimeType: 'image/png' })

describe('a reply that no log could hold', (it) => {
  const replies: { readonly [what: string]: readonly Block[] } = {
    'one long text': [{ type: 'text', text: tooLong }],
    'thinking, text and a signature together': [
      { type: 'thinking', text: half, signature: half },
      { type: 'text', text: 'so' },
    ],
    'the arguments of a call': [{ type: 'toolCall', callId: 'c0', name: 'work', input: { a: half, b: [half] } }],
    'what a provider sends along': [
      { type: 'provider', provider: 'p', kind: 'result', name: 'search', data: { [half]: half } },
      { type: 'text', text: 'so' },
    ],
  }
  for (const [what, content] of Object.entries(replies))
    it(`is an error of the run, and the next one is answered: ${what}`, patient, async (context) => {
      const { agent, records } = await startAgent(context, {
        tools: [tool('work', () => 'worked')],
        replies: [{ parts: [done(content, { usage: { ...noUsage, input: 7, output: 9 } })] }, 'fine'],
      })
      const { stopReason, error, usage } = await agent.prompt('go').result
      assert.equal([stopReason, error?.code], ['error', 'REPLY_TOO_LARGE'])
      assert.equal([usage.input, usage.output], [7, 9])
      assert.is(agent.state, 'idle')
      assert.is((await agent.prompt('and now?').result).text, 'fine')
      for (const record of await records()) assert.ok(JSON.stringify(record).length < 10_000, record.type)
    })

  it('is not read to its end, and what an abort keeps of it is not too large either', patient, async (context) => {
    let sent = 0
    let isClosed = false
    const piece = 'y'.repeat(1024 * 1024)
    const model: Model = {
      id: 'endless',
      async *stream() {
        try {
          for (;;) {
            sent += 1
            yield delta(piece)
          }
        } finally {
          isClosed = true
        }
      },
    }
    const { agent } = await startAgent(context, { model })
    const { stopReason, error } = await agent.prompt('go').result
    assert.equal([stopReason, error?.code], ['error', 'REPLY_TOO_LARGE'])
    assert.is(sent, maxContentChars / piece.length + 1)
    await quiet()
    assert.ok(isClosed)
  })

  it('is not asked for again, and neither is one whose error is a book', patient, async (context) => {
    const { agent, script } = await startAgent(context, {
      replies: [{ parts: [done([{ type: 'text', text: tooLong }])] }, { error: { kind: 'auth', message: half } }],
    })
    assert.is((await agent.prompt('go').result).error?.code, 'REPLY_TOO_LARGE')
    assert.is(script.requests.length, 1)
    const { error } = await agent.prompt('go').result
    assert.is(error?.code, 'MODEL_AUTH')
    assert.ok(error!.message.length < 5_000)
  })
})

describe('what a log could not hold', (it) => {
  it(
    'is refused when it is said, with its context and where it comes from, and leaves nothing',
    patient,
    async (context) => {
      const { agent, records } = await startAgent(context, { replies: ['fine'], compaction: false })
      await quiet()
      const before = await records()
      const refused = withCode('INVALID_CONTENT', String(maxContentChars))
      assert.throws(() => agent.prompt(tooLong), refused)
      assert.throws(() => agent.prompt('go', { context: [half, half, half].map((content) => ({ content })) }), refused)
      const provenance = { type: 'memoryTier', tier: tooLong + half, recordId: 'r' } as const
      for (const say of ['prompt', 'interrupt', 'steer', 'followUp'] as const)
        assert.throws(() => agent[say]('go', { provenance }), refused)
      assert.throws(
        () => agent.decide('c0', 'deny', tooLong + half),
        withCode('INVALID_OPTION', String(maxContentChars)),
      )
      assert.equal(await records(), before)
      const largest = tooLong.slice(1)
      assert.is((await agent.prompt(largest).result).text, 'fine')
    },
  )

  it('is an error of the tool that returned it', patient, async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [
        tool('draw', () => [png(half), png(half)]),
        tool('write', () => tooLong, { maxOutputChars: 10 * maxContentChars }),
        tool('touch', (_, { changed }) => {
          for (const name of ['a', 'b', 'c']) changed(half + name)
          return 'touched'
        }),
      ],
      replies: [calls('c', 'draw', 'write', 'touch'), 'fine'],
    })
    assert.is((await agent.prompt('go').result).text, 'fine')
    for (const result of resultsOf(script.requests[1])) assert.match(result, /^The tool finished, but its result takes/)
  })

  it(
    'is not captured, with an error that says so, and the model is asked all the same',
    patient,
    async ({ cleanup }) => {
      const store = memoryStore()
      const talker = (captureTurnRequests: boolean) =>
        defineAgent({ name: 'talker', model: policyModel(() => 'fine'), compaction: false, captureTurnRequests })
      const runtime = await createRuntime({ store: { ...store, close: async () => {} } })
      const agent = await runtime.spawn(talker(false), { id: 't1' })
      for (let said = 0; said < 2; said += 1) await agent.prompt(half).result
      await runtime.close()
      const second = await createRuntime({ store })
      cleanup(() => second.close())
      const again = await second.resume('t1', talker(true))
      const codes: string[] = []
      again.subscribe((event) => event.type === 'error' && codes.push(event.error.code))
      assert.is((await again.prompt('and now?').result).text, 'fine')
      assert.equal(codes, ['RECORD_TOO_LARGE'])
    },
  )
})

describe('a record that its store can never take', (it) => {
  const store = () => pickyStore(2_000)
  const talker = () =>
    defineAgent({
      name: 'talker',
      model: policyModel(({ messages }) =>
        JSON.stringify(messages).includes('short') ? 'short' : 'long '.repeat(1_000),
      ),
    })

  const start = async ({ cleanup }: CaseContext) => {
    const kept = store()
    const runtime = await createRuntime({ store: kept })
    cleanup(() => runtime.close())
    const agent = await runtime.open('t1', talker())
    const result = await agent.prompt('go').result
    assert.equal([result.stopReason, result.error?.code], ['paused', 'RECORD_TOO_LARGE'])
    const log = async (): Promise<LogRecord[]> => {
      const records: LogRecord[] = []
      for await (const record of kept.read('t1')) records.push(record)
      return records
    }
    return { runtime, agent, log }
  }

  it('pauses the agent, which an abort closes; it goes on from its log', async (context) => {
    const { runtime, agent, log } = await start(context)
    assert.is((await agent.resume().result).error?.code, 'RECORD_TOO_LARGE')
    assert.throws(() => agent.prompt('more'), withCode('AGENT_PAUSED', 'too large', 'abort, stop or close'))
    agent.abort()
    const again = await runtime.open('t1', talker(), { continue: false })
    assert.is.not(again, agent)
    assert.is(agent.state, 'stopped')
    assert.equal(again.pause, { type: 'interrupted' })
    assert.is((await again.prompt('something short').result).text, 'short')
    assert.equal(
      (await log()).map(({ seq }) => seq),
      (await log()).map((_, index) => index + 1),
    )
  })

  it('does not keep the agent from being stopped for good', async (context) => {
    const { runtime, agent, log } = await start(context)
    await agent.stop()
    assert.is((await log()).at(-1)?.type, 'agent.stopped')
    await assert.rejects(runtime.open('t1', talker()), withCode('AGENT_STOPPED'))
  })

  it('keeps nothing from the log that stands before it', async (context) => {
    const { runtime, agent, log } = await start(context)
    await agent.close()
    assert.equal(
      (await log()).map(({ type }) => type),
      ['agent.created', 'run.start', 'message.added', 'turn.start'],
    )
    await runtime.close()
  })
})
