import * as fc from 'fast-check'
import type { RevertCategory, StallRule } from '../../src/protocol/braking.ts'

/** One more thing in a braked conversation; `pick` chooses a step among those there are, or names none. */
export type BrakedHappening =
  | { readonly type: 'user'; readonly words: string; readonly source: 'prompt' | 'steering' | 'followUp' }
  | { readonly type: 'reply'; readonly words: string }
  | { readonly type: 'step'; readonly outputs: readonly string[]; readonly order: readonly number[] }
  | {
      readonly type: 'revert'
      readonly wanted: readonly {
        readonly pick: number
        readonly isInside: boolean
        readonly category: RevertCategory
        readonly summary: string
      }[]
    }
  | { readonly type: 'prune'; readonly picks?: readonly number[]; readonly tokens: number; readonly memo?: string }
  | { readonly type: 'mask'; readonly picks?: readonly number[]; readonly tokens: number }
  | { readonly type: 'show'; readonly picks: readonly number[]; readonly isAll: boolean }
  | { readonly type: 'graft'; readonly wanted: readonly (readonly number[])[] }
  | { readonly type: 'pin'; readonly pick: number; readonly isInside: boolean; readonly pinned: boolean }
  | {
      readonly type: 'fold'
      readonly isAsked: boolean
      /** A policy names these, whatever `isAsked` says. */
      readonly picks?: readonly number[]
      readonly keepSteps: number
      readonly work: number
      readonly minBatch: number
      readonly indexTokens: number
      readonly cap: number
    }
  | { readonly type: 'stall'; readonly rules: readonly StallRule[] }
  | {
      readonly type: 'compact'
      readonly first: number
      readonly recent: number
      readonly summary: string
      readonly maxChars: number
    }

/** fast-check's objects have no prototype unless told to: such are not plain JSON. */
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>

const words = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('src/aLongName.ts', 'the_long_name and anotherLongName1') },
  { weight: 4, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(' ', '[n3]', '<brake-note kind="lesson">', '[N1]\n[n2]', 'y'.repeat(2_000)) },
)
const spoken = words.filter((said) => said.trim() !== '')

/** Longer than what a mask puts in its place. */
const longOutput = fc.constantFrom(
  `${'the same line\n'.repeat(9)}src/aMaskedName.ts`,
  `another_long_name ${'z'.repeat(400)}\n[n4] it failed in src/aMaskedName.ts`,
)

/** A random conversation with brakes: people, tools in any order, reverts good and bad, prunes, masks, compactions. */
export const brakedHistories = (options: { maxLength: number }): fc.Arbitrary<BrakedHappening[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: record({
          type: fc.constant('user' as const),
          words: spoken,
          source: fc.constantFrom('prompt' as const, 'steering' as const, 'followUp' as const),
        }),
      },
      { weight: 2, arbitrary: record({ type: fc.constant('reply' as const), words: spoken }) },
      {
        weight: 8,
        arbitrary: record({
          type: fc.constant('step' as const),
          outputs: fc.array(fc.oneof({ weight: 2, arbitrary: words }, fc.constant('the same again'), longOutput), {
            minLength: 1,
            maxLength: 3,
          }),
          order: fc.array(fc.nat(100), { minLength: 3, maxLength: 3 }),
        }),
      },
      {
        weight: 6,
        arbitrary: record({
          type: fc.constant('revert' as const),
          wanted: fc.array(
            record({
              pick: fc.nat(99),
              isInside: fc.boolean(),
              category: fc.constantFrom<RevertCategory>('failure', 'tangent', 'completion', 'step-summary'),
              summary: fc.oneof(fc.constantFrom('', 'same'), words),
            }),
            { minLength: 1, maxLength: 2 },
          ),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.oneof(
          record({
            type: fc.constant('prune' as const),
            picks: fc.array(fc.nat(99), { minLength: 1, maxLength: 3 }),
            tokens: fc.constant(0),
          }),
          record({
            type: fc.constant('prune' as const),
            tokens: fc.constantFrom(1, 50, 1_000),
            memo: words,
          }),
        ),
      },
      {
        weight: 3,
        arbitrary: fc.oneof(
          record({
            type: fc.constant('mask' as const),
            picks: fc.array(fc.nat(99), { minLength: 1, maxLength: 3 }),
            tokens: fc.constant(0),
          }),
          record({ type: fc.constant('mask' as const), tokens: fc.constantFrom(1, 50, 1_000) }),
        ),
      },
      {
        weight: 3,
        arbitrary: record({
          type: fc.constant('show' as const),
          picks: fc.array(fc.nat(99), { minLength: 1, maxLength: 3 }),
          isAll: fc.constantFrom(false, false, false, true),
        }),
      },
      {
        weight: 3,
        arbitrary: record({
          type: fc.constant('graft' as const),
          wanted: fc.array(fc.array(fc.nat(199), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
        }),
      },
      {
        weight: 2,
        arbitrary: record({
          type: fc.constant('pin' as const),
          pick: fc.nat(99),
          isInside: fc.boolean(),
          pinned: fc.constantFrom(true, true, true, false),
        }),
      },
      {
        weight: 4,
        arbitrary: record({
          type: fc.constant('fold' as const),
          isAsked: fc.boolean(),
          keepSteps: fc.nat(3),
          work: fc.constantFrom(1, 50),
          minBatch: fc.constantFrom(1, 40, 400),
          indexTokens: fc.constantFrom(0, 10, 100),
          cap: fc.constantFrom(10, 200, 10_000),
        }),
      },
      {
        weight: 2,
        arbitrary: record({
          type: fc.constant('stall' as const),
          rules: fc.constantFrom<StallRule[]>(['repeat', 'cycle', 'sameError'], ['errors'], ['nothingNew', 'repeat4']),
        }),
      },
      {
        weight: 1,
        arbitrary: record({
          type: fc.constant('compact' as const),
          first: fc.nat(2),
          recent: fc.integer({ min: 1, max: 4 }),
          summary: words,
          maxChars: fc.constantFrom(100, 150),
        }),
      },
    ),
    { ...options, size: 'max' },
  )

/** The same with folds in a row, each of which leaves a few steps: memos are rolled up again and again, and cut, covered and pinned around. */
export const foldedHistories = (options: { maxLength: number }): fc.Arbitrary<BrakedHappening[]> =>
  fc
    .array(
      fc.oneof(
        {
          weight: 5,
          arbitrary: fc
            .tuple(
              fc.array(fc.array(words, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
              fc.constantFrom(10, 400, 1_000, 3_000),
              fc.nat(2),
              fc.constantFrom(0, 100),
            )
            .map(([steps, cap, keepSteps, indexTokens]): BrakedHappening[] => [
              ...steps.map((outputs) => ({ type: 'step' as const, outputs, order: [0, 1, 2] })),
              { type: 'fold', isAsked: true, keepSteps, work: 1, minBatch: 1, indexTokens, cap },
            ]),
        },
        { weight: 2, arbitrary: brakedHistories({ maxLength: 3 }) },
      ),
      { ...options, size: 'max' },
    )
    .map((parts) => parts.flat())

/** The same with folds of steps that a policy names: in any order, with others between them, of older ones later. */
export const chosenHistories = (options: { maxLength: number }): fc.Arbitrary<BrakedHappening[]> =>
  fc
    .array(
      fc.oneof(
        {
          weight: 3,
          arbitrary: fc
            .tuple(
              fc.array(fc.array(fc.oneof(words, longOutput), { minLength: 1, maxLength: 2 }), {
                minLength: 1,
                maxLength: 3,
              }),
              fc.array(fc.nat(99), { minLength: 1, maxLength: 4 }),
              fc.constantFrom(10, 400, 10_000),
              fc.constantFrom(0, 100),
            )
            .map(([steps, picks, cap, indexTokens]): BrakedHappening[] => [
              ...steps.map((outputs) => ({ type: 'step' as const, outputs, order: [0, 1, 2] })),
              { type: 'fold', isAsked: true, picks, keepSteps: 0, work: 1, minBatch: 1, indexTokens, cap },
            ]),
        },
        { weight: 2, arbitrary: brakedHistories({ maxLength: 2 }) },
      ),
      { ...options, size: 'max' },
    )
    .map((parts) => parts.flat())
