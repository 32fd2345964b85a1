import { rebuildConversation } from '../../src/conversation/rebuildConversation.ts'
import { calls, gate, quiet, resultsOf, startAgent, tool, withCode, type HarnessOptions } from '../support/agentHarness.ts'
import { BrakeLog, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const back = (step: unknown, more: object = {}): readonly [string, unknown] => [
  'revert_to_state',
  { category: 'failure', step, summary: 'no good', ...more },
]
const seen = tool('look', () => 'seen')

const startBraked = (context: CaseContext, options: HarnessOptions) =>
  startAgent(context, { braking: { revert: true }, tools: [seen], checkRequests: true, ...options })

/** user n1, steps ending at n3, n5, n7. */
function worked(options: ConstructorParameters<typeof BrakeLog>[0] = {}): BrakeLog {
  const log = new BrakeLog(options)
  log.user('go')
  for (let n = 0; n < 3; n++) log.step([{ output: `seen ${n}` }])
  return log
}

const refusals: readonly [title: string, make: () => { log: BrakeLog; step: string }, reason: string][] = [
  ['a step that does not exist', () => ({ log: worked(), step: 'n999' }), 'revert target n999 not found'],
  ['a step without the letter', () => ({ log: worked(), step: '999' }), 'revert target n999 not found'],
  ['no step at all', () => ({ log: worked(), step: '' }), 'revert target "" not found'],
  ['a word', () => ({ log: worked(), step: 'x' }), 'revert target "x" not found'],
  ['zero', () => ({ log: worked(), step: 'n0' }), 'revert target "n0" not found'],
  ['a fraction', () => ({ log: worked(), step: '1.5' }), 'revert target "1.5" not found'],
  ['a number too large to be one', () => ({ log: worked(), step: '9'.repeat(40) }), `revert target "${'9'.repeat(40)}" not found`],
  [
    'an abandoned step',
    () => {
      const log = worked()
      log.revert('n3')
      return { log, step: 'n5' }
    },
    'revert refused: n5 is not on the current trunk',
  ],
  ['the newest step', () => ({ log: worked(), step: 'n7' }), 'revert refused: nothing to abandon after n7'],
  ['the newest step by its first node', () => ({ log: worked(), step: 'n6' }), 'revert refused: nothing to abandon after n6'],
  [
    'a step inside a summary',
    () => {
      const log = worked()
      log.step([{}])
      log.compact({ first: 1, recent: 1 })
      return { log, step: 'n5' }
    },
    'revert refused: n5 was compacted; nearest targets: n1, n10, n9',
  ],
  [
    'a step reverted to twice',
    () => {
      const log = worked()
      for (let n = 0; n < 2; n++) {
        log.revert('n1')
        log.step([{}])
      }
      return { log, step: 'n1' }
    },
    'revert refused: n1 was already reverted to 2 times',
  ],
  [
    'a step before something a person said',
    () => {
      const log = worked()
      log.user('also')
      log.step([{}])
      return { log, step: 'n3' }
    },
    'revert refused: abandoned span contains a user message',
  ],
]

describe('a revert is refused', (it) => {
  for (const [title, make, reason] of refusals) {
    it(`to ${title}, with its own reason and nothing else changed`, () => {
      const { log, step } = make()
      const before = { trunk: log.trunkIds(), tags: log.conversation.tags(), last: log.conversation.lastNodeId }
      const outcome = log.revert(step)
      assert.is(outcome.applied, false)
      assert.ok(outcome.reason?.startsWith(reason), outcome.reason)
      assert.is(outcome.requested, step)
      assert.equal({ trunk: log.trunkIds(), tags: log.conversation.tags(), last: log.conversation.lastNodeId }, before)
      const notes = notesIn(log.assemble().request.messages)
      assert.ok(notes.at(-1)!.startsWith(`<brake-note kind="refusal">${reason}`), notes.join())
      assert.match(notes.at(-1)!, /Valid targets: (none|n\d+)/)
    })
  }

  it('names only targets that would be accepted', () => {
    for (const [, make] of refusals) {
      const { log, step } = make()
      const names = /Valid targets: (.*)$/.exec(log.revert(step).reason ?? '')![1]!.split(', ')
      for (const name of names) {
        if (name === 'none') continue
        const copy = new BrakeLog()
        for (const record of log.records) copy.conversation.apply(record)
        copy.records.push(...log.records)
        const { reason = '' } = copy.revert(name)
        assert.not.match(reason, /not found|not on the current trunk|nothing to abandon|compacted/)
      }
    }
  })

  it('beside one that was applied, naming targets that are still on the trunk', () => {
    const log = worked()
    const [, refused] = log.drain({ step: 'n3', summary: 'a' }, { step: 'n99', summary: 'b' })
    const names = /Valid targets: (.*)$/.exec(refused?.reason ?? '')![1]!.split(', ')
    for (const name of names) assert.ok(name === 'none' || log.conversation.onTrunk(Number(name.slice(1))), name)
  })

  it('for the first reason of the table that holds', () => {
    const log = worked()
    log.revert('n3')
    log.step([{}])
    log.user('more')
    log.step([{}])
    const reasons = log
      .drain({ step: 'n1' }, { step: 'n10' }, { step: 'n99' }, { step: 'n5' }, { step: 'n12' }, { step: 'n3' })
      .map(({ applied, reason = 'applied' }) => (applied ? 'applied' : reason.replace(/\. Valid targets.*/, '')))
    assert.equal(reasons, [
      'revert refused: abandoned span contains a user message',
      'applied',
      'revert target n99 not found',
      'revert refused: n5 is not on the current trunk',
      'revert refused: nothing to abandon after n12',
      'revert refused: one revert per turn',
    ])
  })

  it('the third time to one step, by what the log says, until a person speaks', () => {
    const log = worked()
    for (const expected of [true, true, false, false]) {
      assert.is(log.revert('n1').applied, expected)
      log.step([{}])
    }
    assert.is(rebuildConversation(log.records).annotations?.revertsTo(1), 2)
    const asked = log.user('try again')
    log.step([{}])
    assert.is(log.revert(asked).applied, true)
    assert.is(rebuildConversation(log.records).annotations?.revertsTo(1), 0)
  })

  it('with a reason that stays short however long the step asked for is', () => {
    const log = worked()
    const { reason = '' } = log.revert('z'.repeat(100_000))
    assert.ok(reason.length < 1_000, `${reason.length} characters`)
  })

  it('to a hidden step, or shows its lesson', () => {
    const log = worked()
    log.prune({ steps: ['n3'] })
    const { applied } = log.revert('n3', 'the lesson of a hidden step')
    if (applied) assert.match(textIn(log.assemble().request.messages), /the lesson of a hidden step/)
  })
})

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
    assert.match(textIn(script.requests[2]!.messages), /\[n3\]\n\n<brake-note kind="lesson" span="n4">that was wrong[^]*again\n\[n5\]$/)
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
      assert.match(textIn(script.requests[1]!.messages), /^go\n\[n1\]\n\n<brake-note kind="lesson" span="n2–n3">not that way/)
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
