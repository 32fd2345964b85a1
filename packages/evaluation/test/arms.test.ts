import { assert as holds, property, string, uniqueArray } from 'fast-check'
import { armOf, changesOf, checkedArms } from '../src/arms.ts'
import { planTrials, safeNames, seedOf } from '../src/plan.ts'
import { givenOptions, redefine } from '../src/redefine.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../src/testing/scriptedModel.ts'
import { definedAgent } from '../../../src/actors/define/definedAgent.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const model = scriptedModel([])
const agent = defineAgent({
  name: 'agent',
  model,
  instructions: 'Be brief.',
  braking: { revert: { fidelity: 'high' }, prune: true },
  compaction: { contextWindow: 50_000 },
})
const changes = (name: string, own = {}) => changesOf(armOf(name, own), givenOptions(agent))

describe('arms', (it) => {
  it('say all of braking and compaction: what they do not name is off', () => {
    assert.equal(changes('off'), { braking: {}, compaction: false })
    assert.equal(changes('stall+lessons'), { braking: { stall: true, lessons: true }, compaction: false })
    assert.equal(changes('as-defined'), {})
  })

  it('keep what the agent has set of a brake', () => {
    assert.equal(changes('revert'), { braking: { revert: { fidelity: 'high' } }, compaction: false })
    assert.equal(changes('compaction'), { braking: {}, compaction: { contextWindow: 50_000 } })
  })

  it('are made of compositions too, for the window of the agent', () => {
    const { braking, compaction } = changes('layered+stall')
    assert.is(typeof compaction === 'object' && compaction.contextWindow, 50_000)
    assert.is(braking!.policies?.[0]?.name, 'layered')
    assert.is(braking!.stall, true)
  })

  it('name a model alone, or with brakes', () => {
    assert.equal(armOf('model=openai:gpt-5'), { name: 'model=openai:gpt-5', model: 'openai:gpt-5' })
    const both = armOf('fold+model=a:b')
    assert.is(both.model, 'a:b')
    assert.equal(changesOf(both, givenOptions(agent)), { braking: { fold: true }, compaction: false })
    assert.equal(changesOf(armOf('off+model=a:b'), givenOptions(agent)), changes('off'))
  })

  it('of a suite stand beside those there are, and may be combined with them', () => {
    const own = {
      terse: { instructions: 'One word.' },
      louder: ({ instructions }: { instructions?: unknown }) => ({ instructions: `${String(instructions)} Loud.` }),
    }
    assert.equal(changes('terse', own), { instructions: 'One word.' })
    assert.is(changes('louder+stall', own).instructions, 'Be brief. Loud.')
    assert.is(changes('terse+louder', own).instructions, 'One word. Loud.')
  })

  it('that there are not are answered with the nearest', () => {
    assert.throws(() => armOf('stal+revert'), /The arm "stal\+revert": there is no "stal"\. Did you mean "stall"\?/)
    assert.throws(() => armOf('xyzzy'), /There are: off, as-defined, compaction, fold, /)
    assert.throws(() => armOf('stall+stall'), /has "stall" twice/)
    assert.throws(() => armOf('off+stall'), /"off" goes with a model alone/)
    assert.throws(() => armOf('model=a:b+model=c:d'), /names two models/)
    assert.throws(() => armOf('model='), /names no model/)
    assert.throws(() => checkedArms([{ name: 'off' }, { name: 'off' }]), /The arm "off" is named twice/)
  })
})

describe('an agent that is defined again', (it) => {
  it('has the options that are changed, and the others as they were', () => {
    const again = redefine(agent, { braking: {}, limits: { turns: 3 }, instructions: undefined })
    assert.is(again.instructions, 'Be brief.')
    assert.is(again.braking, null)
    assert.equal(again.policy.limits, { turns: 3 })
    assert.is(again.compaction?.policy.contextWindow, 50_000)
    assert.is(agent.braking?.revert?.fidelity, 'high')
  })

  it('is checked like any other', () => {
    assert.throws(() => redefine(agent, { limits: { turns: -1 } }), /Agent "agent": limits\.turns/)
  })

  it('must have been defined by defineAgent itself', () => {
    assert.throws(() => redefine({ ...agent }, {}), /Only what defineAgent returns/)
    const derived = definedAgent({ ...agent }, () => agent.agents)
    assert.throws(() => redefine(derived, {}), /Only what defineAgent returns/)
  })

  it('costs the options that it was given, and no copy of them', () => {
    const options = { name: 'light', model }
    assert.is(givenOptions(defineAgent(options)), options)
  })
})

describe('the plan of trials', (it) => {
  const arms = ['off', 'stall+revert', 'fold']

  it('has every trial of every task in every arm once, arms side by side', () => {
    const planned = planTrials({ tasks: ['a', 'b'], arms, trials: 3, seed: 1 })
    assert.is(new Set(planned.map(({ key }) => key)).size, 18)
    for (let start = 0; start < planned.length; start += 3) {
      const side = planned.slice(start, start + 3)
      assert.is(new Set(side.map(({ task, trial, seed }) => `${task} ${trial} ${seed}`)).size, 1)
      assert.equal(side.map(({ arm }) => arm).toSorted(), arms.toSorted())
    }
    assert.is(new Set(planned.filter((_, index) => index % 3 === 0).map(({ arm }) => arm)).size, 3)
  })

  it('gives each trial a seed of its own, the same for all arms and whatever other tasks there are', () => {
    const of = (tasks: readonly string[]) =>
      planTrials({ tasks, arms, trials: 2, seed: 7 }).find(({ key }) => key === 'b/fold/1')!.seed
    assert.is(of(['a', 'b']), of(['b', 'c', 'd']))
    assert.is(of(['b']), seedOf(7, 'b', 1))
    const seeds = Array.from({ length: 50 }, (_, trial) => seedOf(7, 'b', trial))
    assert.is(new Set([...seeds, seedOf(8, 'b', 0), seedOf(7, 'c', 0)]).size, 52)
  })

  it('gives arms names that differ in files, whatever they are called', () => {
    holds(
      property(uniqueArray(string({ minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 8 }), (names) => {
        const safe = [...safeNames(names).values()]
        assert.is(new Set(safe).size, names.length)
        for (const name of safe) assert.match(name, /^[A-Za-z0-9_-]{1,44}$/)
      }),
      { seed: 21, numRuns: 300 },
    )
  })
})
