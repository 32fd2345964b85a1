import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { RevertCategory } from '../../src/protocol/braking.ts'
import { calls, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog, idsIn, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const back = (
  step: string,
  summary = 'bubble sort is too slow',
  category: RevertCategory = 'failure',
): readonly [string, unknown] => ['revert_to_state', { category, step, summary }]

/** user n1, steps ending at n3, n5, n7. */
function worked(options: ConstructorParameters<typeof BrakeLog>[0] = {}): BrakeLog {
  const log = new BrakeLog(options)
  log.user('sort fast')
  for (const output of ['first', 'second', 'third']) log.step([{ name: 'look', output }])
  return log
}

describe('a defect of the reference that this library does not have:', (it) => {
  it('ids never reach the wire, so the model cannot name a step', async (context) => {
    const { agent, script } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(idsIn(script.requests[0]!.messages), ['n1'])
    assert.equal(idsIn(script.requests[1]!.messages), ['n1', 'n3'])
  })

  it('tags never reach the wire, so the request after a revert equals the one before the mistake', async (context) => {
    const { agent, script } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), calls('b', 'look'), calls('c', back('n3')), 'done'],
    })
    await agent.prompt('go').result
    const [, before, , after] = script.requests
    assert.not.equal(after!.messages, before!.messages)
    assert.equal(after!.messages.slice(0, 3), before!.messages)
    assert.match(textIn(after!.messages.slice(3)), /^<brake-note kind="lesson" span="n4–n7">bubble sort is too slow/)
  })

  it('the first prompt has no id, so the documented example cannot happen', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), calls('b', back('n1')), 'done'],
    })
    await agent.prompt('go').result
    assert.is(ofType('revert.applied')[0]?.target, 1)
    assert.is(script.requests[2]!.messages.length, 1)
    assert.match(textIn(script.requests[2]!.messages), /^go\n\[n1\]\n\n<brake-note kind="lesson"/)
  })

  it('the head is not persisted, so a prompt after a restart resurrects the abandoned branch', () => {
    const log = worked()
    log.revert('n3')
    const restarted = rebuildConversation(JSON.parse(JSON.stringify(log.records)))
    assert.is(restarted.head, 3)
    assert.equal(
      restarted.trunk().map(({ id }) => id),
      [1, 2, 3],
    )
    log.user('and now?')
    for (const record of log.records) restarted.apply(record)
    assert.is(restarted.node(8)?.parentId, 3)
    assert.equal(
      restarted.trunk().map(({ id }) => id),
      [1, 2, 3, 8],
    )
  })

  it('reverting to an assistant message orphans its calls', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{}, {}, {}])
    log.step([{}])
    const { target, requested } = log.revert('n2')
    assert.equal([requested, target], ['n2', 5])
    assert.equal(checkRequest(log.assemble().request, { trunk: log.conversation.path }), [])
    assert.is(log.assemble().request.messages.filter(({ role }) => role === 'toolResult').length, 3)
  })

  it('the span is computed by log position, so siblings are counted twice', () => {
    const log = worked()
    assert.equal(log.revert('n3').tag?.abandoned, [4, 5, 6, 7])
    log.step([{}])
    assert.equal(log.revert('n3').tag?.abandoned, [8, 9])
    assert.equal(
      log.conversation.abandoned().map(({ id }) => id),
      [4, 5, 6, 7, 8, 9],
    )
  })

  it('an off-trunk target is accepted', () => {
    const log = worked()
    log.revert('n3')
    log.step([{}])
    const before = log.trunkIds()
    for (const step of ['n4', 'n5', 'n7']) {
      const { applied, reason } = log.revert(step)
      assert.is(applied, false)
      assert.ok(reason?.startsWith(`revert refused: ${step} is not on the current trunk`), reason)
    }
    assert.equal(log.trunkIds(), before)
  })

  it('two reverts in one turn resurrect nodes', () => {
    for (const [first, second] of [
      ['n3', 'n5'],
      ['n5', 'n3'],
      ['n3', 'n3'],
    ] as const) {
      const log = worked()
      const outcomes = log.drain({ step: first, summary: 'a' }, { step: second, summary: 'b' })
      assert.equal(
        outcomes.map(({ applied }) => applied),
        [true, false],
      )
      assert.match(outcomes[1]?.reason ?? '', /^revert refused: one revert per turn/)
      assert.is(log.conversation.head, Number(first.slice(1)))
    }
  })

  it('a refusal is silent while the tool said that it was recorded', async (context) => {
    const { agent, script } = await startAgent(context, {
      braking: { revert: true },
      replies: [calls('a', back('n99')), 'done'],
    })
    await agent.prompt('go').result
    const [, next] = script.requests
    assert.match(resultsOf(next)[0]!, /If you can read this, it was not applied/)
    assert.equal(notesIn(next!.messages), [
      '<brake-note kind="refusal">revert target n99 not found. Valid targets: n1</brake-note>',
    ])
    assert.is(next!.messages.at(-1)!.role, 'user')
  })

  it('two prunes of one reply hide the same step', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      braking: { prune: true },
      tools: [tool('look', () => 'seen '.repeat(50))],
      replies: [calls('a', 'look'), calls('b', ['prun', { steps: ['n2'] }], ['prun', { steps: ['n3'] }]), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('prune.applied').map(({ applied, reason }) => [applied, reason]),
      [
        [true, undefined],
        [false, 'prune refused: n3 is hidden already'],
      ],
    )
  })

  it('a refusal of a prune is silent while the tool said that it takes effect', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      braking: { prune: true },
      replies: [calls('a', ['prun', { steps: ['n99', 'n1'] }]), 'done'],
    })
    await agent.prompt('go').result
    assert.is(ofType('prune.applied')[0]?.applied, false)
    assert.match(textIn(script.requests[1]!.messages), /prune refused: n99 is not on the current trunk/)
  })

  it('compaction counts abandoned branches', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ output: 'short' }])
    const before = log.conversation.trunkTokens
    log.step([{ output: 'x'.repeat(35_000) }])
    log.revert('n3', 'no')
    const { trunkTokens } = log.conversation
    assert.ok(trunkTokens - before < 100, `${trunkTokens} after ${before}`)
  })

  it('compaction drops ids', () => {
    const log = worked()
    log.step([{}])
    const summary = log.compact({ first: 1, recent: 2 })
    assert.equal(idsIn(log.assemble().request.messages), ['n1', `n${summary}`, 'n7', 'n9'])
    const { applied, target } = log.revert(`n${summary}`)
    assert.equal([applied, target], [true, 5])
  })

  it('compaction drops tags of the steps it summarises', () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    log.user('go')
    log.step([{}])
    log.user('and this')
    log.step([{}])
    log.step([{}])
    log.revert('n4', 'the parser is done and tested', 'completion')
    log.step([{}])
    log.step([{}])
    log.step([{}])
    assert.match(textIn(log.assemble().request.messages), /the parser is done and tested/)
    log.compact({ first: 1, recent: 1 })
    assert.ok(log.conversation.onTrunk(4))
    assert.match(
      textIn(log.assemble().request.messages),
      /<brake-note kind="outcome"[^>]*>the parser is done and tested/,
    )
  })

  it('compaction rewrites the log', () => {
    const log = worked()
    const before = JSON.stringify(log.conversation.log().map(({ message }) => message))
    log.compact({ first: 1, recent: 1 })
    assert.is(JSON.stringify(log.conversation.log().map(({ message }) => message)), before)
  })

  it('messages are sorted by time, so steering lands between a call and its result', async (context) => {
    const { agent, script } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => agent.steer('look here instead')), tool('wait', () => 'waited')],
      replies: [calls('a', 'wait', 'look'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      script.requests[1]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'toolResult', 'user'],
    )
    assert.equal(
      agent.conversation.trunk().map(({ message }) => message.role),
      ['user', 'assistant', 'toolResult', 'toolResult', 'user', 'assistant'],
    )
  })

  it('a prune orphans its own call', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      braking: { prune: true },
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), calls('b', ['prun', { steps: ['n3', 'n4', 'n5', 'n6'] }], 'look'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(ofType('prune.applied')[0]?.steps, [2])
    assert.equal(
      script.requests[2]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'toolResult', 'user'],
    )
    assert.match(textIn(script.requests[2]!.messages.slice(4)), /n4 is the newest step; n5 is the newest step/)
  })

  it('a prune is a no-op on a tree', () => {
    const log = worked()
    log.revert('n5', 'x')
    log.step([{ output: 'y'.repeat(700) }])
    log.step([{}])
    const before = log.conversation.trunkTokens
    const { steps, tokens } = log.prune({ steps: ['n9'] })
    assert.equal(steps, [8])
    assert.ok(tokens > 200)
    assert.is(log.conversation.trunkTokens, before - tokens)
    assert.not.match(textIn(log.assemble().request.messages), /yyyy/)
  })

  it('turn counters restart with each run, so lessons never decay', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      braking: { revert: { lessonWindowTurns: 2, lessonWindowCount: 0, decay: 'exact' } },
      tools: [tool('look', () => 'seen')],
      replies: ['hello', 'hello again', calls('a', 'look'), calls('b', back('n5')), 'one', 'two', 'three', 'four'],
    })
    for (const said of ['x', 'y', 'a', 'b', 'c', 'd']) await agent.prompt(said).result
    assert.equal(
      script.requests.slice(4).map(({ messages }) => notesIn(messages).length),
      [1, 1, 0, 0],
    )
    assert.equal(
      ofType('tag.expired').map(({ nodeId, kind }) => [nodeId, kind]),
      [[5, 'lesson']],
    )
  })

  it('what a revert did is not persisted, so there is no audit', async (context) => {
    const { agent, records } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), calls('b', back('n1')), calls('c', back('n99')), 'done'],
    })
    await agent.prompt('go').result
    const kinds = (await records()).filter(({ type }) => type.startsWith('revert.'))
    assert.equal(
      kinds.map((record) => [record.type, record.type === 'revert.applied' ? record.applied : undefined]),
      [
        ['revert.requested', undefined],
        ['revert.applied', true],
        ['revert.requested', undefined],
        ['revert.applied', false],
      ],
    )
    const rebuilt = rebuildConversation(await records())
    assert.equal(rebuilt.tags(), agent.conversation.tags())
    assert.equal(rebuilt.tags()[0]?.tag.abandoned, [2, 3, 4, 5])
  })

  it('streaming shows the words once the reply is complete', async (context) => {
    const open = Promise.withResolvers<void>()
    const { agent, ofType, until } = await startAgent(context, {
      braking: { revert: true, prune: true },
      replies: [
        {
          parts: (async function* () {
            yield { type: 'text.delta', text: 'first' } as const
            await open.promise
            yield {
              type: 'done',
              reply: {
                content: [{ type: 'text', text: 'first' }],
                stopReason: 'stop',
                usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
              },
            } as const
          })(),
        },
      ],
    })
    const run = agent.prompt('go')
    await until(({ type }) => type === 'reply.delta')
    assert.is(ofType('reply.end').length, 0)
    open.resolve()
    await run.result
  })

  it('a reverted span forgets that its own abandoned branches changed files', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'look' }])
    log.step([{ name: 'write', changed: ['sort.ts'] }])
    log.revert('n3', 'wrong way')
    log.step([{ name: 'look' }])
    const { tag } = log.revert('n1', 'wrong from the start')
    assert.equal(tag?.evidence.changed, ['sort.ts'])
  })
})
