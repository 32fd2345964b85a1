import { z } from 'zod'
import { relevanceOf } from './relevance.ts'
import { checkOptions, hideableSteps, hideSchema, hiding, lowestFirst, tokensOver, type HideOptions } from './choice.ts'
import type { Consultation, Decider } from '../../../src/actors/define/policy.ts'

/** Returns a vector for each text, in the same order and all of one length. Called with at most 96 texts at a time. Rejects when it fails. */
export type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<readonly (readonly number[])[]>

export interface RelevanceOptions extends HideOptions {
  /** Compares texts by meaning. Without it, shared words and names count, and no model is called. */
  readonly embed?: Embed
}

const mostTexts = 96
const longestText = 8_000

const optionsSchema = hideSchema({
  embed: z.custom<Embed>((value) => typeof value === 'function', 'give a function').optional(),
})
const querySchema = z.string().refine((text) => text.trim() !== '', 'give words to look for')

/**
 * Hides the steps that have the least to do with a query until the next request is down to its target; of equals the oldest first. The
 * query is by default what the task is now: the newest message of a person, and the newest step.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
export function leastRelevant(query?: string, options: RelevanceOptions = {}): Decider {
  if (query !== undefined) checkOptions('decide.leastRelevant: query', querySchema, query)
  checkOptions('decide.leastRelevant', optionsSchema, options)
  return Object.freeze<Decider>({
    name: 'leastRelevant()',
    async decide(at) {
      const excess = tokensOver(at, options)
      const steps = hideableSteps(at, options.keepSteps)
      if (excess <= 0 || steps.length === 0) return null
      const wanted = query ?? taskNow(at)
      const texts = steps.map((step) => step.text())
      const scores =
        options.embed === undefined
          ? relevanceOf(texts, wanted)
          : await likeness(options.embed, texts, wanted, at.signal)
      return hiding(lowestFirst(steps, scores, excess))
    },
  })
}

/** Returns the newest message from a person, and the agent's newest step, as text. */
function taskNow({ steps }: Consultation): string {
  const asked = steps.findLast(({ role }) => role === 'user')
  const newest = steps.at(-1)
  return [asked, newest === asked ? undefined : newest].map((step) => step?.text() ?? '').join('\n')
}

/** Returns the cosine between the vector of each text and that of the query. */
async function likeness(embed: Embed, texts: readonly string[], query: string, signal: AbortSignal): Promise<number[]> {
  const all = [query, ...texts].map((text) => text.slice(0, longestText))
  const vectors: (readonly number[])[] = []
  for (let from = 0; from < all.length; from += mostTexts) {
    signal.throwIfAborted()
    const part = all.slice(from, from + mostTexts)
    const made = await embed(part, signal)
    if (!Array.isArray(made) || made.length !== part.length)
      throw new Error(
        `embed gave ${Array.isArray(made) ? made.length : typeof made} for ${part.length} texts: give a vector for each`,
      )
    vectors.push(...made)
  }
  const [wanted, ...others] = vectors
  return others.map((vector, index) => {
    const value = cosine(wanted!, vector)
    if (Number.isFinite(value)) return value
    throw new Error(
      `embed gave vectors that cannot be compared, for text ${index + 2}: all must have the same length and hold numbers, not all of them 0`,
    )
  })
}

/** Returns the cosine of two vectors; NaN when they cannot be compared. */
function cosine(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return Number.NaN
  let [dot, lengthA, lengthB] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!
    lengthA += a[i]! ** 2
    lengthB += b[i]! ** 2
  }
  return dot / Math.sqrt(lengthA * lengthB)
}
