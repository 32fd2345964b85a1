import { calls, gate, quiet, startAgent, tool, withCode, type HarnessOptions } from '../support/agentHarness.ts'
import { textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const seen = tool('look', () => 'seen')

const startBraked = (context: CaseContext, options: HarnessOptions) =>
  startAgent(context, { braking: { revert: true }, tools: [seen], checkRequests: true, ...options })

describe('a revert by a person', (it) => {
  it('at rest is applied at once, and the next prompt goes on from there', async (context) => {
    const { agent, script, until } = await startBraked(context, { replies: [calls('a', 'look'), 'wrong', 'right'] })
    await agent.prompt('go').result
    agent.revert('n3', { category: 'failure', summary: 'that was wrong' })
    await until(({ type }) => type === 'revert.applied')
    assert.equal(
      agent.conversation.trunk().map(({ id }) => id),
      [1, 2, 3],
    )
    await agent.prompt('again').result
    assert.match(
      textIn(script.requests[2]!.messages),
      /\[n3\]\n\n<brake-note kind="lesson" span="n4">that was wrong[^]*again\n\[n5\]$/,
    )
  })

  it('is refused at once when maxQueue of them wait, and nothing is recorded of it', async (context) => {
    const open = gate()
    const { agent, ofType, untilState } = await startBraked(context, {
      maxQueue: 2,
      tools: [tool('slow', () => open.promise)],
      replies: [calls('a', 'slow'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('executing')
    for (let i = 0; i < 2; i += 1) agent.revert('n1', { category: 'failure', summary: 'no' })
    assert.throws(() => agent.revert('n1', { category: 'failure' }), withCode('QUEUE_FULL', 'reverts'))
    assert.is(ofType('revert.requested').length, 2)
    open.resolve()
    await run.result
    assert.is(ofType('revert.applied').length, 2)
  })

  it('shows no part of a secret in its summary, wherever that is cut', async (context) => {
    const secret = 'hunter2-of-the-north'
    const { agent, until } = await startBraked(context, {
      replies: [calls('a', 'look'), 'wrong'],
      redact: { secrets: { A: secret } },
      check: false,
    })
    await agent.prompt('go').result
    agent.revert('n3', { category: 'failure', summary: `${'x'.repeat(2_350)}${secret}${'y'.repeat(5_000)}` })
    const applied = await until(({ type }) => type === 'revert.applied')
    assert.match(JSON.stringify(applied), /x\[redacted:A\]/)
    assert.not.match(JSON.stringify(applied), /hunter/)
  })

  it('before anything was said is refused', async (context) => {
    const { agent, until, ofType, untilState } = await startBraked(context, { replies: ['hi'] })
    agent.revert('n1', { category: 'failure' })
    await until(({ type }) => type === 'revert.applied')
    assert.is(ofType('revert.applied')[0]?.reason, 'revert target n1 not found. Valid targets: none')
    await untilState('idle')
    await agent.prompt('hello').result
  })

  it('in the middle of a run waits for the end of the turn', async (context) => {
    const open = gate()
    const { agent, ofType, until, script } = await startBraked(context, {
      tools: [seen, tool('slow', () => open.promise)],
      replies: [calls('a', 'look'), calls('b', 'slow'), 'done'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.revert('n1', { category: 'tangent', summary: 'leave that' })
    await quiet()
    assert.is(ofType('revert.applied').length, 0)
    open.resolve()
    await run.result
    assert.is(ofType('revert.applied')[0]?.applied, true)
    assert.is(ofType('revert.requested')[0]?.request.by, 'person')
    assert.match(textIn(script.requests[2]!.messages), /kind="finding" span="n2–n5">leave that/)
  })

  it('while approvals are waited for is applied after them', async (context) => {
    const { agent, ofType, untilState } = await startBraked(context, {
      tools: [tool('risky', () => 'did it', { needsApproval: true })],
      replies: [calls('a', 'risky'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.revert('n1', { category: 'failure', summary: 'no' })
    await quiet()
    assert.equal([agent.state, ofType('revert.applied').length], ['paused', 0])
    agent.decide('a0', 'deny')
    await run.result
    assert.is(ofType('revert.applied')[0]?.applied, true)
  })

  for (const way of ['resume', 'prompt'] as const) {
    it(`while paused by a limit is applied before a ${way} goes on`, async (context) => {
      const { agent, ofType, script } = await startBraked(context, {
        limits: { turns: 1 },
        replies: [calls('a', 'look'), 'done'],
      })
      assert.is((await agent.prompt('go').result).stopReason, 'paused')
      agent.revert('n1', { category: 'failure', summary: 'not that way' })
      if (way === 'resume') await agent.resume().result
      else await agent.prompt('other').result
      assert.is(ofType('revert.applied')[0]?.applied, true)
      assert.match(
        textIn(script.requests[1]!.messages),
        /^go\n\[n1\]\n\n<brake-note kind="lesson" span="n2–n3">not that way/,
      )
    })
  }

  it('follows the same rules: a message of theirs is not abandoned unless rebasing is on', async (context) => {
    for (const onUserMessage of ['refuse', 'rebase'] as const) {
      const { agent, ofType, until } = await startBraked(context, {
        braking: { revert: { onUserMessage } },
        replies: ['one', 'two'],
      })
      await agent.prompt('first').result
      await agent.prompt('second').result
      agent.revert('n1', { category: 'failure' })
      await until(({ type }) => type === 'revert.applied')
      assert.is(ofType('revert.applied')[0]?.applied, onUserMessage === 'rebase')
      assert.equal(
        agent.conversation.trunk().map(({ id }) => id),
        onUserMessage === 'rebase' ? [1, 5] : [1, 2, 3, 4],
      )
    }
  })

  it('of a kind or a step that makes no sense is refused before anything happens', async (context) => {
    const { agent, types } = await startBraked(context, {})
    assert.throws(() => agent.revert('n1', { category: 'FAILURE' as 'failure' }), withCode('INVALID_OPTION'))
    assert.throws(() => agent.revert(12 as unknown as string, { category: 'failure' }), withCode('INVALID_OPTION'))
    assert.ok(!types().includes('revert.requested'))
  })

  it('at rest does not swallow what is said while its summary is written', async (context) => {
    const open = gate()
    const { agent, until, untilState, script } = await startBraked(context, {
      // The rules of every journey take the question for a summary for a request of the run.
      check: false,
      replies: [
        calls('a', 'look'),
        'wrong',
        async () => {
          await open.promise
          return 'a summary'
        },
        'answered',
      ],
    })
    await agent.prompt('go').result
    agent.revert('n1', { category: 'completion' })
    await untilState('draining.reverts')
    agent.steer('are you there?')
    open.resolve()
    await until(({ type }) => type === 'revert.applied')
    await untilState('idle')
    await quiet()
    assert.is(script.requests.length, 4, 'somebody answers')
  })
})
