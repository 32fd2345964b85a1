import { llmStrategy } from '../../packages/policies/src/llmStrategy.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import {
  calls,
  gate,
  never,
  quiet,
  saidIn,
  stalled,
  startAgent,
  tool,
  usageOf,
  withCode,
  type HarnessOptions,
} from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const long = 'long words '.repeat(40)

/** An agent that has looked eight times and is at rest. */
async function startRested(context: CaseContext, options: HarnessOptions = {}) {
  const harness = await startAgent(context, {
    tools: [tool('look', (input) => `${JSON.stringify(input)} ${long}`, { effects: 'none' })],
    replies: [
      ...Array.from({ length: 8 }, (_, at) => calls(`t${at}-`, ['look', { at }])),
      'the end',
      'more',
      'and more',
    ],
    ...options,
  })
  await harness.agent.prompt('go').result
  return harness
}

describe('a compaction that a person asks for', (it) => {
  it('happens at rest, long before the window is full, and the next request begins with the summary', async (context) => {
    const { agent, until, ofType, script, types } = await startRested(context)
    agent.compact()
    const end = await until(({ type }) => type === 'compaction.end')
    assert.ok(end.type === 'compaction.end' && end.applied && end.tokensAfter < end.tokensBefore)
    const [asked] = ofType('compaction.requested')
    assert.equal([asked?.request.by, ofType('compaction.start')[0]?.cause], ['person', 'requested'])
    assert.equal([ofType('compaction.start')[0]?.requestId, end.requestId], [asked?.request.id, asked?.request.id])
    await quiet()
    assert.is(agent.state, 'idle')
    assert.is(types().filter((type) => type === 'run.start').length, 1)
    await agent.prompt('and now?').result
    assert.match(saidIn(script.requests.at(-1)).join(), /<conversation-summary span="n2–/)
  })

  it('in the middle of a run comes between turns, once', async (context) => {
    const open = gate()
    const { agent, until, ofType } = await startAgent(context, {
      tools: [tool('look', () => long, { effects: 'none' }), tool('slow', () => open.promise, { effects: 'none' })],
      replies: [...Array.from({ length: 8 }, (_, at) => calls(`t${at}-`, 'look')), calls('s', 'slow'), 'the end'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.compact()
    await quiet()
    assert.is(ofType('compaction.start').length, 0)
    open.resolve()
    assert.is((await run.result).text, 'the end')
    assert.equal(
      ofType('compaction.end').map(({ applied }) => applied),
      [true],
    )
  })

  it('tells the strategy what to keep above all; the heuristic says that it takes no focus', async (context) => {
    const summary = scriptedModel([{ text: 'All looks were fine.', usage: usageOf(500, 7) }])
    const strategy = llmStrategy({ model: summary, focus: 'decisions' })
    const asking = await startRested(context, { compaction: { strategy }, id: 'a2' })
    asking.agent.compact({ focus: 'the port numbers' })
    const end = await asking.until(({ type }) => type === 'compaction.end')
    assert.match(summary.requests[0]!.system, /Above all keep: decisions; the port numbers/)
    assert.equal(end.type === 'compaction.end' && [end.usage, end.reason], [usageOf(500, 7), undefined])
    const { agent, until } = await startRested(context)
    agent.compact({ focus: 'the port numbers' })
    const other = await until(({ type }) => type === 'compaction.end')
    assert.is(other.type === 'compaction.end' && other.applied && other.reason, 'the heuristic takes no focus')
  })

  it('shows no secret of its focus to the model that summarises', async (context) => {
    const summary = scriptedModel(['All looks were fine.'])
    const { agent, until, events } = await startRested(context, {
      compaction: { strategy: llmStrategy({ model: summary }) },
      redact: { secrets: { A: 'hunter2-of-the-north' } },
    })
    agent.compact({ focus: 'what hunter2-of-the-north opens' })
    await until(({ type }) => type === 'compaction.end')
    assert.match(summary.requests[0]!.system, /what \[redacted:A\] opens/)
    assert.not.match(JSON.stringify(events), /hunter2/)
  })

  it('that nothing comes of says so without paying, also when it is asked for again', async (context) => {
    const unpaid = scriptedModel([{ text: 'All looks were fine.' }])
    const { agent, until, ofType } = await startRested(context, {
      compaction: { strategy: llmStrategy({ model: unpaid }) },
    })
    for (let at = 3; at <= 17; at += 2) agent.pin(`n${at}`)
    agent.compact()
    await until(({ type }) => type === 'compaction.end')
    agent.compact()
    await until((event) => event.type === 'compaction.end' && event !== ofType('compaction.end')[0])
    for (const { applied, reason } of ofType('compaction.end')) {
      assert.is(applied, false)
      assert.match(reason ?? '', /^the middle of the conversation cannot go: people said it, or pinned it \(n3, n5/)
    }
    assert.is(unpaid.requests.length, 0)
    for (let at = 3; at <= 17; at += 2) agent.unpin(`n${at}`)
    agent.compact()
    await until((event) => event.type === 'compaction.end' && event.applied)
    assert.is(unpaid.requests.length, 1)
  })

  it('that is asked for again and again takes more of the newest steps, and comes to an end', async (context) => {
    const { agent, until, ofType } = await startRested(context)
    for (let at = 0; at < 6; at += 1) agent.compact()
    await until(() => ofType('compaction.end').length === 6)
    const ends = ofType('compaction.end')
    const applied = ends.filter((end) => end.applied)
    assert.ok(applied.length >= 2 && applied.length < 6)
    for (const [at, { tokensBefore, tokensAfter }] of applied.entries()) {
      assert.ok(tokensAfter < tokensBefore)
      if (at > 0) assert.is(tokensBefore, applied[at - 1]!.tokensAfter)
    }
    assert.match(ends.at(-1)?.reason ?? '', /^there is nothing to summarise that the last summary left in sight$/)
  })

  for (const how of ['abort', 'stop'] as const)
    it(`ends when the agent at rest is told to ${how}`, async (context) => {
      const summary = scriptedModel([stalled(['x'], never)])
      const { agent, ofType, untilState } = await startRested(context, {
        compaction: { strategy: llmStrategy({ model: summary }) },
      })
      agent.compact()
      agent.compact()
      await untilState('compacting')
      if (how === 'abort') agent.abort()
      else await agent.stop()
      await quiet()
      const ends = ofType('compaction.end').map(({ applied, reason }) => [applied, reason])
      assert.equal(
        ends,
        how === 'abort'
          ? [
              [false, 'aborted'],
              [false, 'compaction refused: it was aborted'],
            ]
          : [
              [false, 'the agent was stopped'],
              [false, 'compaction refused: the agent was stopped'],
            ],
      )
      assert.is(agent.state, how === 'abort' ? 'idle' : 'stopped')
    })

  it('does not swallow what is said meanwhile', async (context) => {
    const open = Promise.withResolvers<{ text: string }>()
    const strategy = { name: 'slow', summarise: () => open.promise }
    const { agent, untilState, until, ofType } = await startRested(context, { compaction: { strategy } })
    agent.compact()
    await untilState('compacting')
    const run = agent.prompt('are you there?')
    agent.steer('hello?')
    open.resolve({ text: 'short' })
    assert.is((await run.result).text, 'more')
    await until((event) => event.type === 'run.end' && ofType('run.end').length === 3)
    assert.is(ofType('compaction.end')[0]?.applied, true)
    assert.ok(agent.conversation.trunk().some(({ message }) => textOf(message.content) === 'hello?'))
  })

  it('that its process did not live to see is done by the next', async (context) => {
    const summary = scriptedModel([stalled(['x'], never)])
    const definition = { compaction: { strategy: llmStrategy({ model: summary }) } }
    const { agent, runtime, untilState, store, records } = await startRested(context, { ...definition, check: false })
    agent.compact({ focus: 'names' })
    await untilState('compacting')
    await agent.close()
    const left = (await records()).slice(-2)
    assert.equal(
      left.map((record) => [record.type, 'requestId' in record]),
      [
        ['compaction.start', true],
        ['compaction.end', false],
      ],
    )
    const heir = scriptedModel(['All looks were fine.'])
    const again = defineAgent({
      name: 'tester',
      model: scriptedModel([]),
      compaction: { strategy: llmStrategy({ model: heir }) },
    })
    const resumed = await runtime.resume(agent.id, again)
    await new Promise<void>((resolve) => {
      resumed.subscribe((event) => event.type === 'compaction.end' && resolve())
      if ((resumed.conversation as unknown as { overlay?: object }).overlay !== undefined) resolve()
    })
    await resumed.durable()
    const end = (await records()).findLast((record) => record.type === 'compaction.end')
    assert.equal([end?.applied, end?.requestId === undefined], [true, false])
    assert.match(heir.requests[0]!.system, /names/)
    await resumed.close()
    assert.ok(store !== undefined)
  })

  it('needs a focus that says something, and room in the queue', async (context) => {
    const open = gate()
    const { agent, untilState } = await startAgent(context, {
      maxQueue: 1,
      tools: [tool('slow', () => open.promise)],
      replies: [calls('a', 'slow'), 'done'],
    })
    assert.throws(() => agent.compact({ focus: '' }), withCode('INVALID_OPTION', 'focus'))
    assert.throws(() => agent.compact({ about: 'x' } as object), withCode('INVALID_OPTION', 'about'))
    const run = agent.prompt('go')
    await untilState('executing')
    agent.compact()
    assert.throws(() => agent.compact(), withCode('QUEUE_FULL', 'compactions'))
    open.resolve()
    await run.result
  })
})
