import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { decide } from '../../packages/policies/src/decide.ts'
import { policy, type Decider, type PolicyOptions } from '../../src/actors/define/policy.ts'
import { heuristicScorer } from '../../packages/policies/src/scorers.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, never, startAgent, tool, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const read = tool('read_file', (input) => `${(input as { path: string }).path}: ${'words '.repeat(60)}`, {
  effects: 'none',
})
const paths = ['holiday', 'price', 'price', 'weather', 'price', 'tax']

/** At turn 6: n1 is a person's; n2, n4, … n12 read a file each. */
const reader = (
  context: Pick<CaseContext, 'cleanup'>,
  decider: Decider,
  { policies, ...more }: HarnessOptions & { readonly policies?: Partial<PolicyOptions> } = {},
): Promise<Harness> =>
  startAgent(context, {
    replies: [...paths.map((path, n) => calls(`c${n}`, ['read_file', { path }])), 'done'],
    tools: [read],
    checkRequests: true,
    braking: {
      policies: [
        policy({
          name: 'tidy',
          when: { name: 'turn(6)', fires: ({ turn }) => (turn === 6 ? 'it is time' : null) },
          decide: decider,
          ...policies,
        }),
      ],
    },
    ...more,
  })

const hidden = ({ ofType }: Harness): (readonly number[])[] => ofType('prune.applied').map(({ steps }) => steps)
const end = ({ ofType }: Harness) => ofType('policy.end')[0]!
const lastRequest = ({ script }: Harness): string => textIn(script.requests.at(-1)!.messages)

describe('deciders between turns', (it) => {
  it('hide the oldest steps', async (context) => {
    const harness = await reader(context, decide.oldest({ downTo: 1, keepSteps: 4 }))
    await harness.agent.prompt('Correct the price.').result
    assert.equal(hidden(harness), [[2, 4]])
    assert.not.match(lastRequest(harness), /holiday: words/)
    assert.match(lastRequest(harness), /tax: words/)
  })

  it('know how many tokens the provider counts', async (context) => {
    const plain = await reader(context, decide.oldest({ keepSteps: 1 }), { id: 'plain' })
    await plain.agent.prompt('Correct the price.').result
    const estimates = plain.ofType('reply.end').map(({ estimatedTokens }) => estimatedTokens)
    const stepIn = async (factor: number): Promise<readonly number[]> => {
      const replies = paths.map((path, n): ScriptedReply => ({
        toolCalls: [{ name: 'read_file', input: { path }, callId: `c${n}` }],
        usage: { ...noUsage, input: Math.round(factor * estimates[n]!), output: 5 },
      }))
      const harness = await reader(context, decide.oldest({ keepSteps: 1 }), {
        id: `a${factor}`,
        replies: [...replies, 'done'],
      })
      await harness.agent.prompt('Correct the price.').result
      return hidden(harness)[0]!
    }
    assert.equal(await stepIn(0.5), await stepIn(2))
  })

  it('hide what is least relevant, and never what is pinned', async (context) => {
    const harness = await reader(context, decide.leastRelevant('the price', { downTo: 1, keepSteps: 2 }))
    const run = harness.agent.prompt('Correct the price.')
    await harness.until((event) => event.type === 'tool.end' && event.turnIndex === 1)
    harness.agent.pin('n2')
    await run.result
    assert.equal(hidden(harness), [[4, 6, 8]])
  })

  it('hide what scores least', async (context) => {
    const harness = await reader(context, decide.scored(heuristicScorer, { below: 0.2, keepSteps: 2 }))
    await harness.agent.prompt('Correct the price.').result
    assert.equal(hidden(harness), [[6]])
  })

  it('hide a range in favour of what a model writes, which is paid for', async (context) => {
    const usage = { ...noUsage, input: 900, output: 30 }
    const model = scriptedModel([{ text: 'Prices are in price.', usage }])
    const harness = await reader(context, decide.range({ model, downTo: 1, keepSteps: 1 }))
    await harness.agent.prompt('Correct the price.').result
    assert.equal(hidden(harness), [[2, 4, 6, 8, 10]])
    assert.match(notesIn(harness.script.requests.at(-1)!.messages).join('\n'), /kind="memo".*>Prices are in price\.</)
    assert.is(end(harness).usage?.input, 900)
  })

  it('let the agent itself hide what it no longer needs', async (context) => {
    const harness = await reader(context, decide.model(), {
      replies: [
        ...paths.map((path, n) => calls(`c${n}`, ['read_file', { path }])),
        calls('p', ['prun', { steps: ['n2'], memo: 'nothing about prices' }]),
        'done',
      ],
      braking: {
        prune: true,
        policies: [
          policy({
            name: 'tidy',
            when: { name: 'turn(6)', fires: ({ turn }) => (turn === 6 ? 'it is time' : null) },
            decide: decide.model(),
          }),
        ],
      },
    })
    await harness.agent.prompt('Correct the price.').result
    const [note] = notesIn(harness.script.requests[6]!.messages)
    assert.match(note!, /^<brake-note kind="policy">This conversation has about \d+ tokens, .* with prun/)
    assert.equal(hidden(harness), [[2]])
  })
})

/** A reviewer with this script. */
const scripted = (...replies: readonly ScriptedReply[]) => scriptedModel(replies, { id: 'test:reviewer' })
const plan = (answer: object): string => JSON.stringify(answer)

describe('a reviewer between turns', (it) => {
  it('reads the transcript, and what it plans is done; it is paid for and leaves no trace', async (context) => {
    const usage = { ...noUsage, input: 1_000, output: 50 }
    const model = scripted(
      { toolCalls: [{ name: 'search_transcript', input: { text: 'holiday' } }], usage },
      { toolCalls: [{ name: 'read_transcript', input: { from: 'n2', to: 'n4' } }], usage },
      { text: plan({ hide: ['n2', 'n8'], why: 'not about prices' }), usage },
    )
    const store = memoryStore()
    const pricing = { input: 1_000, output: 0 }
    const harness = await reader(context, decide.reviewer({ model, pricing, keepSteps: 2 }), { store })
    const result = await harness.agent.prompt('Correct the price.').result
    model.assertComplete()
    assert.equal(hidden(harness), [[2, 8]])
    assert.equal(
      [end(harness).outcome, end(harness).reason, end(harness).usage?.input, end(harness).costUsd],
      ['planned', 'not about prices', 3_000, 3],
    )
    assert.is(result.costUsd, 3)
    // What it read is what the agent was shown.
    const seen = model.requests.map(({ messages }) => textIn(messages))
    assert.match(seen[0]!, /Correct the price\.[\s\S]*^n2 \(agent, \d+ tokens\) read_file holiday$/m)
    assert.match(seen[0]!, /^n10 \(agent, \d+ tokens, is among the newest 2\)/m)
    const results = model.requests.at(-1)!.messages.filter(({ role }) => role === 'toolResult')
    assert.match(textIn([results[0]!]), /^n2: .*holiday/)
    assert.match(textIn([results[1]!]), /<transcript-entry id="n2"[\s\S]*<transcript-entry id="n4"/)
    assert.not.match(lastRequest(harness), /holiday: words/)
    assert.equal([await store.list(), harness.agent.children()], [['a1'], []])
  })

  it('has the model of the agent when it is given none', async (context) => {
    const replies = [...paths.map((path, n) => calls(`c${n}`, ['read_file', { path }])), plan({ hide: ['n2'] }), 'done']
    const model = scriptedModel(replies)
    // The requests of the reviewer are not those of one conversation.
    const harness = await reader(context, decide.reviewer({ keepSteps: 2 }), { model, check: false })
    assert.is((await harness.agent.prompt('Correct the price.').result).text, 'done')
    assert.equal(hidden(harness), [[2]])
    assert.match(model.requests[6]!.system, /^You review the conversation of another agent/)
  })

  it('may find nothing to do', async (context) => {
    const model = scripted(plan({ hide: [], why: 'all of it is needed' }))
    const harness = await reader(context, decide.reviewer({ model }))
    await harness.agent.prompt('Correct the price.').result
    assert.equal([end(harness).outcome, hidden(harness)], ['nothing', []])
  })

  it('that wants everything gone does no harm', async (context) => {
    const all = Array.from({ length: 20 }, (_, n) => `n${n}`)
    const model = scripted(plan({ hide: all, revert: { step: 'n1', category: 'failure' } }))
    const harness = await reader(context, decide.reviewer({ model, keepSteps: 3, mostReverted: 4 }))
    const result = await harness.agent.prompt('Correct the price.').result
    assert.is(result.text, 'done')
    assert.equal(hidden(harness), [[2, 4, 6]])
    assert.equal(harness.ofType('revert.applied'), [])
    assert.match(lastRequest(harness), /Correct the price\.[\s\S]*weather: words[\s\S]*price: words[\s\S]*tax: words/)
    assert.match(end(harness).reason!, /a revert to n1 takes away 6 steps, and it may take 4/)
  })

  it('may revert a dead end, as far as a revert may go', async (context) => {
    const revert = { step: 'n9', category: 'tangent', summary: 'Tax is somewhere else.' }
    const harness = await reader(context, decide.reviewer({ model: scripted(plan({ revert })) }))
    await harness.agent.prompt('Correct the price.').result
    const [applied] = harness.ofType('revert.applied')
    assert.equal([applied!.applied, applied!.target, applied!.tag?.text], [true, 9, 'Tax is somewhere else.'])
  })

  it('that answers nonsense is asked again, and then costs nothing but an event', async (context) => {
    const model = scripted('Hide all of it!', '{"hide": 3}', '```\nn2\n```')
    const harness = await reader(context, decide.reviewer({ model }))
    assert.is((await harness.agent.prompt('Correct the price.').result).text, 'done')
    model.assertComplete()
    assert.is(end(harness).outcome, 'failed')
    assert.match(end(harness).reason!, /agent "reviewer": .*output schema|not JSON/)
    assert.equal(hidden(harness), [])
  })

  it('that names steps that are not there is refused, with the reasons in the log', async (context) => {
    const model = scripted(plan({ hide: ['n2', 'n1', 'n500', 'the first'] }))
    const harness = await reader(context, decide.reviewer({ model, keepSteps: 2 }))
    await harness.agent.prompt('Correct the price.').result
    const [applied] = harness.ofType('prune.applied')
    assert.equal(applied!.steps, [2])
    assert.match(applied!.reason!, /n1 is a user message; n500 is not on the current trunk; "the first" is not/)
  })

  it('whose model fails costs nothing but an event', async (context) => {
    const model = scripted({ error: { kind: 'auth', message: 'no key' } })
    const harness = await reader(context, decide.reviewer({ model }))
    assert.is((await harness.agent.prompt('Correct the price.').result).text, 'done')
    assert.equal(end(harness).outcome, 'failed')
    assert.match(end(harness).reason!, /no key/)
  })

  it('that never comes to an end is stopped by its limit', async (context) => {
    const model = scripted(...['a', 'b'].map((prefix) => calls(prefix, ['search_transcript', { text: 'price' }])), () =>
      assert.unreachable(),
    )
    const endless = defineAgent({ name: 'endless', model, limits: { turns: 2 } })
    const harness = await reader(context, decide.reviewer(endless))
    assert.is((await harness.agent.prompt('Correct the price.').result).text, 'done')
    assert.is(end(harness).outcome, 'failed')
    assert.match(end(harness).reason!, /agent "endless": .*limit/)
  })

  it('that hangs is ended in time, and its run goes on', async (context) => {
    const asked = gate<AbortSignal>()
    const model = scripted((_, { signal }) => {
      asked.resolve(signal)
      return never
    })
    const harness = await reader(context, decide.reviewer({ model }), { policies: { timeoutMs: 9_000 } })
    const run = harness.agent.prompt('Correct the price.')
    const signal = await asked.promise
    await harness.clock.advance(9_000)
    assert.is((await run.result).text, 'done')
    assert.ok(signal.aborted)
    assert.equal([end(harness).outcome, end(harness).reason], ['failed', 'it took too long, over 9000 ms'])
  })

  it('ends with the run that is aborted', async (context) => {
    const asked = gate<AbortSignal>()
    const model = scripted((_, { signal }) => {
      asked.resolve(signal)
      return never
    })
    const harness = await reader(context, decide.reviewer({ model }))
    const run = harness.agent.prompt('Correct the price.')
    const signal = await asked.promise
    harness.agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.ok(signal.aborted)
    assert.equal([end(harness).outcome, end(harness).reason], ['failed', 'aborted'])
    assert.equal(hidden(harness), [])
  })

  it('may be a definition of yours', async (context) => {
    const model = scripted(plan({ hide: ['n2'] }))
    const strict = defineAgent({ name: 'strict', model, instructions: 'Hide what is not about prices.' })
    const harness = await reader(context, decide.reviewer(strict, { keepSteps: 2 }))
    await harness.agent.prompt('Correct the price.').result
    assert.equal(hidden(harness), [[2]])
    assert.match(model.requests[0]!.system, /^Hide what is not about prices\./)
  })
})
