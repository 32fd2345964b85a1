import {
  defaultFoldPolicy,
  foldLevels,
  nextFold,
  planFold,
  type FoldPolicy,
  type FoldTerms,
} from '../../src/conversation/brakes/fold/planFold.ts'
import { economicsOf } from '../../src/conversation/limits/economics.ts'
import type { Measured } from '../../src/conversation/limits/tokenCounter.ts'
import { sizesOfFold } from '../../src/conversation/limits/trunkSizes.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const policy: FoldPolicy = { ...defaultFoldPolicy, work: 500, minBatch: 400, indexTokens: 100, cap: 60_000 }
const minute = 60_000

function worked(steps: number, chars = 900): Conversation {
  const log = new BrakeLog()
  log.user('the task')
  for (let at = 0; at < steps; at++)
    log.step([
      { name: 'read', input: { path: `src/file${at}.ts` }, output: `name${at}Thing ${'x '.repeat(chars / 2)}` },
    ])
  return log.conversation
}

/** The same conversation with other measurements. */
const measuredAs = (conversation: Conversation, measured: Partial<Measured>): Conversation =>
  new Proxy(conversation, {
    get: (target, name) =>
      name === 'measured' ? { ...target.measured, ...measured } : (Reflect.get(target, name, target) as unknown),
  })

const folds = (conversation: Conversation, more: Partial<FoldPolicy> = {}, terms?: FoldTerms) =>
  planFold(conversation, { ...policy, ...more }, 0, 'f', terms)

describe('the length of a conversation', (it) => {
  it('holds folds back until it has made enough requests, or is expected to', () => {
    const conversation = worked(29)
    assert.is(conversation.measured.replies, 29)
    assert.is(folds(conversation), undefined)
    assert.ok(folds(worked(30)) !== undefined)
    assert.ok(folds(conversation, { leastRequests: 0 }) !== undefined)
    assert.ok(folds(measuredAs(conversation, { expected: 30 })) !== undefined)
    assert.is(folds(measuredAs(conversation, { expected: 29 })), undefined)
  })

  it('counts for nothing once a request exceeds the cap, or where nothing is cached', () => {
    const conversation = worked(29)
    assert.ok(folds(conversation, { cap: 5_000 }) !== undefined)
    assert.ok(folds(measuredAs(conversation, { unread: 3 })) !== undefined)
    assert.is(folds(measuredAs(conversation, { unread: 2 })), undefined)
  })

  it('is asked before any drain is: none looks in vain at a short one', () => {
    const conversation = worked(20)
    assert.is(nextFold(conversation, policy, 0), policy.cap)
    assert.ok(nextFold(conversation, { ...policy, leastRequests: 0 }, 0) < conversation.trunkTokens)
    const early = measuredAs(conversation, { expected: 40 })
    assert.ok(nextFold(early, policy, 0, {}, early.measured) < conversation.trunkTokens)
  })
})

describe('a fold that would cost much', (it) => {
  it('waits until it would pay back within a third of the requests so far', () => {
    const conversation = worked(60)
    const plan = folds(conversation)!
    const { paysAfter } = economicsOf(sizesOfFold(conversation, plan))
    assert.ok(paysAfter! > 1)
    const at = (replies: number): boolean => folds(measuredAs(conversation, { replies, expected: 60 })) !== undefined
    assert.equal([at(3 * paysAfter! - 1), at(3 * paysAfter!)], [false, true])
  })

  it('is told from the prices of the model and from what the cache is measured to hold', () => {
    const conversation = measuredAs(worked(60), { replies: 3, expected: 60 })
    assert.is(folds(conversation), undefined)
    const prices = { input: 1, output: 4, cacheRead: 0.9 }
    assert.ok(folds(conversation, {}, { prices }) !== undefined)
    assert.ok(folds(measuredAs(conversation, { cachedShare: 0.05 })) !== undefined)
  })
})

describe('the room between folds', (it) => {
  const room = (measured: Partial<Measured>, terms?: FoldTerms): number => {
    const { high, low } = foldLevels(measuredAs(worked(60, 9_000), measured), { ...policy, cap: 10_000_000 }, 0, terms)
    return high - low
  }

  it('follows the prices, within bounds, and takes absurd ones for none', () => {
    const usual = room({})
    const dear = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 }
    assert.ok(Math.abs(room({}, { prices: dear }) - usual) < 1)
    assert.ok(room({}, { prices: { ...dear, cacheRead: 0.25, cacheWrite: 1 } }) < usual)
    assert.ok(room({}, { prices: { ...dear, cacheRead: 1e-9 } }) <= 2 * usual)
    for (const prices of [
      null,
      { input: 0, output: 0 },
      { ...dear, cacheRead: 0 },
      { ...dear, cacheWrite: NaN },
      { ...dear, input: -1 },
      { ...dear, output: Infinity },
    ])
      assert.is(room({}, { prices }), usual)
    // Reading may be dearer than writing.
    assert.is(room({}, { prices: { ...dear, cacheRead: 2 } }), policy.minBatch)
  })

  it('follows a share that jumps, and is least where nothing is read', () => {
    const shares = [1, 0, 0.5, 1].map((cachedShare) => room({ cachedShare }))
    assert.is(shares[0], shares[3])
    assert.ok(shares[1]! < shares[2]! && shares[2]! < shares[0]!)
    assert.is(room({ unread: 3 }), policy.minBatch)
  })

  it('is a number where the frame is larger than the window', () => {
    const conversation = worked(40)
    const levels = foldLevels(conversation, { ...policy, cap: 3_000 }, 50_000)
    assert.ok([levels.low, levels.high, levels.least, levels.foldable].every(Number.isFinite))
    const { outcome } = planFold(conversation, { ...policy, cap: 3_000 }, 50_000, 'f')!
    assert.is(outcome.steps.length, 40 - policy.keepSteps)
  })
})

describe('a pause that the cache does not outlast', (it) => {
  const idle = (conversation: Conversation, pause: number): Conversation => measuredAs(conversation, { pause })

  it('makes a fold free, also in a short conversation, and deeper', () => {
    const conversation = worked(29)
    for (const [pause, isDead] of [
      [0, false],
      [5 * minute - 1, false],
      [5 * minute, true],
      [7 * 24 * 60 * minute, true],
    ] as const)
      assert.is(folds(idle(conversation, pause)) !== undefined, isDead)
    const long = worked(60)
    const [warm, cold] = [folds(long)!, folds(idle(long, 5 * minute))!]
    assert.ok(cold.outcome.steps.length > warm.outcome.steps.length)
    assert.is(cold.outcome.steps.length, 60 - 4)
  })

  it('is as long as the provider keeps what it cached', () => {
    const conversation = idle(worked(29), 10 * minute)
    assert.is(folds(conversation, {}, { lifetimeMs: 60 * minute }), undefined)
    assert.ok(folds(idle(conversation, 60 * minute), {}, { lifetimeMs: 60 * minute }) !== undefined)
  })

  it('leaves alone what is too small for a fold', () => {
    assert.is(folds(idle(worked(5), 60 * minute)), undefined)
  })
})

describe('folds where nothing is ever cached', (it) => {
  it('are frequent, so they keep more steps, and a pause changes nothing', () => {
    const conversation = measuredAs(worked(60), { unread: 3 })
    const idle = measuredAs(conversation, { pause: 60 * minute })
    const kept = [conversation, idle].map((one) => 60 - folds(one)!.outcome.steps.length)
    assert.equal(kept, [policy.keepSteps + 4, policy.keepSteps + 4])
    assert.equal(foldLevels(idle, policy, 0), foldLevels(conversation, policy, 0))
  })
})

describe('the defaults', (it) => {
  it('let a request grow to .7 of the window, where a compaction is not yet due', () => {
    const { braking } = defineAgent({ name: 'a', model: scriptedModel([]), braking: { fold: true } })
    assert.is(braking?.fold?.cap, 140_000)
  })

  it('give the index as many names whatever a model counts', () => {
    const conversation = worked(60)
    const counting = (correction: number): Conversation =>
      new Proxy(conversation, {
        get: (target, name) => {
          if (name === 'correction') return correction
          return name === 'measured' ? { ...target.measured, correction } : Reflect.get(target, name, target)
        },
      })
    const [room, ...lengths] = [
      400,
      ...[1, 1.45, 2].map((correction) => folds(counting(correction))!.outcome.index!.length),
    ]
    for (const length of lengths) assert.ok(length > room * 0.9 && length <= room, String(lengths))
  })

  it('leave room for work in a small window: the index takes at most a tenth of the cap', () => {
    const indexOf = (contextWindow: number, fold: object | true = true): number | undefined =>
      defineAgent({ name: 'a', model: scriptedModel([]), compaction: { contextWindow }, braking: { fold } }).braking
        ?.fold?.indexTokens
    assert.equal([indexOf(200_000), indexOf(24_000), indexOf(200_000, { cap: 30_000 })], [6_000, 1_680, 3_000])
    assert.is(indexOf(24_000, { indexTokens: 2_000 }), 2_000)
  })
})
