import { z } from 'zod'
import type { ToolContext } from '../../src/actors/tools/defineTool.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import { calls, gate, never, quiet, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { nested } from '../support/nested.ts'
import { assert, describe } from '../support/suite.ts'
import { heldCalls } from '../support/heldCalls.ts'

const year = 365 * 24 * 3_600_000
type Ask = (context: ToolContext) => unknown

/** An agent whose one tool does this, once; then it says "done". */
const asking = (context: Parameters<typeof startAgent>[0], run: Ask, options: Parameters<typeof startAgent>[1] = {}) =>
  startAgent(context, {
    tools: [tool('poll', (_, call) => run(call), { timeoutMs: 1_000 })],
    replies: [calls('c', 'poll'), 'done'],
    ...options,
  })

describe('a tool that asks people', (it) => {
  it('goes on with the parsed answer, in the same run, and the log tells both', async (context) => {
    const { agent, script, ofType, untilState } = await asking(context, async ({ ask }) => {
      const { files, by } = await ask(z.object({ files: z.number(), by: z.string().default('me') }), 'How many?')
      return `${files + 1} ${by}`
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(agent.pause, { type: 'approvals', callIds: ['c0'] })
    const [pending] = agent.pending()
    assert.ok(pending?.kind === 'question')
    assert.equal(
      [pending.agentId, pending.callId, pending.key, pending.name, pending.question],
      ['a1', 'c0', 'a1/t0/tool/c0/q1', 'poll', 'How many?'],
    )
    assert.equal(pending.schema['required'], ['files'])
    assert.equal([agent.approvals(), heldCalls(agent)], [[], []])
    agent.decide(pending.key, { value: { files: 2 } })
    assert.equal([(await run.result).text, resultsOf(script.requests[1])], ['done', ['3 me']])
    assert.equal(
      ofType('question.answered').map(({ key, decision, value }) => [key, decision, value]),
      [['a1/t0/tool/c0/q1', 'answer', { files: 2 }]],
    )
    assert.equal([ofType('run.start').length, ofType('tool.start').length, agent.pending()], [1, 1, []])
  })

  it('asks one question at a time, in order', async (context) => {
    const { agent, script, ofType, untilState } = await asking(context, async ({ ask }) =>
      Promise.all([ask(z.string(), 'First?'), ask(z.string(), 'Second?')]),
    )
    const run = agent.prompt('go')
    await untilState('paused')
    assert.is(agent.pending().length, 1)
    agent.decide('c0', { value: 'a' })
    while (ofType('question.asked').length < 2) await quiet()
    agent.decide('a1/t0/tool/c0/q2', { value: 'b' })
    await run.result
    assert.equal(resultsOf(script.requests[1]), ['["a","b"]'])
  })

  it('waits for a year without using up its own time or that of the run', async (context) => {
    const { agent, clock, untilState } = await asking(
      context,
      async ({ ask }) => {
        const wait = await ask(z.boolean(), 'Wait?')
        return wait ? never : 'no'
      },
      { limits: { ms: 5_000 } },
    )
    const run = agent.prompt('go')
    await untilState('paused')
    await clock.advance(year)
    assert.is(agent.state, 'paused')
    agent.decide('c0', { value: true })
    await untilState('executing')
    await quiet()
    await clock.advance(999)
    assert.is(agent.state, 'executing')
    await clock.advance(1)
    assert.is((await run.result).text, 'done')
  })

  it('refuses an answer that does not fit, and keeps asking', async (context) => {
    const { agent, script, ofType, untilState } = await asking(context, ({ ask }) =>
      ask(z.enum(['red', 'blue']), 'Which?'),
    )
    const run = agent.prompt('go')
    await untilState('paused')
    assert.throws(() => agent.decide('c0', { value: 'green' }), withCode('ANSWER_INVALID', 'Which?', 'red'))
    assert.throws(() => agent.decide('c0', 'approve'), withCode('ANSWER_INVALID', 'question', '{ value }'))
    assert.throws(() => agent.decide('c0', { result: 'red' }), withCode('ANSWER_INVALID'))
    assert.throws(() => agent.decide('c0', { value: undefined }), withCode('INVALID_OPTION', 'value'))
    assert.throws(() => agent.decide('c0', { value: () => 1 }), withCode('INVALID_OPTION', 'function'))
    assert.is(agent.pending().length, 1)
    agent.decide('c0', { value: 'red' })
    await run.result
    assert.equal([resultsOf(script.requests[1]), ofType('question.asked').length], [['red'], 1])
  })

  it('takes the first of two answers, also in the middle of a step', async (context) => {
    const { agent, script, untilState } = await asking(context, ({ ask }) => ask(z.string(), 'Who?'))
    const refused: unknown[] = []
    agent.subscribe((event) => {
      if (event.type !== 'question.asked') return
      agent.decide(event.key, { value: 'one' })
      try {
        agent.decide(event.key, { value: 'two' })
      } catch (thrown) {
        refused.push(thrown)
      }
    })
    await agent.prompt('go').result
    assert.equal([resultsOf(script.requests[1]), refused.map(withCode('CALL_NOT_PENDING'))], [['one'], [true]])
    await untilState('idle')
  })

  it('is told with the reason when nobody answers, and the model reads it unless the tool does', async (context) => {
    const { agent, script, untilState } = await asking(context, ({ ask }) => ask(z.string(), 'Who?'))
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', 'deny', 'ask Ann')
    await run.result
    assert.match(resultsOf(script.requests[1])[0]!, /Nobody answers "Who\?"\. Reason: ask Ann/)
  })

  it('may catch that nobody answers', async (context) => {
    const { agent, script, untilState } = await asking(context, async ({ ask }) => {
      const error: unknown = await ask(z.string(), 'Who?').catch((thrown: unknown) => thrown)
      return error instanceof RuntimeError ? error.code : 'none'
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', 'deny')
    await run.result
    assert.equal(resultsOf(script.requests[1]), ['QUESTION_DENIED'])
  })

  it('is told of an abort', async (context) => {
    const seen = gate<unknown>()
    const { agent, untilState } = await asking(context, async ({ ask }) => {
      await ask(z.string(), 'Who?').catch(seen.resolve)
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.equal([((await seen.promise) as Error).name, agent.pending()], ['AbortError', []])
  })

  it('is skipped when the user says something else', async (context) => {
    const { agent, script, untilState } = await asking(context, ({ ask }) => ask(z.string(), 'Who?'))
    const run = agent.prompt('go')
    await untilState('paused')
    agent.steer('never mind')
    await run.result
    assert.match(resultsOf(script.requests[1])[0]!, /^Skipped/)
  })

  it('need not wait for the answer', async (context) => {
    const { agent, script, clock, untilState } = await asking(context, async ({ ask }) =>
      Promise.race([ask(z.string(), 'Who?'), new Promise((resolve) => clock.after(100, () => resolve('nobody')))]),
    )
    const run = agent.prompt('go')
    await untilState('paused')
    await clock.advance(100)
    await run.result
    assert.equal([resultsOf(script.requests[1]), agent.pending()], [['nobody'], []])
  })

  it('leaves nothing that waits when it ends before an answer, whatever it asked and when', async (context) => {
    const ends: Promise<string>[] = []
    const { agent, script } = await asking(context, async ({ ask }) => {
      const asks = (question: string): void =>
        void ends.push(ask(z.string(), question).then(String, (thrown: unknown) => (thrown as Error).name))
      asks('First?')
      asks('Second?')
      setImmediate(() => setImmediate(() => asks('Too late?')))
      await quiet()
      return 'not waited for'
    })
    await agent.prompt('go').result
    await quiet()
    assert.equal(await Promise.all(ends), ['AbortError', 'AbortError', 'AbortError'])
    assert.equal([resultsOf(script.requests[1]), agent.pending()], [['not waited for'], []])
  })

  it('asks beside other calls, which go on', async (context) => {
    const open = gate()
    const { agent, script, until } = await startAgent(context, {
      tools: [
        tool('poll', (_, { ask }) => ask(z.string(), 'Who?')),
        tool('wait', () => open.promise.then(() => 'waited')),
      ],
      replies: [calls('c', 'poll', 'wait'), 'done'],
    })
    const run = agent.prompt('go')
    await until(({ type }) => type === 'question.asked')
    assert.is(agent.state, 'executing')
    agent.decide('c0', { value: 'me' })
    open.resolve()
    await run.result
    assert.equal(resultsOf(script.requests[1]), ['me', 'waited'])
  })

  it('cannot ask without a text, or for what no JSON is', async (context) => {
    const tries: readonly [unknown, unknown][] = [
      [z.string(), ' '],
      [z.string(), 7],
      [{ type: 'string' }, 'Who?'],
      [undefined, 'Who?'],
      [z.never(), 'Who?'],
      [z.object({ a: z.never() }), 'Who?'],
      [z.union([z.never(), z.never()]), 'Who?'],
      [z.bigint(), 'Who?'],
      [z.function(), 'Who?'],
      [z.string(), 'x'.repeat(20_001)],
      [z.string().meta({ example: nested(600) }), 'Who?'],
    ]
    const { agent, script } = await asking(context, async ({ ask }) => {
      const codes: unknown[] = []
      for (const [schema, question] of tries)
        await ask(schema as z.ZodType, question as string).catch((thrown: unknown) =>
          codes.push(thrown instanceof RuntimeError && thrown.code),
        )
      return codes.every((code) => code === 'QUESTION_INVALID') ? codes.length : codes
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), [String(tries.length)])
  })

  it('is asked again when only its own check refuses the answer', async (context) => {
    const { agent, script, ofType, untilState } = await asking(context, ({ ask }) =>
      ask(
        z.string().refine(async (name) => name !== 'nobody', 'say who'),
        'Who?',
      ),
    )
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { value: 'nobody' })
    while (ofType('question.asked').length < 2) await quiet()
    assert.is(ofType('question.asked')[1]!.problem, 'say who')
    agent.decide('c0', { value: 'Ann' })
    await run.result
    assert.equal(resultsOf(script.requests[1]), ['Ann'])
  })

  it('refuses an answer without telling secrets of the question', async (context) => {
    const secret = 'sk-very-secret-123'
    const { agent, untilState } = await asking(context, ({ ask }) => ask(z.boolean(), `Is ${secret} still good?`), {
      redact: { secrets: { key: secret } },
    })
    const run = agent.prompt('go')
    await untilState('paused')
    const isClean = (thrown: unknown): boolean => !String(thrown).includes(secret)
    assert.throws(() => agent.decide('c0', { value: 1 }), withCode('ANSWER_INVALID', 'Is [redacted:key] still good?'))
    assert.throws(() => agent.decide('c0', { value: 1 }), isClean)
    agent.decide('c0', { value: true })
    assert.is((await run.result).text, 'done')
  })

  it('may be left unanswered by its tool, which brings nothing down', async (context) => {
    const late = gate<ToolContext>()
    const { agent, script, ofType } = await asking(context, async (call) => {
      late.resolve(call)
      void call.ask(z.string(), 'Anybody?')
      await quiet()
      return 'went on'
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.equal(resultsOf(script.requests[1]), ['went on'])
    // Nobody would answer it.
    await assert.rejects((await late.promise).ask(z.string(), 'Still there?'), /abort/)
    assert.is(ofType('question.asked').length, 1)
  })

  it('is refused in a call that has ended', async (context) => {
    const late = gate<ToolContext>()
    const { agent, ofType } = await asking(context, (call) => late.resolve(call))
    await agent.prompt('go').result
    await assert.rejects((await late.promise).ask(z.string(), 'Still there?'), /abort/)
    assert.is(ofType('question.asked').length, 0)
  })
})
