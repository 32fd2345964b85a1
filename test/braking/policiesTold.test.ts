import { policy, type Plan, type PolicyOptions } from '../../src/actors/define/policy.ts'
import { conversationGraph } from '../../packages/charts/src/conversationGraph.ts'
import { coloursFor } from '../../packages/cli/src/terminal/colours.ts'
import { eventPrinter } from '../../packages/cli/src/terminal/eventPrinter.ts'
import { plainScreen } from '../../packages/cli/src/terminal/screen.ts'
import { changeLine } from '../../packages/cli/src/terminal/turnText.ts'
import { eventText } from '../../packages/page/src/inspector/model/events/eventWords.ts'
import { GraphRows } from '../../packages/page/src/inspector/model/conversation/graphRows.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { totalTokens } from '../../src/protocol/messages.ts'
import { sessionOf } from '../../packages/sessions/src/sessionProjection.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, startAgent, tool, type Harness } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', () => 'seen '.repeat(60), { effects: 'none' })

const onTurn = (name: string, at: number, plan: Plan, keep?: PolicyOptions['keep']) =>
  policy({
    name,
    when: { name: `turn(${at})`, fires: ({ turn, isAtRest }) => (turn === at && !isAtRest ? 'it is time' : null) },
    decide: { name: 'fixed()', decide: () => plan },
    ...(keep === undefined ? {} : { keep }),
  })

/** Asks a model of its own, and finds nothing to do. */
const asking = policy({
  name: 'asking',
  when: { name: 'never()', fires: () => null },
  decide: {
    name: 'asks()',
    decide: async (at) => {
      await at.ask({ model: scriptedModel(['no']), system: 'Judge.', text: 'Is it long?' })
      return { why: 'all is needed' }
    },
  },
})

/** An agent of which one step was hidden, one masked and one reverted, each by a policy; then another was asked at rest. */
async function reshaped(context: Pick<CaseContext, 'cleanup'>): Promise<Harness> {
  const harness = await startAgent(context, {
    replies: [...['a', 'b', 'c', 'd'].map((prefix) => calls(prefix, 'look')), 'done'],
    tools: [look],
    braking: {
      policies: [
        onTurn('tidy', 3, { hide: ['n2'], memo: 'looked once' }),
        onTurn('veil', 3, { hide: ['n4'] }, { name: 'calls', keep: () => ({ as: 'calls' }) }),
        onTurn('back', 4, { revert: { step: 'n5', category: 'tangent', summary: 'looked enough' } }),
        asking,
      ],
    },
  })
  await harness.agent.prompt('go').result
  const answered = Promise.withResolvers<void>()
  harness.agent.subscribe(({ type }) => {
    if (type === 'policy.end') answered.resolve()
  })
  harness.agent.brake('asking')
  await answered.promise
  return harness
}

describe('what a policy did', (it) => {
  it('is told with its name in the list of events and on the terminal', async (context) => {
    const { events } = await reshaped(context)
    const told = (type: AgentEvent['type']): string[] =>
      events.filter((event) => event.type === type).map((event) => eventText(event))
    assert.equal(told('prune.requested'), ['n2, by policy tidy', 'results of n4, by policy veil'])
    assert.match(told('prune.applied')[0]!, /^n2, \d+ tokens, by policy tidy · frees .*: looked once$/)
    assert.match(told('prune.applied')[1]!, /^results of n4, \d+ tokens, by policy veil · frees/)
    assert.equal(told('revert.requested'), ['to n5, tangent, by policy back'])
    assert.match(told('policy.start')[0]!, /^tidy: it is time, at \d+ tokens$/)
    assert.match(told('policy.end').at(-1)!, /^asking: nothing, all is needed · \d+ tokens$/)

    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    for (const event of events) eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })(event)
    assert.not.match(printed, ', by policy back')
    printed = ''
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    for (const event of events) print(event)
    assert.match(printed, / {2}hidden: 1 step, by policy tidy · frees/)
    assert.match(printed, / {2}output hidden: 1 step, by policy veil · frees/)
    assert.match(printed, / {2}↩ back to n5 \(tangent\), by policy back: n6–n9 set aside/)
    assert.match(printed, / {2}policy asking changes nothing: all is needed · asking took \d+ tokens\n/)
  })

  it('is told with its name on the rows of the page', async (context) => {
    const harness = await reshaped(context)
    const rows = new GraphRows()
    for (const record of await harness.records()) rows.apply(record)
    const named = rows.rows.flatMap((row): unknown[] => {
      if (row.type === 'memo') return [[row.outcome.masked === true ? 'mask' : 'prune', row.outcome.policy]]
      if (row.type === 'tag') return [[row.type, row.by, row.policy]]
      if (row.type === 'notice') return [row.text]
      if (row.type === 'fold') return []
      const by = row.pruned?.policy ?? (row.type === 'call' ? row.maskedBy : undefined)
      return by === undefined ? [] : [[row.nodeId, by]]
    })
    assert.equal(named.slice(0, 6), [
      ['prune', 'tidy'],
      [2, 'tidy'],
      [3, 'tidy'],
      ['mask', 'veil'],
      [5, 'veil'],
      ['tag', 'runtime', 'back'],
    ])
    assert.is(rows.rows.filter(({ type }) => type === 'notice').length, 1)
    assert.match(String(named.at(-1)), /^Policy asking changes nothing: all is needed \(asking took \d+ tokens\)$/)
  })

  it('is told with its name by `escapement show` and in drawings of the conversation', async (context) => {
    const harness = await reshaped(context)
    const records = await harness.records()
    const session = sessionOf(records)
    const changes = session.runs[0]!.turns.flatMap((turn) => turn.changes).map(changeLine)
    assert.match(changes[0]!, /^prune of n2: \d+ tokens hidden, by policy tidy · frees/)
    assert.match(changes[1]!, /^mask of n4: \d+ tokens hidden, by policy veil · frees/)
    assert.match(changes[2]!, /^revert to n5 \(tangent\), by policy back · frees/)
    const draw = (format: 'text' | 'mermaid'): string =>
      conversationGraph({ id: 'a', conversation: harness.agent.conversation, records }, { format })
    const text = draw('text')
    for (const part of [
      /✂ hides this step \(\d+ tokens\), by policy tidy: looked once/,
      / \(masked, by policy veil\)/,
      /⚑ finding, by policy back: looked enough/,
    ])
      assert.match(text, part)
    const mermaid = draw('mermaid')
    for (const part of [
      'policy tidy#58; looked once',
      '(masked, by policy veil)',
      'finding, by policy back#58; looked enough',
    ])
      assert.ok(mermaid.includes(part), `${part} in ${mermaid}`)
  })

  it('costs what its models cost, at rest too', async (context) => {
    const harness = await reshaped(context)
    const [end] = harness.ofType('policy.end').slice(-1)
    assert.ok(totalTokens(end!.usage!) > 0)
    const session = sessionOf(await harness.records())
    assert.is(totalTokens(session.usage) - totalTokens(session.runs[0]!.usage), totalTokens(end!.usage!))
  })
})
