import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { RevertOptions } from '../../src/actors/define/brakingOptions.ts'
import type { RevertCategory } from '../../src/protocol/braking.ts'
import { addUsage } from '../../src/protocol/messages.ts'
import { calls, never, startAgent, tool, usageOf, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { notesIn, textIn } from '../support/brakeLog.ts'
import { checkJourney } from '../support/journeyRules.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'

const silent: ScriptedReply = { parts: { [Symbol.asyncIterator]: () => ({ next: () => never }) } }
const long = 'output '.repeat(2_000)

/** Looks, writes two files, reverts to its first prompt without a summary, and is done. */
async function startRevert(
  context: CaseContext,
  category: RevertCategory,
  {
    revert = {},
    asked = [],
    summary,
    ...rest
  }: HarnessOptions & { revert?: RevertOptions; asked?: readonly ScriptedReply[]; summary?: string } = {},
): Promise<Harness> {
  const write = tool('write_file', (input, { changed }) => {
    changed((input as { path: string }).path)
    return long
  })
  const harness = await startAgent(context, {
    braking: { revert },
    tools: [tool('look', () => long), write],
    // A question for a summary is no request of the run: the harness would take it for one.
    check: false,
    replies: [
      calls('a', ['look', { path: 'src/readme.txt' }]),
      calls('b', ['write_file', { path: 'src/parser.ts' }], ['write_file', { path: 'src/lexer.ts' }]),
      calls('c', ['revert_to_state', { category, step: 'n1', ...(summary === undefined ? {} : { summary }) }]),
      ...asked,
      'done',
      'and more',
    ],
    ...rest,
  })
  context.cleanup(async () => {
    await harness.agent.stop()
    const conversation = harness.agent.conversation as Conversation
    assert.equal(checkJourney({ events: harness.events, conversation, records: await harness.records() }), [])
    assert.is(harness.clock.pending, 0, 'timers left in the clock')
  })
  return harness
}

describe('a lesson without a summary', (it) => {
  it('is its evidence alone when there is no model for it: nobody is asked', async (context) => {
    const { agent, script } = await startRevert(context, 'failure')
    await agent.prompt('go').result
    assert.is(script.requests.length, 4)
    assert.equal(notesIn(script.requests[3]!.messages), [
      '<brake-note kind="lesson" span="n2–n8">evidence: look (1 attempt), write_file (2 attempts); still changed: src/parser.ts, src/lexer.ts</brake-note>',
    ])
  })

  it('is written by the summary model, in one question with the transcript, and its usage counts on the run', async (context) => {
    const cheap = scriptedModel([{ text: 'parsers by hand are slow', usage: usageOf(1_000_000, 70) }])
    const { agent, script } = await startRevert(context, 'tangent', { revert: { summaryModel: cheap } })
    const result = await agent.prompt('go').result
    assert.is(cheap.requests.length, 1)
    assert.equal(cheap.requests[0]!.tools, [])
    assert.match(textIn(cheap.requests[0]!.messages), /<transcript>[^]*parser\.ts/)
    assert.match(textIn(script.requests[3]!.messages), /kind="finding" span="n2–n8">parsers by hand are slow; evidence/)
    assert.ok(result.usage.input >= 1_000_000 && result.usage.output >= 70)
  })

  it('holds no part of a secret, whoever wrote it and wherever it is cut', async (context) => {
    const secret = 'hunter2-of-the-north'
    // Longer than a summary may be, with the secret where it is cut.
    const text = `${'x'.repeat(2_350)}${secret}${'y'.repeat(5_000)}`
    const redact = { secrets: { A: secret } }
    const given = await startRevert(context, 'failure', { redact, summary: text })
    const written = await startRevert(context, 'failure', {
      redact,
      revert: { summaryModel: scriptedModel([text]) },
    })
    for (const { agent, events, records } of [given, written]) {
      await agent.prompt('go').result
      assert.match(agent.conversation.tags()[0]!.tag.text, /x\[redacted:A\]/)
      assert.not.match(JSON.stringify([events, await records()]), /hunter/)
    }
  })

  it('that was given is taken as it is: the summary model is not asked', async (context) => {
    const cheap = scriptedModel([])
    const { agent } = await startRevert(context, 'failure', { revert: { summaryModel: cheap }, summary: ' mine ' })
    await agent.prompt('go').result
    assert.is(cheap.requests.length, 0)
    assert.is(agent.conversation.tags()[0]?.tag.text, 'mine')
  })

  for (const [title, reply] of [
    ['fails', { error: { kind: 'auth', message: 'no key' } }],
    ['answers nothing', '  '],
    ['throws', () => Promise.reject(new Error('broken'))],
  ] as const) {
    it(`falls back on its evidence when the summary model ${title}`, async (context) => {
      const { agent, ofType } = await startRevert(context, 'failure', {
        revert: { summaryModel: scriptedModel([reply]) },
      })
      assert.is((await agent.prompt('go').result).stopReason, 'stop')
      assert.equal([ofType('revert.applied')[0]?.applied, agent.conversation.tags()[0]?.tag.text], [true, ''])
    })
  }

  it('falls back on its evidence when the summary model takes too long', async (context) => {
    const { agent, clock, untilState, ofType } = await startRevert(context, 'failure', {
      revert: { summaryModel: scriptedModel([silent]), summaryTimeoutMs: 5_000 },
    })
    const run = agent.prompt('go')
    await untilState('draining.reverts')
    await clock.advance(4_999)
    assert.is(agent.state, 'draining.reverts')
    await clock.advance(1)
    await run.result
    assert.is(ofType('revert.applied')[0]?.applied, true)
  })

  it('is refused when the run is aborted meanwhile, and nothing is abandoned', async (context) => {
    const { agent, untilState, ofType } = await startRevert(context, 'failure', {
      revert: { summaryModel: scriptedModel([silent]) },
    })
    const run = agent.prompt('go')
    await untilState('draining.reverts')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.equal(
      ofType('revert.applied').map(({ applied, reason }) => [applied, reason]),
      [[false, 'revert refused: the run was aborted']],
    )
    assert.is(agent.conversation.head, 8)
    assert.equal(agent.conversation.abandoned(), [])
    await agent.prompt('again').result
  })

  it('is refused when the agent is stopped meanwhile', async (context) => {
    const { agent, untilState, ofType } = await startRevert(context, 'failure', {
      revert: { summaryModel: scriptedModel([silent]) },
    })
    agent.prompt('go')
    await untilState('draining.reverts')
    await agent.stop()
    assert.is(ofType('revert.applied')[0]?.applied, false)
  })
})

describe('an outcome without a summary', (it) => {
  it('is written by the agent’s own model, with the changed files whatever it wrote, and counted', async (context) => {
    const { agent, script, ofType } = await startRevert(context, 'completion', {
      asked: [{ text: 'Done: the parser.', usage: usageOf(5_000_000, 40) }],
    })
    const result = await agent.prompt('go').result
    const { tag, applied } = ofType('revert.applied')[0]!
    assert.is(applied, true)
    assert.match(
      tag!.text,
      /^Done: the parser\.\nFiles changed: src\/parser\.ts, src\/lexer\.ts\nFiles read: src\/readme\.txt$/,
    )
    // It sees the work where it stands.
    const [before, asked] = [script.requests[2]!, script.requests[3]!]
    assert.equal([asked.system, asked.tools], [before.system, before.tools])
    assert.match(textIn(asked.messages.slice(-1)), /condenses finished work/)
    assert.ok(result.usage.input >= 5_000_000)
    const sum = ofType('turn.end')
      .map(({ usage }) => usage)
      .reduce(addUsage)
    assert.equal(result.usage, sum, 'the turns add up to the run')
  })

  it('keeps the last steps word for word when it lacks their names', async (context) => {
    const { agent, ofType } = await startRevert(context, 'step-summary', { asked: ['Done.'] })
    await agent.prompt('go').result
    const { tag } = ofType('revert.applied')[0]!
    for (const id of tag!.keepVerbatim ?? []) assert.ok(tag!.abandoned.includes(id))
    assert.match(tag!.text, /src\/parser\.ts/)
  })

  it('that loses a name a recent call used quotes that step', async (context) => {
    const { agent, ofType, script } = await startRevert(context, 'completion', {
      tools: [tool('look', (input) => `${JSON.stringify(input)} ${long}`)],
      replies: [
        calls('a', ['look', { query: 'parseHeaderLine' }]),
        calls('b', ['revert_to_state', { category: 'completion', step: 'n1' }]),
        'Done: something.',
        'done',
      ],
    })
    await agent.prompt('go').result
    assert.equal(ofType('revert.applied')[0]?.tag?.keepVerbatim, [3])
    assert.match(textIn(script.requests[3]!.messages), /word for word: \{"query":"parseHeaderLine"\}/)
  })

  for (const [title, reply, reason] of [
    ['fails', { error: { kind: 'badRequest', message: 'no' } }, /^revert refused: no summary could be written/],
    ['answers nothing', ' ', /^revert refused: no summary could be written \(the model wrote nothing\)/],
    ['writes too much', 'word '.repeat(4_000), /^revert refused: the summary is not under a tenth/],
  ] as const) {
    it(`is refused when the model ${title}, and the work stays in view`, async (context) => {
      const { agent, script, ofType } = await startRevert(context, 'completion', {
        tools: [tool('look', () => 'short'), tool('write_file', () => 'short')],
        asked: [reply],
      })
      await agent.prompt('go').result
      assert.is(ofType('revert.applied')[0]?.applied, false)
      assert.match(ofType('revert.applied')[0]?.reason ?? '', reason)
      assert.is(script.requests.at(-1)!.messages.length, 9)
      assert.match(notesIn(script.requests.at(-1)!.messages)[0]!, /kind="refusal">revert refused/)
    })
  }

  it('is refused when the model takes too long', async (context) => {
    const { agent, clock, untilState, ofType } = await startRevert(context, 'completion', {
      asked: [silent],
      revert: { summaryTimeoutMs: 5_000 },
    })
    const run = agent.prompt('go')
    await untilState('draining.reverts')
    await clock.advance(5_000)
    await run.result
    assert.match(ofType('revert.applied')[0]?.reason ?? '', /took too long/)
  })

  it('counts what a refused summary used', async (context) => {
    const { agent } = await startRevert(context, 'completion', { asked: [{ text: '', usage: usageOf(9_000_000, 1) }] })
    assert.ok((await agent.prompt('go').result).usage.input >= 9_000_000)
  })

  it('that was given is taken, unless fidelity is high', async (context) => {
    const plain = await startRevert(context, 'completion', { summary: 'my own words' })
    await plain.agent.prompt('go').result
    assert.is(plain.script.requests.length, 4)
    assert.match(
      textIn(plain.script.requests[3]!.messages),
      /kind="outcome"[^>]*>my own words; [^<]*still changed: src\/parser\.ts, src\/lexer\.ts/,
    )
    const high = await startRevert(context, 'completion', {
      summary: 'my own words',
      revert: { fidelity: 'high' },
      asked: ['Done: all.'],
    })
    await high.agent.prompt('go').result
    assert.is(high.script.requests.length, 5)
    assert.match(high.ofType('revert.applied')[0]!.tag!.text, /^Done: all\./)
  })
})
