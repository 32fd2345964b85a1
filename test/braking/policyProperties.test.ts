import * as fc from 'fast-check'
import { decide } from '../../packages/policies/src/decide.ts'
import { keep } from '../../packages/policies/src/keep.ts'
import { policy, type Decider, type Keeper, type Trigger } from '../../src/actors/define/policy.ts'
import { heuristicScorer } from '../../packages/policies/src/scorers.ts'
import { when } from '../../packages/policies/src/when.ts'
import { formatNodeId } from '../../src/protocol/ids.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { quiet, saidIn, startAgent, tool, type Harness } from '../support/agentHarness.ts'
import { someRuns } from '../support/seeds.ts'
import { noMemory } from '../../packages/tools/test/memory/memorySupport.ts'
import { assert, describe } from '../support/suite.ts'

const forever = (reply: ScriptedReply) => scriptedModel(Array.from({ length: 400 }, () => reply))
const plans = [
  { hide: ['n2', 'n4', 'n6', 'n77'], why: 'used up' },
  { hide: [], revert: { step: 'n5', category: 'failure', summary: 'no' } },
  { hide: ['n1', 'n8', 'n10', 'n12'], note: 'Mind the rest.' },
  'no plan',
] as const

const triggers: Readonly<Record<string, () => Trigger>> = {
  tokensOver: () => when.tokensOver({ share: 0.3 }),
  everyTurns: () => when.everyTurns(2),
  valueBelow: () => when.valueBelow(heuristicScorer, { below: 0.4, window: 2, turns: 1 }),
  stalled: () => when.stalled(),
  willOverflow: () => when.willOverflow({ turns: 4 }),
  onRequest: () => when.onRequest(),
  whileIdle: () => when.whileIdle(),
  anyOf: () => when.anyOf(when.stalled(), when.everyTurns(3), when.whileIdle()),
  allOf: () => when.allOf(when.everyTurns(2), when.tokensOver(400)),
  throws: () => ({
    name: 'throws',
    fires: () => {
      throw new Error('no')
    },
  }),
}
const deciders: Readonly<Record<string, (pick: number) => Decider>> = {
  oldest: () => decide.oldest({ keepSteps: 1 }),
  range: () => decide.range({ model: forever('What was done.'), keepSteps: 1 }),
  model: () => decide.model(),
  reviewer: (pick) => {
    const plan = plans[pick % plans.length]!
    const text = typeof plan === 'string' ? plan : JSON.stringify(plan)
    return decide.reviewer({ model: forever(text), keepSteps: 1 })
  },
  scored: () => decide.scored(heuristicScorer, { below: 0.9, keepSteps: 1 }),
  leastRelevant: () => decide.leastRelevant(undefined, { downTo: 300, keepSteps: 0 }),
  own: (pick) => ({
    name: 'own',
    decide: ({ steps }) => ({
      hide: steps.filter((_, index) => index % 3 === pick % 3).map(({ id }) => id),
      ...(pick % 5 === 0 ? { revert: { step: steps[0]!.id, category: 'tangent' as const } } : {}),
    }),
  }),
  nonsense: () => ({ name: 'nonsense', decide: () => ({ hide: 'all' }) as never }),
}
const keepers: Readonly<Record<string, () => Keeper>> = {
  nothing: () => keep.nothing(),
  line: () => keep.line(),
  notes: () => keep.notes(),
  rollUp: () => keep.rollUp(),
  masked: () => keep.masked(),
  summary: () => keep.summary(forever('Done.')),
  memory: () => keep.memory(noMemory),
  archive: () =>
    keep.archive({
      write: async (_name, lines) => {
        for await (const line of lines) assert.ok(line.endsWith('\n'))
      },
    }),
}

interface Combination {
  readonly when: string
  readonly decide: string
  readonly keep: string
  readonly pick: number
}

/** Next event: a reply of the model, or the act of a person while it is made. */
type Happening =
  | { readonly type: 'read' | 'fail' | 'say'; readonly pick: number }
  | {
      readonly type: 'revert' | 'prun' | 'pin' | 'unpin' | 'steer' | 'prune' | 'compact' | 'brake'
      readonly pick: number
    }

const pick = fc.nat(60)
const happenings = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant<'read'>('read'), pick }) },
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constantFrom<Happening['type'][]>(
          'fail',
          'say',
          'revert',
          'prun',
          'pin',
          'unpin',
          'steer',
          'prune',
          'compact',
          'brake',
        ),
        pick,
      }),
    },
  ),
  { minLength: 6, maxLength: 22 },
) as fc.Arbitrary<Happening[]>

const combination = fc.record({
  when: fc.constantFrom(...Object.keys(triggers)),
  decide: fc.constantFrom(...Object.keys(deciders)),
  keep: fc.constantFrom(...Object.keys(keepers)),
  pick,
})

const read = tool(
  'read',
  (input) => {
    const { at } = input as { at: number }
    if (at < 0) throw new Error(`there is no file${at} `.repeat(20))
    return `src/part${at % 7}/file${at % 7}.ts says ${'something of it '.repeat(5 * (1 + (at % 9)))}`
  },
  { effects: 'none' },
)

/** Plays it all, and lets every rule of a journey be checked. Gives what happened. */
async function play(combinations: readonly Combination[], happening: readonly Happening[], met: Set<string>) {
  const cleanups: (() => unknown)[] = []
  const context = { cleanup: (undo: () => unknown) => void cleanups.push(undo) }
  const policies = combinations.map((each, index) =>
    policy({
      name: `p${index}`,
      when: triggers[each.when]!(),
      decide: deciders[each.decide]!(each.pick),
      keep: keepers[each.keep]!(),
      retryTurns: 2,
    }),
  )
  let next = 0
  const said: string[] = []
  const born: { harness?: Harness } = {}
  const reply = () => {
    for (; next < happening.length;) {
      const { type, pick: at } = happening[next]!
      const callId = `c${next}`
      next += 1
      const call = (name: string, input: unknown) => ({ toolCalls: [{ name, input, callId }] })
      if (type === 'read') return call('read', { at })
      if (type === 'fail') return call('read', { at: -1 })
      if (type === 'say') return `That was ${at}.`
      if (type === 'revert') return call('revert_to_state', { category: 'failure', step: `n${at}`, summary: 'no good' })
      if (type === 'prun') return call('prun', { steps: [`n${at}`], memo: 'gone' })
      people(born.harness!, type, at)
    }
    return 'done'
  }
  function people({ agent }: Harness, type: Happening['type'], at: number): void {
    const steps = agent.conversation.steps()
    const step = formatNodeId(steps[at % Math.max(1, steps.length)]?.id ?? 1)
    if (type === 'pin') agent.pin(step)
    if (type === 'unpin') agent.unpin(step)
    if (type === 'prune') agent.prune({ steps: [step], memo: 'by hand' })
    if (type === 'compact') agent.compact()
    if (type === 'brake') agent.brake(`p${at % policies.length}`)
    if (type === 'steer') {
      said.push(`steered ${said.length}.`)
      agent.steer(said.at(-1)!)
    }
  }
  const harness = await startAgent(context, {
    replies: Array.from({ length: 200 }, () => reply),
    tools: [read],
    braking: { revert: true, prune: true, policies },
    compaction: { contextWindow: 4_000 },
    queueMode: 'all',
    retry: { attempts: 1 },
  })
  born.harness = harness
  try {
    for (let round = 0; round < 8 && (round === 0 || next < happening.length); round++) {
      said.push(`prompted ${said.length}.`)
      const { stopReason, error } = await harness.agent.prompt(said.at(-1)!).result
      // A conversation that has nothing left to hide may be too large; it says so.
      if (stopReason !== 'stop') assert.is(error?.code, 'CONTEXT_OVERFLOW', `${stopReason}: ${error?.message}`)
      while (harness.agent.state !== 'idle') await quiet()
    }
    const shown = saidIn({ messages: harness.script.requests.at(-1)!.messages }).join('\n')
    const delivered = said.filter((text) =>
      harness.agent.conversation.trunk().some(({ message }) => JSON.stringify(message.content).includes(text)),
    )
    for (const text of delivered) assert.ok(shown.includes(text), `${text} is lost`)
    assert.is(delivered.length, said.length)
    for (const { outcome } of harness.ofType('policy.end')) met.add(outcome)
    for (const { applied, policy: by } of harness.ofType('prune.applied'))
      if (by !== undefined && applied) met.add('hidden')
    for (const { applied } of harness.ofType('revert.applied')) if (applied) met.add('reverted')
    for (const { applied } of harness.ofType('compaction.end')) if (applied) met.add('compacted')
  } finally {
    for (const undo of cleanups.toReversed()) await undo()
  }
}

describe('random combinations of the parts of policies', (it) => {
  it('keep every rule, whatever people and the model do beside them', { timeoutMs: 60_000 }, async () => {
    const met = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(combination, { minLength: 2, maxLength: 3 }),
        happenings,
        async (combinations, happening) => await play(combinations, happening, met),
      ),
      { seed: 20_260_101, numRuns: someRuns(400), endOnFailure: false },
    )
    assert.equal([...met].toSorted(), ['compacted', 'failed', 'hidden', 'nothing', 'planned', 'reverted'])
  })
})
