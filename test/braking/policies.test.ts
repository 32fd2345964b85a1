import type { Consultation, PolicyOptions } from '../../src/actors/define/policy.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { always, ends, look, looker, made } from './policyLookers.ts'
import { heldCalls } from '../support/heldCalls.ts'

describe('a policy', (it) => {
  it('hides what it plans in the turn in which it fires, with a record before and after', async (context) => {
    const harness = await looker(context, { policies: [made()] })
    await harness.agent.prompt('go').result
    const types = harness.types().filter((type) => type.startsWith('policy') || type.startsWith('prune'))
    assert.equal(types, ['policy.start', 'prune.requested', 'policy.end', 'prune.applied'])
    const [applied] = harness.ofType('prune.applied')
    assert.equal([applied!.policy, applied!.steps, applied!.memo], ['tidy', [2], 'looked once'])
    const requests = harness.script.requests.map(({ messages }) => notesIn(messages))
    assert.equal(
      requests.map((notes) => notes.length),
      [0, 0, 1, 1],
    )
    assert.match(requests[2]![0]!, /kind="memo" span="n2">looked once/)
    assert.equal(
      harness.ofType('policy.start').map(({ why, turn }) => [why, turn]),
      [['it is time', 2]],
    )
  })

  it('keeps a line for each step and an index by default', async (context) => {
    const harness = await looker(context, {
      policies: [made({ decide: { name: 'd', decide: () => ({ hide: ['n2'] }) } })],
    })
    await harness.agent.prompt('go').result
    const [applied] = harness.ofType('prune.applied')
    assert.equal([applied!.by, applied!.memo], ['runtime', 'n2 look'])
  })

  it('goes before the next of the list, which sees what it left', async (context) => {
    const seen: string[][] = []
    const second = made({
      name: 'second',
      decide: {
        name: 'd',
        decide: ({ steps }) => {
          seen.push(steps.map(({ id }) => id))
          return { hide: ['n2', 'n4'], memo: 'both' }
        },
      },
    })
    const harness = await looker(context, {
      policies: [made({ when: always(3) }), made({ ...second, when: always(3) })],
    })
    await harness.agent.prompt('go').result
    assert.equal(seen, [['n1', 'n4', 'n6']])
    assert.equal(
      harness.ofType('prune.applied').map(({ policy: name, steps, reason }) => [name, steps, reason]),
      [
        ['tidy', [2], undefined],
        ['second', [4], 'prune refused: n2 is hidden already'],
      ],
    )
    // Nobody but who reads the log is told.
    assert.not.ok(notesIn(harness.script.requests.at(-1)!.messages).some((note) => note.includes('refusal')))
  })

  it('costs nothing but an event when it throws, answers nonsense, names what may not be hidden', async (context) => {
    let left: AbortSignal | undefined
    const wrong = {
      throws: ({ signal }: Consultation) => {
        left = signal
        throw new Error('no idea')
      },
      nonsense: () => ({ hide: 'everything' }) as never,
      unknown: () => ({ hide: ['n1', 'n77', 'n2', 'n2', 'elsewhere'], memo: 'm' }),
      nothing: () => null,
    }
    const policies = Object.entries(wrong).map(([name, decide]) => made({ name, decide: { name, decide } }))
    const harness = await looker(context, { policies })
    const { stopReason } = await harness.agent.prompt('go').result
    assert.is(stopReason, 'stop')
    assert.ok(left?.aborted, 'what it left behind is not told to stop')
    assert.equal(ends(harness), [
      ['throws', 'failed', 'no idea'],
      ['nonsense', 'failed', 'decide: nonsense answered nonsense: hide: give a list, not a string'],
      ['unknown', 'planned'],
      ['nothing', 'nothing'],
    ])
    const [applied] = harness.ofType('prune.applied')
    assert.equal(
      [applied!.steps, applied!.reason],
      [
        [2],
        'prune refused: n1 is a user message; n77 is not on the current trunk; "elsewhere" is not on the current trunk',
      ],
    )
  })

  it('is ended when it hangs, and its run goes on', async (context) => {
    const hangs = made({ timeoutMs: 500, decide: { name: 'never', decide: () => new Promise<never>(() => {}) } })
    const harness = await looker(context, { policies: [hangs] })
    const run = harness.agent.prompt('go')
    await harness.untilState('draining.consulting')
    await harness.until(({ type }) => type === 'policy.start')
    await harness.clock.advance(500)
    assert.is((await run.result).stopReason, 'stop')
    assert.equal(ends(harness), [['tidy', 'failed', 'it took too long, over 500 ms']])
  })

  it('may leave a question unanswered, and fires once the log holds that it does', async (context) => {
    const asked: (readonly string[])[] = []
    const model = scriptedModel([])
    const careless = made({
      decide: {
        name: 'careless',
        decide(at) {
          void at.ask({ model, system: 's', text: 't' })
          void at.run({ name: 'nobody' }, 'go')
          asked.push(stored())
          return { hide: ['n2'], memo: 'm' }
        },
      },
    })
    const store = memoryStore()
    const written: string[] = []
    const stored = (): readonly string[] => [...written]
    const slow: Store = {
      ...store,
      async append(agentId, records) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        await store.append(agentId, records)
        written.push(...records.map(({ type }) => type))
      },
    }
    const harness = await looker(context, { policies: [careless] }, { store: slow })
    assert.is((await harness.agent.prompt('go').result).stopReason, 'stop')
    assert.equal(ends(harness), [['tidy', 'planned']])
    assert.ok(asked[0]!.includes('policy.start'))
  })

  it('is told to stop with an abort, and leaves nothing asked for', async (context) => {
    let signal: AbortSignal | undefined
    const hangs = made({
      decide: { name: 'never', decide: (at) => ((signal = at.signal), new Promise<never>(() => {})) },
    })
    const harness = await looker(context, { policies: [hangs] })
    const run = harness.agent.prompt('go')
    await harness.until(({ type }) => type === 'policy.start')
    await Promise.resolve()
    harness.agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.ok(signal?.aborted)
    assert.equal(ends(harness), [['tidy', 'failed', 'aborted']])
  })

  it('asks about steps with their text, where the model does not see them all', async (context) => {
    const asked: string[] = []
    const asks = made({
      decide: {
        name: 'asks',
        async decide(at) {
          for (const steps of [['n2'], [], ['n2', 'n99'], ['none']]) {
            const text = 'word '.repeat(20_000)
            asked.push(await at.ask({ system: 's', text, steps: steps.map((id) => ({ id })) }))
          }
          return null
        },
      },
    })
    const model = policyModel(({ messages }) => {
      const last = textIn(messages.slice(-1))
      if (last.startsWith('word ')) return 'by its text'
      if (last.includes('kind="question"')) return 'on the trunk'
      return messages.length > 4 ? 'done' : { toolCalls: [{ name: 'look', input: { at: messages.length } }] }
    })
    const harness = await looker(context, { policies: [asks] }, { model, reframes: true })
    await harness.agent.prompt('go').result
    assert.equal(asked.slice(0, 4), ['on the trunk', 'by its text', 'by its text', 'by its text'])
  })

  it('counts what its models cost towards the run', async (context) => {
    const model = scriptedModel([{ text: 'what happened', usage: { ...noUsage, input: 300, output: 20 } }])
    const asks = made({
      decide: {
        name: 'asks',
        decide: async (at) => ({ hide: ['n2'], memo: await at.ask({ model, system: 's', text: 't' }) }),
      },
    })
    const harness = await looker(context, { policies: [asks] })
    const result = await harness.agent.prompt('go').result
    const [end] = harness.ofType('policy.end')
    assert.equal([end!.usage?.input, end!.usage?.output], [300, 20])
    const replies = harness.ofType('reply.end').reduce((sum, { message }) => sum + message.usage.input, 0)
    assert.is(result.usage.input, replies + 300)
    assert.is(harness.agent.spent.usage.input, replies + 300)
  })

  it('runs an agent that leaves no trace, and is paid for', async (context) => {
    const reviewer = defineAgent({ name: 'reviewer', model: scriptedModel(['n2']) })
    const runs = made({
      decide: { name: 'runs', decide: async (at) => ({ hide: [(await at.run(reviewer, 'which?')).text], memo: 'm' }) },
    })
    const harness = await looker(context, { policies: [runs] })
    await harness.agent.prompt('go').result
    assert.equal(harness.ofType('prune.applied')[0]!.steps, [2])
    assert.ok((harness.ofType('policy.end')[0]!.usage?.input ?? 0) > 0)
    assert.equal(harness.agent.children(), [])
  })

  it('reverts, with the refusals of any revert', async (context) => {
    const reverts = made({
      decide: { name: 'd', decide: () => ({ revert: { step: 'n3', category: 'tangent', summary: 'nothing there' } }) },
    })
    const users = made({
      name: 'users',
      when: always(3),
      decide: { name: 'd', decide: () => ({ revert: { step: 'n99', category: 'failure' } }) },
    })
    const harness = await looker(context, { policies: [reverts, users] })
    await harness.agent.prompt('go').result
    const [applied, refused] = harness.ofType('revert.applied')
    assert.equal([applied!.applied, applied!.target, applied!.tag?.kind], [true, 3, 'finding'])
    assert.equal([refused!.applied, refused!.reason?.startsWith('revert target n99 not found')], [false, true])
  })

  it('tells the model what it asks of it', async (context) => {
    const harness = await looker(context, {
      prune: true,
      policies: [made({ decide: { name: 'd', decide: () => ({ note: 'hide what you no longer need' }) } })],
    })
    await harness.agent.prompt('go').result
    const notes = notesIn(harness.script.requests[2]!.messages)
    assert.equal(notes, ['<brake-note kind="policy">hide what you no longer need</brake-note>'])
  })

  it('gives its keeper the steps that may be hidden, and no others', async (context) => {
    const kept: string[][] = []
    const harness = await looker(context, {
      policies: [
        made({
          decide: { name: 'd', decide: () => ({ hide: ['n1', 'n3', 'n5'] }) },
          keep: {
            name: 'k',
            keep: ({ steps, tokens, key }) => {
              kept.push([...steps.map(({ id }) => id), String(tokens > 50), key])
              return { as: 'memo', memo: 'looked' }
            },
          },
        }),
      ],
    })
    await harness.agent.prompt('go').result
    assert.equal(kept, [['n2', 'true', 'a1/tidy/n2-n2']])
    assert.equal(harness.ofType('prune.applied')[0]!.steps, [2])
  })

  it('masks results, and leaves a denied call as it was', async (context) => {
    const ask = tool('ask', () => 'never', { needsApproval: true })
    const keep = (as: 'calls' | 'lines'): Partial<PolicyOptions> => ({ keep: { name: as, keep: () => ({ as }) } })
    const harness = await startAgent(context, {
      replies: [calls('a', 'look'), calls('b', 'ask'), calls('c', 'look'), calls('d', 'look'), 'done'],
      tools: [look, ask],
      braking: {
        policies: [
          made({ ...keep('calls'), decide: { name: 'd', decide: () => ({ hide: ['n2'] }) } }),
          made({
            name: 'lines',
            when: always(3),
            ...keep('lines'),
            decide: { name: 'd', decide: () => ({ hide: ['n4', 'n6'] }) },
          }),
        ],
      },
    })
    const run = harness.agent.prompt('go')
    await harness.untilState('paused')
    harness.agent.decide(heldCalls(harness.agent)[0]!, 'deny', 'not that')
    await run.result
    const [masked, lines] = harness.ofType('prune.applied')
    assert.equal([masked!.masked, masked!.steps], [true, [2]])
    assert.equal([lines!.steps, lines!.reason], [[], 'fold refused: n4 was denied by a person; n6 is the newest step'])
  })

  it('that folded a step of the middle leaves the older ones to later folds', async (context) => {
    const replies = Array.from({ length: 30 }, (_, at) => calls(`c${at}`, 'look'))
    const harness = await startAgent(context, {
      replies: [...replies, 'done'],
      tools: [tool('look', () => 'word '.repeat(240), { effects: 'none' })],
      compaction: false,
      braking: {
        fold: { work: 300, minBatch: 300, keepSteps: 2, indexTokens: 0, cap: 20_000, leastRequests: 0 },
        policies: [made({ when: always(3), decide: { name: 'd', decide: () => ({ hide: ['n4'] }) } })],
      },
    })
    await harness.agent.prompt('go').result
    const folded = harness.ofType('prune.applied').filter(({ policy: name }) => name === undefined)
    assert.ok(folded[0]!.steps.includes(2), `it folded ${folded[0]!.steps.join()}`)
  })

  it('is left alone for some turns when it changed nothing, and asked again at once when it did', async (context) => {
    const asked: number[] = []
    const eager = (name: string, hide: readonly string[]) =>
      made({
        name,
        retryTurns: 2,
        when: { name: 'always', fires: () => 'always' },
        decide: { name: 'd', decide: ({ turn }) => (asked.push(turn), { hide, memo: 'm' }) },
      })
    const idle = await looker(context, { policies: [eager('idle', ['n1'])] })
    await idle.agent.prompt('go').result
    assert.equal(asked, [1, 3])
    asked.length = 0
    const busy = await looker(context, { policies: [eager('busy', ['n2', 'n4'])] }, { id: 'b1' })
    await busy.agent.prompt('go').result
    assert.equal(asked.slice(0, 3), [1, 3, 4])
  })
})
describe('policies that contradict each other', (it) => {
  for (const [title, braking, message] of [
    ['have names of their own', { policies: [made(), made()] }, /"tidy" is there twice/],
    [
      'need a tool for what they ask of the model',
      { policies: [made({ decide: { name: 'd', needs: 'brakeTools', decide: () => null } })] },
      /no tool: set prune or revert/,
    ],
    ['are made with policy', { policies: [{ ...made() }] }, /make it with policy/],
  ] as const) {
    it(title, () => {
      const options = { name: 'x', model: scriptedModel([]), braking }
      assert.throws(
        () => defineAgent(options),
        (error) => message.test(String(error)),
      )
    })
  }
})
