import { calls, resultsOf, startAgent, tool, type HarnessOptions } from '../support/agentHarness.ts'
import { textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const back = (step: unknown, more: object = {}): readonly [string, unknown] => [
  'revert_to_state',
  { category: 'failure', step, summary: 'no good', ...more },
]
const seen = tool('look', () => 'seen')

const startBraked = (context: CaseContext, options: HarnessOptions) =>
  startAgent(context, { braking: { revert: true }, tools: [seen], checkRequests: true, ...options })

describe('a call of revert_to_state', (it) => {
  for (const [title, input] of [
    ['a number for a step', { category: 'failure', step: 12 }],
    ['no step', { category: 'failure' }],
    ['a summary that is no string', { category: 'failure', step: 'n1', summary: ['a'] }],
  ] as const) {
    it(`with ${title} is a tool error, and asks for nothing`, async (context) => {
      const { agent, script, ofType } = await startBraked(context, {
        replies: [calls('a', ['revert_to_state', input]), 'done'],
      })
      await agent.prompt('go').result
      assert.is(ofType('revert.requested').length, 0)
      assert.match(resultsOf(script.requests[1])[0]!, /step|summary/)
      assert.is(ofType('tool.end')[0]?.message.isError, true)
    })
  }

  for (const category of ['FAILURE', 'Failure', 'lesson', '', 5, null]) {
    it(`with the category ${JSON.stringify(category)} is a tool error that lists the four`, async (context) => {
      const { agent, script, ofType } = await startBraked(context, {
        replies: [calls('a', back('n1', { category })), 'done'],
      })
      await agent.prompt('go').result
      assert.is(ofType('revert.requested').length, 0)
      for (const name of ['failure', 'tangent', 'completion', 'step-summary'])
        assert.ok(resultsOf(script.requests[1])[0]!.includes(name), resultsOf(script.requests[1])[0])
    })
  }

  it('takes "12" and "n12" for the same step', async (context) => {
    for (const step of ['3', 'n3', ' n3 ']) {
      const { agent, ofType } = await startBraked(context, {
        replies: [calls('a', 'look'), calls('b', 'look'), calls('c', back(step)), 'done'],
      })
      await agent.prompt('go').result
      assert.equal([ofType('revert.applied')[0]?.target, ofType('revert.applied')[0]?.requested], [3, step])
    }
  })

  it('cuts a summary of 100 kB', async (context) => {
    const { agent, ofType, script } = await startBraked(context, {
      replies: [calls('a', 'look'), calls('b', back('n1', { summary: 'w'.repeat(100_000) })), 'done'],
    })
    await agent.prompt('go').result
    assert.is(ofType('revert.applied')[0]?.applied, true)
    assert.ok(JSON.stringify(script.requests[2]!.messages).length < 5_000)
  })

  it('as the very first call abandons itself, twice at most', async (context) => {
    const { agent, ofType, script } = await startBraked(context, {
      replies: [calls('a', back('n1')), calls('b', back('n1')), calls('c', back('n1')), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('revert.applied').map(({ applied }) => applied),
      [true, true, false],
    )
    assert.equal(
      script.requests.map(({ messages }) => messages.length),
      [1, 1, 1, 4],
    )
  })

  it('is applied beside tools that fail, do not exist or get bad input', async (context) => {
    const fail = tool('fail', () => {
      throw new Error('first line\nthe disk is full')
    })
    const { agent, ofType } = await startBraked(context, {
      tools: [fail, seen],
      replies: [calls('a', 'fail', back('n1'), 'nothing', 'look'), 'done'],
    })
    await agent.prompt('go').result
    const [{ applied, tag } = { applied: false }] = ofType('revert.applied')
    assert.is(applied, true)
    assert.equal(tag?.evidence.calls[0], { name: 'fail', attempts: 1, lastError: 'the disk is full' })
    assert.ok(!tag?.evidence.calls.some(({ name }) => name === 'revert_to_state'))
  })

  it('beside a call that is aborted is refused, and the next request is valid', async (context) => {
    const slow = tool('slow', () => new Promise(() => {}))
    const { agent, ofType, until, script } = await startBraked(context, {
      tools: [seen, slow],
      replies: [calls('a', 'look'), calls('b', back('n1'), 'slow'), 'done'],
    })
    const run = agent.prompt('go')
    await until(({ type }) => type === 'revert.requested')
    agent.abort()
    await run.result
    assert.match(ofType('revert.applied')[0]?.reason ?? '', /^revert refused: the run was aborted/)
    await agent.prompt('again').result
    const { messages } = script.requests[2]!
    assert.is(
      JSON.stringify(messages).slice(0, JSON.stringify(script.requests[1]!.messages).length - 1),
      JSON.stringify(script.requests[1]!.messages).slice(0, -1),
      'what was sent before is sent again',
    )
    assert.equal(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'assistant', 'toolResult', 'toolResult', 'user'],
    )
    assert.match(textIn(messages.slice(5)), /revert refused: the run was aborted/)
  })

  it('beside a call that waits for approval is applied once that is decided', async (context) => {
    for (const decision of ['approve', 'deny'] as const) {
      const risky = tool('risky', () => 'did it', { needsApproval: true })
      const { agent, ofType, untilState } = await startBraked(context, {
        tools: [seen, risky],
        replies: [calls('a', 'look'), calls('b', back('n3'), 'risky'), 'done'],
      })
      const run = agent.prompt('go')
      await untilState('paused')
      assert.equal([ofType('revert.requested').length, ofType('revert.applied').length], [1, 0])
      agent.decide('b1', decision)
      await run.result
      assert.is(ofType('revert.applied')[0]?.applied, true)
      assert.is(ofType('tool.end').length, 3)
    }
  })

  it('beside another applies the first and refuses the rest, in order', async (context) => {
    const { agent, ofType } = await startBraked(context, {
      replies: [calls('a', 'look'), calls('b', 'look'), calls('c', back('n99'), back('n1'), back('n3')), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('revert.applied').map(({ applied, requested }) => [requested, applied]),
      [
        ['n99', false],
        ['n1', true],
        ['n3', false],
      ],
    )
  })
})
