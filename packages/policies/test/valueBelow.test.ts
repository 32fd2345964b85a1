import type { StepScorer } from '../src/scorers.ts'
import type { ScoredStep } from '../src/valueBelow.ts'
import { when } from '../src/when.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation, type Wanted } from './fakeConsultation.ts'

/** A conversation that grows, and a scorer that gives the scores of its steps in order. */
function rated(...scores: readonly number[]) {
  const log = new BrakeLog()
  log.user('the task')
  const asked: string[] = []
  const scorer: StepScorer = ({ id }, { steps }) => {
    asked.push(id)
    return scores[steps.filter(({ role }) => role === 'assistant').findIndex((step) => step.id === id)]!
  }
  return { log, asked, scorer, at: (more: Wanted = {}) => fakeConsultation({ log, ...more }) }
}

const grow = (log: BrakeLog, steps = 1): void => {
  for (let i = 0; i < steps; i++) log.step([{}])
}

describe('valueBelow', (it) => {
  it('fires once the average was below its bound for so many turns in a row', async () => {
    const { log, scorer, at } = rated(0.9, 0.1, 0.1, 0.1, 0.1)
    const trigger = when.valueBelow(scorer, { below: 0.4, window: 2, turns: 2 })
    assert.is(trigger.name, 'valueBelow(0.4)')
    const fired: (string | null)[] = []
    for (let i = 0; i < 5; i++) {
      grow(log)
      fired.push(await trigger.fires(at()))
    }
    const why = 'average score 0.10, below 0.4 for 2 turns'
    // The averages are .5, .1, .1, .1, and the first of them is above.
    assert.equal(fired, [null, null, null, why, why])
  })

  it('fires only below the bound', async () => {
    const { log, scorer, at } = rated(0.5, 0.5)
    grow(log, 2)
    assert.is(await when.valueBelow(scorer, { below: 0.5, window: 2, turns: 1 }).fires(at()), null)
    assert.ok(await when.valueBelow(scorer, { below: 0.51, window: 2, turns: 1 }).fires(at()))
  })

  it('scores each step once, and none that is too old to count', async () => {
    const { log, scorer, asked, at } = rated(0, 0, 0, 0, 0)
    const trigger = when.valueBelow(scorer, { below: 0.5, window: 2, turns: 2 })
    grow(log, 4)
    await trigger.fires(at())
    assert.equal(asked, ['n4', 'n6', 'n8'])
    await trigger.fires(at())
    grow(log)
    await trigger.fires(at())
    assert.equal(asked, ['n4', 'n6', 'n8', 'n10'])
  })

  it('keeps the scores of two agents apart', async () => {
    const [good, bad] = [rated(0.9), rated(0.1)]
    grow(good.log)
    grow(bad.log)
    const scorer: StepScorer = (_, { conversation }) => (conversation === bad.log.conversation ? 0.1 : 0.9)
    const trigger = when.valueBelow(scorer, { below: 0.5, window: 1, turns: 1 })
    assert.is(await trigger.fires(good.at()), null)
    assert.ok(await trigger.fires(bad.at()))
    assert.is(await trigger.fires(good.at()), null)
  })

  it('begins anew after it fired', async () => {
    const { log, scorer, asked, at } = rated(0, 0, 0, 0)
    const trigger = when.valueBelow(scorer, { below: 0.5, window: 2, turns: 1 })
    grow(log, 2)
    assert.ok(await trigger.fires(at()))
    const last = { turn: 2, contextTokens: 1 }
    assert.is(await trigger.fires(at({ last })), null)
    grow(log)
    assert.is(await trigger.fires(at({ last })), null)
    grow(log)
    assert.ok(await trigger.fires(at({ last })))
    assert.equal(asked, ['n2', 'n4', 'n6', 'n8'])
  })

  it('leaves out what people said', async () => {
    const { log, scorer, asked, at } = rated(0, 0)
    grow(log)
    log.user('and now this')
    grow(log)
    assert.ok(await when.valueBelow(scorer, { below: 0.5, window: 2, turns: 1 }).fires(at()))
    assert.equal(asked, ['n2', 'n5'])
  })

  it('tells each score once, with the average', async () => {
    const { log, scorer, at } = rated(0.2, 0.4, 0.9)
    const told: ScoredStep[] = []
    const trigger = when.valueBelow(scorer, {
      below: 0.1,
      window: 2,
      turns: 2,
      onScore: async (scored) => void told.push(scored),
    })
    grow(log, 2)
    await trigger.fires(at())
    grow(log)
    await trigger.fires(at())
    await trigger.fires(at())
    assert.equal(
      told.map(({ average, ...rest }) => ({ ...rest, average: Number(average.toFixed(3)) })),
      [
        { agentId: 'a', step: 'n2', score: 0.2, average: 0.2 },
        { agentId: 'a', step: 'n4', score: 0.4, average: 0.3 },
        { agentId: 'a', step: 'n6', score: 0.9, average: 0.65 },
      ],
    )
  })

  it('fails when it cannot tell a score, and does not tell it twice', async () => {
    const { log, scorer, asked, at } = rated(0, 0)
    let calls = 0
    const onScore = (): void => {
      if (calls++ === 0) throw new Error('the disk is full')
    }
    const trigger = when.valueBelow(scorer, { below: 0.5, window: 2, turns: 1, onScore })
    grow(log, 2)
    await assert.rejects(trigger.fires(at()) as Promise<unknown>, /the disk is full/)
    assert.ok(await trigger.fires(at()))
    assert.equal([calls, asked], [2, ['n2', 'n4']])
  })

  for (const [wrong, seen] of [
    [Number.NaN, 'NaN'],
    [1.01, '1.01'],
    [-0.1, '-0.1'],
    [Infinity, 'Infinity'],
    ['0.5', 'a value of type string'],
    [undefined, 'a value of type undefined'],
  ] as const) {
    it(`fails for a score that is ${seen}, and asks again the next time`, async () => {
      const { log, at } = rated()
      grow(log)
      let score: unknown = wrong
      const trigger = when.valueBelow(() => score as number, { below: 0.5, window: 1, turns: 1 })
      await assert.rejects(
        trigger.fires(at()) as Promise<unknown>,
        withCode('INVALID_OPTION', `valueBelow: the scorer gave ${seen} for n2: it must give a number from 0`),
      )
      score = 0
      assert.ok(await trigger.fires(at()))
    })
  }

  it('fails when the scorer throws, and keeps the scores before', async () => {
    const { log, at } = rated()
    grow(log, 2)
    const asked: string[] = []
    const trigger = when.valueBelow(
      ({ id }) => {
        asked.push(id)
        if (id === 'n4' && asked.length === 2) throw new Error('no network')
        return 0
      },
      { below: 0.5, window: 2, turns: 1 },
    )
    await assert.rejects(trigger.fires(at()) as Promise<unknown>, /no network/)
    assert.ok(await trigger.fires(at()))
    assert.equal(asked, ['n2', 'n4', 'n4'])
  })

  it('asks no scorer once it is aborted', async () => {
    const { log, scorer, asked, at } = rated(0)
    grow(log)
    const signal = AbortSignal.abort(new Error('the run was aborted'))
    const trigger = when.valueBelow(scorer, { below: 0.5 })
    await assert.rejects(trigger.fires(at({ signal })) as Promise<unknown>, /the run was aborted/)
    assert.equal(asked, [])
  })

  it('refuses wrong arguments by name', () => {
    const make =
      (options: object, scorer: unknown = () => 0) =>
      () =>
        when.valueBelow(scorer as StepScorer, options as never)
    assert.throws(make({ below: 0.5 }, 'heuristic'), withCode('INVALID_OPTION', 'valueBelow: give a scorer first'))
    for (const below of [0, -1, 1.5, Number.NaN, undefined, '1'])
      assert.throws(make({ below }), withCode('INVALID_OPTION', `valueBelow: below: ${String(below)}`))
    assert.throws(make(undefined as never), withCode('INVALID_OPTION', 'valueBelow: below: undefined'))
    assert.throws(make({ below: 0.5, turns: 0 }), withCode('INVALID_OPTION', 'valueBelow: turns: 0'))
    assert.throws(make({ below: 0.5, window: 1.5 }), withCode('INVALID_OPTION', 'valueBelow: window: 1.5'))
    assert.throws(make({ below: 0.5, onScore: 1 }), withCode('INVALID_OPTION', 'valueBelow: onScore'))
  })
})
