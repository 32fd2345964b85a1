import { z } from 'zod'
import { parseNodeId } from '../../../src/protocol/ids.ts'
import { describeIssues } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Consultation, Plan, StepView } from '../../../src/actors/define/policy.ts'

/** Limits for a reviewer's plan. */
export interface ReviewBounds {
  /** Number of the model's newest steps that the plan may not hide. */
  readonly keepSteps: number
  /** Maximum number of the model's steps that a revert may take off the trunk. 0: no reverts. */
  readonly mostReverted: number
}

const id = z.string().min(1).max(40)

/** A reviewer's answer. Blank and missing fields mean the same, since some providers make models fill every field. */
const answerSchema = lazily(() =>
  z.object({
    hide: z.array(id).max(2_000).nullish().describe('Ids of steps to hide, such as "n12"; none when nothing should be'),
    note: z.string().max(2_000).nullish().describe('What the agent must be told once they are hidden; mostly nothing'),
    why: z.string().max(2_000).nullish().describe('Your reasons, in a sentence or two'),
  }),
)

const answerWithRevert = lazily(() =>
  answerSchema().extend({
    revert: z
      .object({
        step: id.describe('The last step that stays'),
        // Finished work is put together by who did it.
        category: z.enum(['failure', 'tangent']),
        summary: z.string().max(4_000).nullish().describe('What was learnt or done after that step'),
      })
      .nullish()
      .describe('Takes everything after a step away: only for a dead end at the end of the transcript'),
  }),
)

export const reviewSchema = ({ mostReverted }: ReviewBounds): z.ZodObject =>
  mostReverted > 0 ? answerWithRevert() : answerSchema()

/**
 * The plan in the answer of a reviewer; `null` when it wants nothing. Parts that go further than it may are left out, and the reason of the
 * plan says so. Ids that are unknown or fixed are left in: the kernel refuses them one by one.
 *
 * @throws Error when the answer is no plan, or when nothing of it is within its bounds.
 */
export function planOf(
  answer: unknown,
  { steps, conversation }: Pick<Consultation, 'steps' | 'conversation'>,
  bounds: ReviewBounds,
): Plan | null {
  const read = answerWithRevert().safeParse(answer)
  if (!read.success) throw new Error(`the reviewer answered no plan: ${describeIssues(read.error)}`)
  const { hide, revert, note, why } = read.data
  const refused: string[] = []
  const newest = newestSteps(steps, bounds.keepSteps)
  const isNewest = (name: string): boolean => {
    const nodeId = parseNodeId(name) ?? 0
    // Any id of a step names it.
    return newest.has(conversation.node(nodeId)?.stepId ?? nodeId)
  }
  const wanted = [...new Set(hide ?? [])]
  const hidden = wanted.filter((name) => !isNewest(name))
  if (hidden.length < wanted.length)
    refused.push(`${wanted.filter(isNewest).join(', ')} of the newest ${bounds.keepSteps} steps`)
  const back = revert ?? undefined
  const tooFar = back === undefined ? undefined : whyTooFar(back.step, steps, bounds)
  if (tooFar !== undefined) refused.push(tooFar)
  const isReverted = back !== undefined && tooFar === undefined
  // The step after which a note would stand goes with a revert: it is told with the lesson.
  const told = isReverted ? undefined : textIn(note)
  const summary = isReverted ? textIn([textIn(back.summary), textIn(note)].filter(Boolean).join(' ')) : undefined
  const reasons = [textIn(why), ...refused.map((each) => `left out: ${each}`)].filter((each) => each !== undefined)
  const plan: Plan = {
    ...(hidden.length === 0 ? {} : { hide: hidden }),
    ...(isReverted
      ? { revert: { step: back.step, category: back.category, ...(summary === undefined ? {} : { summary }) } }
      : {}),
    ...(told === undefined ? {} : { note: told }),
  }
  if (Object.keys(plan).length > 0) return { ...plan, ...(reasons.length === 0 ? {} : { why: reasons.join('; ') }) }
  if (refused.length > 0) throw new Error(`the reviewer's plan goes too far: ${refused.join('; ')}`)
  return null
}

const textIn = (text: string | null | undefined): string | undefined =>
  text == null || text.trim() === '' ? undefined : text.trim()

const ownSteps = (steps: readonly StepView[]): readonly StepView[] => steps.filter(({ role }) => role === 'assistant')

/** Returns the ids of the model's newest steps. */
export const newestSteps = (steps: readonly StepView[], keepSteps: number): ReadonlySet<number> =>
  new Set(
    keepSteps === 0
      ? []
      : ownSteps(steps)
          .slice(-keepSteps)
          .map((step) => parseNodeId(step.id)!),
  )

function whyTooFar(target: string, steps: readonly StepView[], { mostReverted }: ReviewBounds): string | undefined {
  if (mostReverted === 0) return 'it may not revert'
  const to = parseNodeId(target)
  // Whatever this is, the kernel refuses it.
  if (to === undefined) return undefined
  const lost = ownSteps(steps).filter((step) => parseNodeId(step.id)! > to).length
  return lost > mostReverted
    ? `a revert to ${target} takes away ${lost} steps, and it may take ${mostReverted}`
    : undefined
}
