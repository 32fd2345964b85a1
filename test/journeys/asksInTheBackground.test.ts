import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { foldPending, nothingAsked } from '../../packages/bridge/src/client/fold/foldPending.ts'
import { summaryOf } from '../../packages/bridge/src/server/snapshots.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { checkLog } from '../support/journeyRules.ts'
import { calls, quiet, startAgent, tool, usageOf, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

const asks = tool(
  'asks',
  async (_, { ask }) => `${await ask(z.boolean(), 'Sure?')} and ${await ask(z.number(), 'How many?')}`,
  { background: true },
)

describe('a call in the background that asks people', (it) => {
  it('gets its answers while the agent works and rests, and reports once', async (context) => {
    const harness = await startAgent(context, { replies: [calls('c', 'asks'), 'meanwhile', 'read it'], tools: [asks] })
    const { agent, until } = harness
    assert.is((await agent.prompt('go').result).text, 'meanwhile')
    const [first] = agent.pending()
    assert.equal(
      first?.kind === 'question' && [first.question, first.name, first.background, first.askedAt !== undefined],
      ['Sure?', 'asks', 'b1', true],
    )
    assert.equal((await agent.settled()).status, 'idle')
    // Lists tell of it too.
    assert.equal(summaryOf(agent).pending, [first!.key])
    assert.throws(() => agent.decide(first!.key, { value: 'perhaps' }), withCode('ANSWER_INVALID'))
    agent.decide(first!.key, { value: true })
    await until((event) => event.type === 'question.asked' && event.question === 'How many?')
    agent.decide(agent.pending()[0]!.key, { value: 3 })
    await until(({ type }) => type === 'call.reported')
    await agent.settled()
    assert.equal(agent.pending(), [])
    assert.match(textOf(harness.ofType('message.added').at(-1)!.message.content), /^Report of b1, .*\n\ntrue and 3$/)
    assert.is(harness.ofType('call.reported').length, 1)
  })

  it('is told of a refusal, and asks no more once it is aborted', async (context) => {
    const harness = await startAgent(context, {
      replies: [calls('c', 'asks', 'asks'), 'meanwhile', 'read it'],
      tools: [asks],
    })
    const { agent, until, ofType } = harness
    await agent.prompt('go').result
    const [first, second] = agent.pending()
    agent.decide(first!.key, 'deny', 'not now')
    await until(({ type }) => type === 'call.reported')
    assert.match(textOf(ofType('call.reported')[0]!.content), /Nobody answers "Sure\?"\. Reason: not now/)
    await agent.settled()
    assert.equal(
      agent.pending().map(({ key }) => key),
      [second!.key],
    )
    agent.abort()
    assert.equal(agent.pending(), [])
    assert.throws(() => agent.decide(second!.key, { value: true }), withCode('CALL_NOT_PENDING'))
  })

  it('waits on at a client when a run ends, until it has reported', async (context) => {
    const harness = await startAgent(context, { replies: [calls('c', 'asks'), 'meanwhile', 'read it'], tools: [asks] })
    let asked = nothingAsked
    harness.agent.subscribe((event) => (asked = foldPending(asked, event, { agentId: harness.agent.id })))
    await harness.agent.prompt('go').result
    await quiet()
    assert.equal(
      asked.pending.map((one) => one.kind === 'question' && one.background),
      ['b1'],
    )
    assert.equal(asked.resting, [])
    harness.agent.abort()
    await quiet()
    assert.equal(asked.pending, [])
  })
})

/** Asks in the background whether to go on and, whatever it is told, once more; says in the end how often it has heard of it. */
const asker = (begun: () => unknown = () => {}) =>
  defineAgent({
    name: 'asker',
    tools: [
      defineTool({
        name: 'asks',
        description: 'Asks.',
        input: z.object({}),
        effects: 'irreversible',
        background: true,
        run: async (_, { ask }) => {
          begun()
          return `${await ask(z.string(), 'first?')} ${await ask(z.string(), 'second?')}`
        },
      }),
    ],
    model: policyModel(({ messages }) => {
      const usage = usageOf(10, 2)
      const isAsked = messages.some(({ role }) => role === 'toolResult')
      return isAsked ? { text: 'said', usage } : { toolCalls: [{ name: 'asks', input: {} }], usage }
    }),
  })

/** `begun`: called when the tool begins; `atRest`: called before anything is answered. */
async function answering(
  context: Pick<CaseContext, 'cleanup'>,
  past: readonly LogRecord[],
  begun?: () => unknown,
  atRest?: () => unknown,
) {
  const { runtime, store } = await runtimeOver(context, { a1: past })
  const agent = await runtime.open('a1', asker(begun))
  if (past.length === 0) await agent.prompt('go').result
  await quiet()
  atRest?.()
  if (agent.pause !== null) await agent.resume().result
  for (let turn = 0; turn < 20; turn += 1) {
    await quiet()
    const [pending] = agent.pending()
    if (pending?.kind === 'question') agent.decide(pending.key, { value: `yes to ${pending.question}` })
  }
  const records = await recordsOf(store, 'a1')
  await runtime.close()
  return records
}

const whole = await answering({ cleanup: () => {} }, [])

describe('a question of a call in the background survives the end of the process', (it) => {
  const from = whole.findIndex(({ type }) => type === 'question.asked') + 1
  for (let left = from; left <= whole.length; left += 1)
    it(`after record ${left}, ${whole[left - 1]!.type}`, async (context) => {
      let begun = 0
      const past = whole.slice(0, left)
      let early = 0
      const records = await answering(
        context,
        past,
        () => (begun += 1),
        () => (early = begun),
      )
      const reports = records.filter((record) => record.type === 'call.reported')
      assert.is(reports.length, 1)
      // Between an answer and the next question it did something that nobody knows of.
      const last = past.findLast(({ type }) => type.startsWith('question.') || type === 'call.reported')!
      const isCut = last.type === 'question.answered'
      assert.is(reports[0]!.ended, isCut ? 'interrupted' : undefined)
      if (!isCut) assert.is(textOf(reports[0]!.content), 'yes to first? yes to second?')
      assert.ok(begun <= 1)
      assert.is(early, 0, 'it begins once it is answered')
      const asked = records.flatMap((record) => (record.type === 'question.asked' ? [record.question] : []))
      assert.is(new Set(asked).size, asked.length, 'nothing is asked twice')
      const heard = records.filter(
        (record) => record.type === 'message.added' && record.message.provenance?.type === 'report',
      )
      assert.is(heard.length, 1)
      assert.equal(checkLog(records, { isWhole: false }), [])
    })
})
