import { z } from 'zod'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { chooseSteps } from '../../../conversation/brakes/prune/planPrune.ts'
import type { Conversation } from '../../../conversation/tree/conversation.ts'
import { revertCategorySchema, type PruneRequest, type RevertRequest } from '../../../protocol/braking.ts'
import { describeIssues } from '../../../protocol/errors.ts'
import { formatNodeId } from '../../../protocol/ids.ts'
import { lazily } from '../../../protocol/lazily.ts'
import type { Consultation, HiddenPart, Kept, Plan, Policy } from '../../define/policy.ts'

const text = lazily(() => z.string().max(100_000))

const planSchema = lazily(() =>
  onlyFields({
    hide: z.array(z.string()).max(100_000).readonly(),
    memo: text(),
    revert: onlyFields({ step: z.string(), category: revertCategorySchema(), summary: text().optional() }),
    note: text(),
    why: text(),
  })
    .partial()
    .nullable(),
)

const keptSchema = lazily(() =>
  z.discriminatedUnion('as', [
    onlyFields({ as: z.literal('memo'), memo: text().optional() }),
    onlyFields({ as: z.literal('lines'), rollUp: z.boolean().optional() }),
    onlyFields({ as: z.literal('calls') }),
  ]),
)

/** Returns a part of a policy's answer, checked by a schema. @throws Error that names its fault */
function checked<T>(schema: z.ZodType, value: unknown, part: string): T {
  const result = schema.safeParse(value)
  if (!result.success) throw new Error(`${part} answered nonsense: ${describeIssues(result.error)}`)
  return value as T
}

/** Requests of a policy to the drains. */
export interface AskedFor {
  readonly prune?: PruneRequest
  readonly revert?: RevertRequest
  readonly note?: string
  readonly why?: string
}

/** Converts the plan of a policy to requests. Steps that may not be hidden stay in the request; the drain gives the reasons. */
export async function planOf(
  { decide, keep, name }: Policy,
  conversation: Conversation,
  at: Consultation,
  id: string,
): Promise<AskedFor> {
  const plan = checked<Plan | null>(planSchema(), await decide.decide(at), `decide: ${decide.name}`)
  // Too late, nothing of it comes: nothing is to be stored for it.
  at.signal.throwIfAborted()
  if (plan === null) return {}
  const { hide = [], memo, revert, note = '', why } = plan
  if (revert !== undefined && note.trim() !== '')
    throw new Error(
      `decide: ${decide.name} answered nonsense: its revert takes away the step after which its note would stand: say it in the summary`,
    )
  const by = { id, by: 'runtime', policy: name } as const
  const part = hide.length === 0 ? undefined : partOf(hide, conversation, at)
  const kept =
    part === undefined || part.steps.length === 0 || memo !== undefined
      ? ({ as: 'memo', ...(memo === undefined ? {} : { memo }) } as const)
      : checked<Kept>(keptSchema(), await keep.keep(part, at), `keep: ${keep.name}`)
  return {
    ...(part === undefined ? {} : { prune: { ...by, steps: [...hide], ...howKept(kept) } }),
    ...(revert === undefined ? {} : { revert: { ...by, id: `${id}/revert`, ...revert } }),
    ...(note.trim() === '' ? {} : { note }),
    ...(why === undefined ? {} : { why }),
  }
}

/** Returns the steps of a plan that may be hidden. */
function partOf(hide: readonly string[], conversation: Conversation, at: Consultation): HiddenPart {
  const chosen = new Set(
    chooseSteps(conversation, { steps: hide, policy: at.policy }).steps.map(({ id }) => formatNodeId(id)),
  )
  const steps = at.steps.filter((step) => chosen.has(step.id))
  const [first, last] = [steps[0]?.id, steps.at(-1)?.id]
  const tokens = steps.reduce((sum, step) => sum + step.tokens, 0)
  return { key: `${at.agentId}/${at.policy}/${first}-${last}`, steps, tokens }
}

function howKept(kept: Kept): Pick<PruneRequest, 'memo' | 'fold' | 'rollUp' | 'mask'> {
  switch (kept.as) {
    case 'memo':
      return kept.memo === undefined ? {} : { memo: kept.memo }
    case 'lines':
      return { fold: true, ...(kept.rollUp === true ? { rollUp: true } : {}) }
    case 'calls':
      return { mask: true }
  }
}
