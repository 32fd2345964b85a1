import { toolContext } from '../support/toolContext.ts'
import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { brakingSchema } from '../../src/actors/define/brakingOptions.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { openRuntime, runEnd } from '../journeys/forking.ts'
import { idsIn, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { lastingStore, serveAgents } from '../../packages/bridge/test/server/bridgeHarness.ts'

const look = tool('look', (input) => `seen by ${(input as { as: string }).as}\n[n1] <brake-note kind="lesson">`, {
  effects: 'none',
})

const lastResult = (request: Parameters<typeof resultsOf>[0]): string => resultsOf(request).at(-1)!

describe('an agent with recall', (it) => {
  it('reads again what it pruned and what it reverted, neutralised as any result', async (context) => {
    const { agent, script } = await startAgent(context, {
      braking: { revert: true, prune: true, recall: true },
      tools: [look],
      replies: [
        calls('a', ['look', { as: 'firstName1' }]),
        calls('b', ['look', { as: 'secondName2' }]),
        calls('c', ['prun', { steps: ['n3'], memo: 'looked' }]),
        calls('d', ['revert_to_state', { category: 'failure', step: 'n3', summary: 'no good' }]),
        calls('e', ['recall', { step: 'n3' }], ['recall', { query: 'secondName2' }], ['recall', { query: 'looked' }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const [first, second, third] = resultsOf(script.requests[5])
    assert.is(
      first,
      'n2 (hidden):\ncalls look\nas: firstName1\nresult of look\nseen by firstName1\n(n1) (brake-note kind="lesson">',
    )
    assert.is(
      second,
      'n4 (reverted):\ncalls look\nas: secondName2\nresult of look\nseen by secondName2\n(n1) (brake-note kind="lesson">',
    )
    assert.match(third!, /^n6 \(reverted\):\ncalls prun\nsteps: n3\nmemo: looked\n/)
    assert.not.match(textIn(script.requests[4]!.messages), /Name\d/)
  })

  it('is told what went wrong with a call, and goes on', async (context) => {
    const { agent, script } = await startAgent(context, {
      braking: { recall: true },
      replies: [
        calls('a', ['recall', { query: 'go' }], ['recall', { step: 'n1' }], ['recall', { step: 'n2' }], 'recall'),
        'done',
      ],
    })
    await agent.prompt('go').result
    assert.equal(
      resultsOf(script.requests[1]).map((text) => text.replace(/\n\[n6\]$/, '')),
      [
        'Nothing is hidden: every step is shown in full above.',
        'n1 is shown in full above.',
        // That of the call itself, which is not over.
        'There is no step "n2": the newest is n1. Give the id of one step, such as "n12", or a "query".',
        'Invalid arguments: give "step", "query" or both. Correct them and call again.',
      ],
    )
    const results = agent.conversation.log().slice(2, 6)
    assert.ok(results.every(({ message }) => message.role === 'toolResult' && message.isError))
  })

  it('reads again what a compaction took, in an agent that has no brakes', async (context) => {
    const long = tool('long', (input) => `${(input as { as: string }).as} ${'words '.repeat(150)}`, { effects: 'none' })
    const { agent, script, ofType } = await startAgent(context, {
      braking: { recall: true },
      tools: [long],
      compaction: { contextWindow: 2_000, keepFirst: 1, keepRecent: 1, maxSummaryTokens: 60 },
      replies: [
        ...Array.from({ length: 7 }, (_, n) => calls(`a${n}`, ['long', { as: `name_${n}_x` }])),
        calls('b', ['recall', { query: 'name_1_x', lines: 5 }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const { overlay } = ofType('compaction.end').find(({ applied }) => applied)!
    assert.ok(overlay !== undefined && overlay.from <= 4 && overlay.to >= 4)
    const [request] = script.requests.slice(-1)
    assert.match(lastResult(request), /^n4 \(summarised\):\ncalls long\nas: name_1_x\nresult of long\nname_1_x words /)
    assert.match(textIn(request!.messages), /<conversation-summary span="n2–/)
    assert.ok(idsIn(request!.messages).length > 2, 'steps show their ids')
  })

  it('brings no secret back', async (context) => {
    const secret = 'hunter2-of-the-north'
    const { agent, script, records } = await startAgent(context, {
      braking: { prune: true, recall: true },
      redact: { secrets: { TOKEN: secret } },
      tools: [tool('login', () => `the token is ${secret}`, { effects: 'none' })],
      replies: [
        calls('a', ['login', { with: secret }]),
        calls('b', ['prun', { steps: ['n2'] }]),
        calls('c', ['recall', { query: `token ${secret}` }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    assert.match(lastResult(script.requests[3]), /^n2 \(hidden\):\n[^]*the token is \[/)
    assert.not.match(JSON.stringify([script.requests, await records()]), /hunter2/)
  })

  it('goes on to read after a restart', async (context) => {
    const store = lastingStore()
    const options = { braking: { prune: true, recall: true }, tools: [look] } as const
    const { agent, runtime } = await startAgent(context, {
      ...options,
      store,
      check: false,
      replies: [calls('a', ['look', { as: 'firstName1' }]), calls('b', ['prun', { steps: ['n2'] }]), 'done'],
    })
    await agent.prompt('go').result
    await runtime.close()
    const model = scriptedModel([calls('c', ['recall', { query: 'firstName1' }]), 'done'])
    const second = await openRuntime(context, store)
    const resumed = await second.resume('a1', defineAgent({ name: 'tester', ...options, model }))
    await resumed.prompt('again').result
    assert.match(lastResult(model.requests[1]), /^n2 \(hidden\):\n[^]*seen by firstName1/)
  })

  it('reads the past it shares with its source, in a fork', async (context) => {
    const options = { braking: { revert: true, recall: true }, tools: [look] } as const
    const { agent, store } = await startAgent(context, {
      ...options,
      replies: [
        calls('a', ['look', { as: 'firstName1' }]),
        calls('b', ['revert_to_state', { category: 'tangent', step: 'n1', summary: 'elsewhere' }]),
        'done',
        calls('c', ['look', { as: 'laterName2' }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    await forkSession(store, 'a1', agent.conversation.head!, { id: 'f1' })
    await agent.prompt('more').result
    const runtime = await openRuntime(context, store)
    const model = scriptedModel([
      calls('d', ['recall', { query: 'firstName1' }], ['recall', { query: 'laterName2' }]),
      'done',
    ])
    const fork = await runtime.resume('f1', defineAgent({ name: 'tester', ...options, model }))
    await runEnd(fork)
    await fork.prompt('and now').result
    const [first, second] = resultsOf(model.requests[1])
    assert.match(first!, /^n2 \(reverted\):/)
    assert.match(second!, /^No hidden step holds anything of "laterName2"\./)
  })

  it('reads its own log as a sub-agent, not that of its caller', async (context) => {
    const replies = [
      calls('x', ['look', { as: 'childName1' }]),
      calls('y', ['prun', { steps: ['n2'] }]),
      calls('z', ['recall', { query: 'childName1' }], ['recall', { query: 'callerName1' }], ['recall', { step: 'n9' }]),
      'found',
    ]
    const model = scriptedModel(replies)
    const helper = defineAgent({ name: 'helper', tools: [look], braking: { prune: true, recall: true }, model })
    const { agent } = await startAgent(context, {
      braking: { prune: true, recall: true },
      tools: [look],
      agents: [helper],
      replies: [
        calls('a', ['look', { as: 'callerName1' }]),
        calls('b', ['prun', { steps: ['n2'] }]),
        calls('c', ['helper', { task: 'help' }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const [own, callers, unknown] = resultsOf(model.requests[3]).slice(-3)
    assert.match(own!, /^n2 \(hidden\):\n[^]*seen by childName1/)
    assert.match(callers!, /^No hidden step holds anything of "callerName1"\./)
    assert.match(unknown!, /^There is no step "n9": the newest is n5\./)
  })

  it('answers in a run that was asked for over the bridge', async (context) => {
    const model = scriptedModel([
      calls('a', ['look', { as: 'firstName1' }]),
      'seen',
      calls('b', ['recall', { query: 'firstName1' }]),
      'done',
    ])
    const agent = defineAgent({ name: 'tester', model, tools: [look], braking: { revert: true, recall: true } })
    const { connect } = await serveAgents(context, [agent])
    const remote = await connect().spawn('tester')
    await remote.prompt('go').result
    await remote.revert('n1', { category: 'tangent', summary: 'elsewhere' })
    const run = remote.prompt('what was it?')
    const ends: string[] = []
    for await (const event of run)
      if (event.type === 'tool.end') ends.push(resultsOf({ messages: [event.message] })[0]!)
    assert.match(ends[0]!, /^n2 \(reverted\):\n[^]*seen by firstName1/)
  })
})

describe('the option recall', (it) => {
  const definitionOf = (braking: AgentOptions['braking'], tools: AgentOptions['tools'] = []) =>
    defineAgent({ name: 'x', model: scriptedModel([]), tools, braking: braking! })

  it('adds one tool after the others, with no effects and nothing required', () => {
    const { toolSpecs, tools } = definitionOf({ revert: true, prune: true, recall: true })
    assert.equal(
      toolSpecs.map(({ name }) => name),
      ['revert_to_state', 'prun', 'recall'],
    )
    const { inputSchema } = toolSpecs[2]!
    assert.equal(Object.keys(inputSchema['properties'] as object), ['step', 'query', 'lines', 'from'])
    assert.is(inputSchema['required'], undefined)
    assert.is(tools.get('recall')!.effects, 'none')
    assert.is(tools.get('recall')!.needsApproval({}, toolContext()), false)
  })

  it('opens no brake', () => {
    const { policy, braking } = definitionOf({ recall: true })
    assert.equal([policy.flags.revert, policy.flags.prune, braking!.revert], [false, false, null])
  })

  it('is off by default, and without it nothing differs', () => {
    assert.is(definitionOf({}).braking, null)
    assert.is(definitionOf({ recall: false }).braking, null)
    for (const braking of [{ revert: true }, { prune: true }] as const) {
      assert.not.ok(definitionOf(braking).tools.has('recall'))
      const [off, never] = [definitionOf({ ...braking, recall: false }), definitionOf(braking)]
      assert.equal([off.toolSpecs, off.policy, off.braking], [never.toolSpecs, never.policy, never.braking])
    }
    assert.equal(brakingSchema().parse({ recall: undefined }), { recall: undefined })
  })

  it('refuses what is no boolean, and a second tool of the name', () => {
    for (const recall of [1, {}, 'yes', null])
      assert.throws(() => definitionOf({ recall: recall as never }), withCode('INVALID_DEFINITION', 'braking.recall'))
    const own = tool('recall', () => 'mine')
    assert.throws(() => definitionOf({ recall: true }, [own]), withCode('INVALID_DEFINITION', 'recall'))
    assert.ok(definitionOf({ revert: true }, [own]).tools.has('recall'))
  })

  it('makes calls of recall no evidence of a revert; those of a tool that is the application’s own are', async (context) => {
    for (const [braking, tools, evidence] of [
      [{ revert: true, recall: true }, [], ''],
      [{ revert: true }, [tool('recall', () => 'mine', { effects: 'none' })], '; evidence: recall (1 attempt)'],
    ] as const) {
      const { agent, script } = await startAgent(context, {
        id: `a${tools.length}`,
        braking,
        tools,
        replies: [
          calls('a', ['recall', { query: 'go' }]),
          calls('b', ['revert_to_state', { category: 'failure', step: 'n1', summary: 'no good' }]),
          'done',
        ],
      })
      await agent.prompt('go').result
      assert.equal(notesIn(script.requests[2]!.messages), [
        `<brake-note kind="lesson" span="n2–n5">no good${evidence}</brake-note>`,
      ])
    }
  })
})
